//! Tests of the module above: what types are read as and declared as.

use super::*;

fn server(oid: u32, modifier: i32) -> ServerType {
    ServerType { oid, modifier, name: "named so".into() }
}

#[test]
fn precision_and_scale_are_unpacked() {
    // As pg_attribute.atttypmod has them for numeric(15,2), numeric(5), numeric(3,-2) and numeric.
    assert_eq!(precision_and_scale(983_046), Some((15, 2)));
    assert_eq!(precision_and_scale(327_684), Some((5, 0)));
    assert_eq!(precision_and_scale(((3 << 16) | (-2 & 0x7ff)) + 4), Some((3, -2)));
    assert_eq!(precision_and_scale(-1), None);
}

#[test]
fn numbers_of_any_scale_travel_as_text() {
    assert_eq!(Kind::of(&server(oid::NUMERIC, 983_046)), Kind::Decimal { precision: 15, scale: 2 });
    assert_eq!(Kind::of(&server(oid::NUMERIC, ((65 << 16) | 30) + 4)), Kind::LongDecimal { precision: 65, scale: 30 });
    assert_eq!(Kind::of(&server(oid::NUMERIC, -1)), Kind::Number);
    assert_eq!(Kind::of(&server(oid::NUMERIC, ((100 << 16) | 30) + 4)), Kind::Number);
    assert_eq!(Kind::of(&server(oid::NUMERIC, ((3 << 16) | 5) + 4)), Kind::Number);
}

#[test]
fn what_has_no_arrow_type_names_its_own() {
    let inet = ServerType { oid: 869, modifier: -1, name: "inet".into() };
    let field = Kind::of(&inet).field("a", &inet);
    assert_eq!(field.data_type(), &DataType::Utf8);
    assert_eq!(declaration(&field), "inet");
    let mood = ServerType { oid: 99_999, modifier: -1, name: "mood".into() };
    assert_eq!(declaration(&Kind::of(&mood).field("a", &mood)), "text");
    for (name, declared) in
        [("integer[]", "integer[]"), ("numeric(5,2)[]", "numeric(5,2)[]"), ("bit(8)", "bit(8)"), ("mood[]", "text")]
    {
        let array = ServerType { oid: 99_999, modifier: -1, name: name.into() };
        assert_eq!(declaration(&Kind::of(&array).field("a", &array)), declared);
    }
}

#[test]
fn a_new_column_is_read_as_what_it_was_made_for() {
    for (oid, name) in [
        (oid::BOOL, "boolean"),
        (oid::INT2, "smallint"),
        (oid::INT4, "integer"),
        (oid::INT8, "bigint"),
        (oid::FLOAT4, "real"),
        (oid::FLOAT8, "double precision"),
        (oid::NUMERIC, "numeric"),
        (oid::TEXT, "text"),
        (oid::BYTEA, "bytea"),
        (oid::DATE, "date"),
        (oid::TIME, "time"),
        (oid::TIMESTAMP, "timestamp"),
        (oid::TIMESTAMPTZ, "timestamptz"),
        (oid::INTERVAL, "interval"),
        (oid::UUID, "uuid"),
        (oid::JSON, "json"),
        (oid::JSONB, "jsonb"),
    ] {
        let server = server(oid, -1);
        assert_eq!(declaration(&Kind::of(&server).field("a", &server)), name);
    }
}
