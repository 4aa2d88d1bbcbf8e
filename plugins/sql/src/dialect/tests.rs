//! Tests of dialects: literals that mean the same under every setting.

use super::*;

#[test]
fn texts_are_written_so_that_no_setting_changes_them() {
    assert_eq!(MySql.text("it's"), "'it''s'");
    assert_eq!(MySql.text("a\\b"), "_utf8mb4 x'615c62'");
    assert_eq!(MySql.text("ü"), "_utf8mb4 x'c3bc'");
    assert_eq!(MySql.text("a\nb\0"), "_utf8mb4 x'610a6200'");
    assert_eq!(Postgres.text("it's ü\n"), "'it''s ü\n'");
    assert_eq!(Postgres.text("\\'"), "E'\\\\'''");
    assert_eq!(Sqlite.text("it's \\"), "'it''s \\'");
    assert_eq!(Sqlite.text("a\0"), "CAST(x'6100' AS TEXT)");
}

#[test]
fn keys_of_numbers_are_compared_as_numbers() {
    assert_eq!(MySql.key_literal("18446744073709551615", KeyKind::Number), "18446744073709551615");
    assert_eq!(MySql.key_literal("-0.50", KeyKind::Number), "-0.50");
    // Whatever comes, it cannot end the literal.
    assert_eq!(MySql.key_literal("1 or 1=1", KeyKind::Number), "'1 or 1=1'");
    assert_eq!(MySql.key_literal("00FF", KeyKind::Bytes), "x'00FF'");
    assert_eq!(MySql.key_literal("x' or '", KeyKind::Bytes), "'x'' or '''");
    assert_eq!(MySql.key_literal("2020-01-01", KeyKind::Other), "'2020-01-01'");
    assert_eq!(Postgres.key_literal("7", KeyKind::Number), "'7'");
}
