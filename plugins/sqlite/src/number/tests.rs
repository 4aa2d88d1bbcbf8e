//! Tests of numbers as text.

use super::*;

#[test]
fn whole_numbers_are_integers_however_they_are_written() {
    for (text, number) in [
        ("0", 0),
        ("-0", 0),
        ("007", 7),
        ("+7", 7),
        (" 12\n", 12),
        ("1e3", 1000),
        ("12.00", 12),
        ("120e-1", 12),
        ("9223372036854775807", i64::MAX),
        ("-9223372036854775808", i64::MIN),
        ("9007199254740993.0", 9_007_199_254_740_993),
        ("0e999", 0),
    ] {
        assert_eq!(parse(text), Ok(Number::Integer(number)), "{text}");
    }
}

#[test]
fn fractions_are_reals_if_the_same_digits_come_back() {
    for (text, real) in
        [("0.1", 0.1), (".5", 0.5), ("-12.50", -12.5), ("1.7976931348623157e308", f64::MAX), ("5e-324", 5e-324)]
    {
        assert_eq!(parse(text), Ok(Number::Real(real)), "{text}");
    }
    assert_eq!(parse("1e20"), Ok(Number::Real(1e20)));
    // Both are shortest texts of this float, which lies halfway between them.
    for text in ["-251169056382977.62", "-251169056382977.63"] {
        assert_eq!(parse(text), Ok(Number::Real(-251_169_056_382_977.63)), "{text}");
    }
    assert_eq!(parse("-Infinity"), Ok(Number::Real(f64::NEG_INFINITY)));
}

#[test]
fn numbers_with_too_many_digits_are_told_from_texts_that_are_no_numbers() {
    for text in ["99999999999999.99", "9223372036854775808", "0.1000000000000000055511151231257827"] {
        assert_eq!(parse(text), Err(NotStorable::Inexact), "{text}");
        assert!(is_number(text), "{text}");
    }
    for text in ["1e400", "-1e400", "1e-400", "2e308"] {
        assert_eq!(parse(text), Err(NotStorable::OutOfRange), "{text}");
        assert!(is_number(text), "{text}");
    }
    assert_eq!(parse("nan"), Err(NotStorable::Nan));
    assert!(is_number("NaN"));
    for text in
        ["", " ", "abc", "1,000", "1.2.3", "0x10", "1e", "e5", ".", "-", "--1", "1 2", "12a", "١٢", "1e9999999999"]
    {
        assert_eq!(parse(text), Err(NotStorable::NoNumber), "{text}");
        assert!(!is_number(text), "{text}");
    }
}

#[test]
fn integers_and_reals_change_into_each_other_only_exactly() {
    assert_eq!(exact_real(1 << 53), Some(9_007_199_254_740_992.0));
    assert_eq!(exact_real((1 << 53) + 1), None);
    assert_eq!(exact_real(i64::MAX), None);
    assert_eq!(exact_real(i64::MIN), Some(-9_223_372_036_854_775_808.0));
    assert_eq!(exact_integer(12.0), Some(12));
    assert_eq!(exact_integer(-9_223_372_036_854_775_808.0), Some(i64::MIN));
    for real in [0.5, 9_223_372_036_854_775_808.0, f64::NAN, f64::INFINITY] {
        assert_eq!(exact_integer(real), None, "{real}");
    }
}

/// Of the floats beyond 2^53, whose shortest text has not all of their digits.
#[test]
fn a_float_that_is_whole_may_be_written_in_its_shortest_form() {
    assert_eq!(real("3.176580196990993e18"), Ok(3.176580196990993e18));
    assert_eq!(real("3176580196990993000"), Ok(3.176580196990993e18));
    assert_eq!(real("9007199254740992"), Ok(9_007_199_254_740_992.0));
    for text in ["9007199254740993", "3176580196990993001"] {
        assert_eq!(real(text), Err(NotStorable::Inexact), "{text}");
    }
}
