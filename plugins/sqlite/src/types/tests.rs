//! Tests of what declared types mean.

use arrow_schema::{DataType, Field, IntervalUnit};

use super::*;

#[test]
fn declared_types_are_read_as_what_people_mean_by_them() {
    for (declared, kind) in [
        ("INTEGER", Kind::Integer),
        ("bigint unsigned", Kind::Integer),
        ("TINYINT(1)", Kind::Integer),
        ("boolean", Kind::Boolean),
        ("DOUBLE PRECISION", Kind::Real),
        ("FLOATING POINT", Kind::Real),
        ("DECIMAL(10,2)", Kind::Number),
        ("DECIMAL TEXT(38, 10)", Kind::Number),
        ("NUMERIC", Kind::Number),
        ("VARCHAR(20)", Kind::Text),
        ("NATIVE CHARACTER(70)", Kind::Text),
        ("STRING", Kind::Text),
        ("UUID", Kind::Text),
        ("JSON", Kind::Text),
        ("INTERVAL", Kind::Text),
        ("BLOB", Kind::Binary),
        ("varbinary(16)", Kind::Binary),
        ("DATE", Kind::Date),
        ("DATETIME", Kind::Timestamp),
        ("TIMESTAMP(6)", Kind::Timestamp),
        ("TIMESTAMP WITHOUT TIME ZONE", Kind::Timestamp),
        ("TIMESTAMP(6) WITH TIME ZONE", Kind::Instant),
        ("timestamptz", Kind::Instant),
        ("TIME", Kind::Time),
    ] {
        assert_eq!(Kind::declared(declared), Some(kind), "{declared}");
    }
    assert_eq!(Kind::declared(""), None);
    assert_eq!(Kind::declared("  "), None);
}

#[test]
fn targets_follow_the_affinity_rules() {
    for (declared, target) in [
        ("INT", Target::Number),
        ("CHARINT", Target::Number),
        ("VARCHAR(10)", Target::Text),
        ("DECIMAL TEXT(38, 10)", Target::Text),
        ("", Target::Any),
        ("BLOB", Target::Any),
        ("REAL", Target::Real),
        ("NUMERIC(10,5)", Target::Number),
        ("BOOLEAN", Target::Boolean),
        ("DATE", Target::Date(Kind::Date)),
        ("datetime", Target::Date(Kind::Timestamp)),
        ("TIMESTAMP(6)", Target::Date(Kind::Timestamp)),
        ("timestamp(6) with time zone", Target::Date(Kind::Instant)),
        ("TIME", Target::Date(Kind::Time)),
        ("DATE TEXT", Target::Text),
        ("DATERANGE", Target::Loose),
        ("YEAR", Target::Number),
        ("year(4)", Target::Number),
        ("BIT", Target::Boolean),
        ("bit(1)", Target::Boolean),
        ("BIT(8)", Target::Loose),
        ("BIT VARYING", Target::Loose),
        ("STRING", Target::Loose),
        ("ANY", Target::Loose),
        ("POINT", Target::Loose),
    ] {
        assert_eq!(Target::declared(declared, false), target, "{declared}");
    }
    assert_eq!(Target::declared("ANY", true), Target::Any);
}

#[test]
fn new_columns_keep_every_digit() {
    let declared = |data_type: DataType| declaration(&Field::new("c", data_type, true));
    assert_eq!(declared(DataType::Decimal128(15, 2)), "DECIMAL(15, 2)");
    assert_eq!(declared(DataType::Decimal128(16, 2)), "DECIMAL TEXT(16, 2)");
    assert_eq!(declared(DataType::UInt64), "INTEGER");
    assert_eq!(declared(DataType::Interval(IntervalUnit::MonthDayNano)), "TEXT");
    assert_eq!(declared(DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Binary))), "BLOB");
    let number = Kind::Number.field("n", "");
    assert_eq!(declaration(&number), "NUMERIC");
    for kind in Kind::WORDS.iter().map(|(_, kind)| *kind) {
        let declared = declaration(&kind.field("c", ""));
        assert_eq!(
            Kind::declared(&declared),
            Some(kind),
            "a column of {kind:?} is declared {declared} and read back as such"
        );
    }
}

#[test]
fn types_without_a_counterpart_are_named_in_the_metadata() {
    let named = |declared: &str| Kind::Text.field("c", declared).metadata().get("transship.source_type").cloned();
    assert_eq!(named("UUID").as_deref(), Some("UUID"));
    assert_eq!(named("VARCHAR(3)"), None);
    assert_eq!(named(""), None);
}
