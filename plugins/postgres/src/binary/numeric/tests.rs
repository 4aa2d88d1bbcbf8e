//! Tests of the module above: numbers of any length, both ways.

use arrow_buffer::i256;
use proptest::prelude::*;

use super::*;

/// The cell without the length before it.
fn cell(put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out);
    let length = i32::from_be_bytes(out[..4].try_into().unwrap());
    assert_eq!(length as usize, out.len() - 4);
    out.split_off(4)
}

fn written(cell: &[u8]) -> String {
    let mut out = Vec::new();
    Numeric::parse(cell).unwrap().write(&mut out);
    String::from_utf8(out).unwrap()
}

fn of_text(text: &str) -> Vec<u8> {
    cell(|out| Decimal::parse(text).unwrap().put(out).unwrap())
}

#[test]
fn groups_are_what_the_server_sends() {
    // As `numeric_send` gives them for 12345.678 and for 0.00012.
    assert_eq!(of_text("12345.678"), [0, 3, 0, 1, 0, 0, 0, 3, 0, 1, 9, 41, 26, 124]);
    assert_eq!(of_text("0.00012"), [0, 2, 255, 255, 0, 0, 0, 5, 0, 1, 7, 208]);
    assert_eq!(of_text("0.00"), [0, 0, 0, 0, 0, 0, 0, 2]);
}

#[test]
fn texts_come_back_as_they_were() {
    for text in
        ["0", "1", "-1", "10000", "-0.5", "1.50", "123456789012345678901234567890.123456789", "0.00000000000000000001"]
    {
        assert_eq!(written(&of_text(text)), text);
    }
    for (text, same) in [
        ("NaN", "NaN"),
        ("inf", "Infinity"),
        ("-Infinity", "-Infinity"),
        (" +7 ", "7"),
        ("1e3", "1000"),
        ("15e-3", "0.015"),
    ] {
        assert_eq!(written(&of_text(text)), same);
    }
}

#[test]
fn what_is_no_number_is_told() {
    for text in ["", " ", "abc", "1e", "1.2.3", "--1", "1 2", ".", "e5", "-nan", "0x10"] {
        assert_eq!(Decimal::parse(text), None, "{text}");
    }
}

#[test]
fn a_number_that_would_be_rounded_does_not_fit() {
    let fits = |text: &str| Decimal::parse(text).unwrap().fits(5, 2);
    assert_eq!(fits("123.45"), Ok(()));
    assert_eq!(fits("123.4500"), Ok(()));
    assert_eq!(fits("1.005"), Err(Misfit::TooFine));
    assert_eq!(fits("1234.5"), Err(Misfit::TooLarge));
    assert_eq!(fits("NaN"), Ok(()));
    assert_eq!(fits("Infinity"), Err(Misfit::TooLarge));
}

#[test]
fn numbers_beyond_all_bounds_are_refused() {
    let put = |text: &str| Decimal::parse(text).unwrap().put(&mut Vec::new());
    assert_eq!(put("1e999999999999999999999"), Err(Misfit::TooLarge));
    assert_eq!(put("1e-20000"), Err(Misfit::TooFine));
    assert_eq!(put("0e999999999"), Ok(()));
}

#[test]
fn decimals_tell_what_they_cannot_hold() {
    let nan = of_text("NaN");
    assert_eq!(Numeric::parse(&nan).unwrap().scaled(2), Err(NotDecimal::NotFinite));
    let fine = of_text("0.001");
    assert_eq!(Numeric::parse(&fine).unwrap().scaled(2), Err(NotDecimal::TooLong));
    let large = of_text(&"9".repeat(60));
    assert_eq!(Numeric::parse(&large).unwrap().scaled(0), Err(NotDecimal::TooLong));
    assert_eq!(Numeric::parse(&large).unwrap().scaled_256(0), Ok(i256::from_string(&"9".repeat(60)).unwrap()));
}

proptest! {
    #[test]
    fn decimals_come_back(value in any::<i128>(), shift in 0u32..120, scale in -5i8..38) {
        let value = value >> shift;
        let cell = cell(|out| put_i128(out, value, scale));
        let numeric = Numeric::parse(&cell).unwrap();
        prop_assert_eq!(numeric.scaled(scale), Ok(value));
        prop_assert_eq!(numeric.scaled_256(scale), Ok(i256::from_i128(value)));
    }

    #[test]
    fn any_digits_come_back(whole in "0|[1-9][0-9]{0,60}", fraction in "[0-9]{0,40}", negative: bool) {
        let is_zero = whole == "0" && fraction.bytes().all(|digit| digit == b'0');
        let sign = if negative && !is_zero { "-" } else { "" };
        let text = if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") };
        prop_assert_eq!(written(&of_text(&text)), text);
    }

    #[test]
    fn long_decimals_come_back(low: u128, high: i128, shift in 0u32..240, scale in -5i8..76) {
        let value = i256::from_parts(low, high) >> shift as u8;
        let cell = cell(|out| put_i256(out, value, scale));
        prop_assert_eq!(Numeric::parse(&cell).unwrap().scaled_256(scale), Ok(value));
    }

    /// Of any groups, also such as no server sends: with zeros at both ends, of all weights.
    #[test]
    fn numbers_are_those_that_their_digits_spell(
        groups in prop::collection::vec(prop_oneof![Just(0u16), Just(5000), Just(9999), 0u16..10_000], 0..22),
        weight in -12i16..22,
        scale in -20i8..80,
        negative: bool,
    ) {
        let cell = cell_of(&groups, weight, negative);
        let numeric = Numeric::parse(&cell).unwrap();
        let spelt = spelt(&groups, weight, scale).ok_or(NotDecimal::TooLong);
        let sign = |text: String| if negative { format!("-{text}") } else { text };
        let expected = spelt.map(sign);
        prop_assert_eq!(numeric.scaled(scale), expected.clone().and_then(|text| text.parse().map_err(|_| NotDecimal::TooLong)));
        prop_assert_eq!(numeric.scaled_256(scale), expected.and_then(|text| i256::from_string(&text).ok_or(NotDecimal::TooLong)));
    }

    #[test]
    fn all_ways_of_writing_are_one(low: u128, high: i128, shift in 0u32..255, scale in -20i8..76) {
        let value = i256::from_parts(low, high) >> shift as u8;
        let text = value.to_string();
        let digits = text.trim_start_matches('-').trim_start_matches('0').as_bytes().to_vec();
        let decimal = Decimal::Finite { negative: value.is_negative(), digits, scale: scale as i64 };
        let (mut slow, mut fast) = (Vec::new(), Vec::new());
        decimal.put(&mut slow).unwrap();
        put_i256(&mut fast, value, scale);
        prop_assert_eq!(&slow, &fast);
        if let Some(value) = value.to_i128() {
            fast.clear();
            put_i128(&mut fast, value, scale);
            prop_assert_eq!(slow, fast);
        }
    }
}

/// A cell with these groups.
fn cell_of(groups: &[u16], weight: i16, negative: bool) -> Vec<u8> {
    let sign = if negative { NEGATIVE } else { 0 };
    let words = [groups.len() as u16, weight as u16, sign, 0];
    words.iter().chain(groups).flat_map(|word| word.to_be_bytes()).collect()
}

/// The digits of the number when the point is moved so many places to the right: as on paper. `None` if that leaves some behind it.
fn spelt(groups: &[u16], weight: i16, scale: i8) -> Option<String> {
    let digits: String = groups.iter().map(|group| format!("{group:04}")).collect();
    // So many digits stand before the point.
    let point = 4 * (weight as i64 + 1) + scale as i64;
    let at = |place: i64| usize::try_from(place).ok().and_then(|place| digits.chars().nth(place)).unwrap_or('0');
    let is_whole = (point..digits.len() as i64).all(|place| at(place) == '0');
    let whole: String = (0..point).map(at).collect();
    let whole = whole.trim_start_matches('0');
    is_whole.then(|| if whole.is_empty() { "0".into() } else { whole.into() })
}

#[test]
fn the_ends_of_the_range_come_back() {
    for value in [i128::MAX, -i128::MAX, 0, 1, -1, u64::MAX as i128, u64::MAX as i128 + 1, 10_000, 9_999] {
        for scale in [-3, 0, 1, 4, 38] {
            let cell = cell(|out| put_i128(out, value, scale));
            assert_eq!(Numeric::parse(&cell).unwrap().scaled(scale), Ok(value), "{value} {scale}");
        }
    }
    let least = cell(|out| put_i256(out, i256::MIN, 0));
    assert_eq!(written(&least), i256::MIN.to_string());
    // One more than there is room for.
    let beyond = of_text("170141183460469231731687303715884105728");
    assert_eq!(Numeric::parse(&beyond).unwrap().scaled(0), Err(NotDecimal::TooLong));
}
