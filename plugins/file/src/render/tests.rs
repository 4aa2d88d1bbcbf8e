//! Tests of values to text.

use std::sync::Arc;

use arrow_array::*;
use arrow_buffer::i256;
use transship_plugin_api::{ColumnFormats, DatePattern};

use super::*;
use crate::bytes::ByteForm;

fn texts_by(array: &dyn Array, rules: &TextRules) -> Vec<Option<String>> {
    texts_of(&field_of(array), array, rules)
}

fn field_of(array: &dyn Array) -> Field {
    Field::new("x", array.data_type().clone(), true)
}

fn texts_of(field: &Field, array: &dyn Array, rules: &TextRules) -> Vec<Option<String>> {
    let cells = render(field, array, rules).unwrap();
    assert!(cells.unwritable.is_empty());
    let text = |row| String::from_utf8(cells.text(row).to_vec()).unwrap();
    (0..array.len()).map(|row| (!cells.is_null(row)).then(|| text(row))).collect()
}

fn texts(array: impl Array + 'static) -> Vec<Option<String>> {
    texts_by(&array, &TextRules::default())
}

fn some(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| Some(text.to_string())).collect()
}

/// Traps 32, 35.
#[test]
fn whole_numbers_and_truths() {
    assert_eq!(
        texts(Int64Array::from(vec![Some(i64::MIN), None, Some(0)])),
        [Some(i64::MIN.to_string()), None, Some("0".into())]
    );
    assert_eq!(texts(UInt64Array::from(vec![u64::MAX])), some(&["18446744073709551615"]));
    assert_eq!(texts(Int8Array::from(vec![-128])), some(&["-128"]));
    assert_eq!(
        texts(BooleanArray::from(vec![Some(true), Some(false), None])),
        [Some("true".into()), Some("false".into()), None]
    );
    assert_eq!(texts(NullArray::new(2)), [None, None]);
}

/// Trap 33.
#[test]
fn floats_as_datax_writes_them() {
    let floats = [1.0, 0.1, -0.0, 1e20, 1e-7, 1.5e-5, 1234567.0, 12345678.0, 0.001, 1e7, f64::NAN, f64::NEG_INFINITY];
    let expected = [
        "1.0",
        "0.1",
        "-0.0",
        "100000000000000000000",
        "0.00000010",
        "0.000015",
        "1234567.0",
        "12345678",
        "0.001",
        "10000000",
        "NaN",
        "-Infinity",
    ];
    assert_eq!(texts(Float64Array::from(floats.to_vec())), some(&expected));
    assert_eq!(texts(Float32Array::from(vec![0.1, 16777216.0, 126.752_25])), some(&["0.1", "16777216", "126.75225"]));
}

/// Trap 31.
#[test]
fn decimals_keep_every_digit() {
    let decimals = Decimal128Array::from(vec![9_999_999_999_999_999, -5, 0]).with_precision_and_scale(30, 2).unwrap();
    assert_eq!(texts(decimals), some(&["99999999999999.99", "-0.05", "0.00"]));
    let wide = Decimal256Array::from(vec![i256::from_string(&"9".repeat(65)).unwrap()])
        .with_precision_and_scale(65, 30)
        .unwrap();
    assert_eq!(texts(wide), some(&[&format!("{}.{}", "9".repeat(35), "9".repeat(30))]));
}

/// Trap 26.
#[test]
fn dates_and_times_have_the_parts_of_a_second_that_they_have() {
    let micros = 1_577_934_245_000_000;
    assert_eq!(
        texts(TimestampMicrosecondArray::from(vec![micros, micros + 678_000, micros + 1])),
        some(&["2020-01-02 03:04:05", "2020-01-02 03:04:05.678", "2020-01-02 03:04:05.000001"])
    );
    assert_eq!(
        texts(TimestampNanosecondArray::from(vec![micros * 1_000 + 1])),
        some(&["2020-01-02 03:04:05.000000001"])
    );
    assert_eq!(texts(Date32Array::from(vec![18263, -1])), some(&["2020-01-02", "1969-12-31"]));
    assert_eq!(texts(Time64MicrosecondArray::from(vec![11_045_000_000])), some(&["03:04:05"]));
    assert_eq!(texts(DurationMicrosecondArray::from(vec![-90_061_000_000])), some(&["-25:01:01"]));
}

/// Trap 25.
#[test]
fn instants_tell_their_offset() {
    let micros = 1_577_934_245_000_000;
    let array = |zone: &str| TimestampMicrosecondArray::from(vec![micros]).with_timezone(zone);
    assert_eq!(texts(array("UTC")), some(&["2020-01-02 03:04:05+00:00"]));
    assert_eq!(texts(array("+08:00")), some(&["2020-01-02 11:04:05+08:00"]));
    assert_eq!(texts(array("-03:30")), some(&["2020-01-01 23:34:05-03:30"]));
    assert_eq!(texts(array("Asia/Shanghai")), some(&["2020-01-02 11:04:05+08:00"]));
    assert_eq!(texts(array("Nowhere/Land")), some(&["2020-01-02 03:04:05+00:00"]));
    let nanos = TimestampNanosecondArray::from(vec![micros * 1_000 + 1]).with_timezone("UTC");
    assert_eq!(texts(nanos), some(&["2020-01-02 03:04:05.000000001+00:00"]));
}

#[test]
fn a_pattern_goes_for_everything_with_a_date() {
    let rules = TextRules {
        formats: ColumnFormats::default().with_date_format(DatePattern::parse("dd/MM/yyyy HH:mm").unwrap()),
        ..TextRules::default()
    };
    assert_eq!(
        texts_by(&TimestampMicrosecondArray::from(vec![1_577_934_245_000_000]), &rules),
        some(&["02/01/2020 03:04"])
    );
    assert_eq!(texts_by(&Date32Array::from(vec![18263]), &rules), some(&["02/01/2020 00:00"]));
    assert_eq!(
        texts_by(&TimestampNanosecondArray::from(vec![1_577_934_245_000_000_001]), &rules),
        some(&["02/01/2020 03:04"])
    );
    assert_eq!(texts_by(&Int64Array::from(vec![1]), &rules), some(&["1"]));
}

/// Trap 36.
#[test]
fn bytes_are_text_or_base64_or_unwritable() {
    let bytes: [&[u8]; 5] = [b"", b"f", b"fo", b"foo", b"foobar"];
    let array = BinaryArray::from(bytes.to_vec());
    assert_eq!(texts(array.clone()), some(&["", "f", "fo", "foo", "foobar"]));
    let rules = TextRules { bytes: ByteForm::Base64, ..TextRules::default() };
    assert_eq!(texts_by(&array, &rules), some(&["", "Zg==", "Zm8=", "Zm9v", "Zm9vYmFy"]));
    let rules_of = |bytes| TextRules { bytes, ..TextRules::default() };
    assert_eq!(texts_by(&array, &rules_of(ByteForm::Hexadecimal))[3], Some("666f6f".into()));
    assert_eq!(texts_by(&array, &rules_of(ByteForm::Postgres))[..2], some(&["\\x", "\\x66"]));
    let odd = BinaryArray::from(vec![Some(&b"ok"[..]), None, Some(&[0xff, 0xfe][..])]);
    assert_eq!(texts_by(&odd, &rules), [Some("b2s=".into()), None, Some("//4=".into())]);
    let field = field_of(&odd);
    let cells = render(&field, &odd, &TextRules::default()).unwrap();
    assert_eq!(cells.unwritable.len(), 1);
    assert_eq!(cells.unwritable[0].0, 2);
}

#[test]
fn every_kind_of_text_is_the_same_text() {
    let expected = [Some("a".to_string()), None, Some("é".to_string())];
    let texts_of = [Some("a"), None, Some("é")];
    assert_eq!(texts(StringArray::from(texts_of.to_vec())), expected);
    assert_eq!(texts(LargeStringArray::from(texts_of.to_vec())), expected);
    assert_eq!(texts(StringViewArray::from(texts_of.to_vec())), expected);
    let sliced: ArrayRef =
        Arc::new(StringArray::from(vec![Some("x"), Some("a"), None, Some("é"), Some("y")]).slice(1, 3));
    assert_eq!(texts_by(&sliced, &TextRules::default()), expected);
}

#[test]
fn lists_are_json() {
    use arrow_array::types::Int32Type;
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), None]), None]);
    assert_eq!(texts(lists), [Some("[1,null]".into()), None]);
}

/// What the field says beyond its type: of bytes that they are a UUID, of the ends of a type's range that they are infinite.
#[test]
fn uuids_have_hyphens_and_infinite_dates_are_words() {
    use transship_plugin_api::fields::{UUID, with_infinity};
    let bytes: Vec<[u8; 16]> = vec![[0x67; 16], std::array::from_fn(|byte| byte as u8)];
    let uuids = FixedSizeBinaryArray::try_from_iter(bytes.into_iter()).unwrap();
    let field = field_of(&uuids).with_metadata([("ARROW:extension:name".to_string(), UUID.to_string())]);
    let rules = TextRules { bytes: ByteForm::Base64, ..TextRules::default() };
    let expected = some(&["67676767-6767-6767-6767-676767676767", "00010203-0405-0607-0809-0a0b0c0d0e0f"]);
    assert_eq!(texts_of(&field, &uuids, &rules), expected);

    let ends = some(&["-infinity", "infinity"]);
    let days = Date32Array::from(vec![i32::MIN, i32::MAX]);
    let micros = TimestampMicrosecondArray::from(vec![i64::MIN, i64::MAX]);
    let nanos = TimestampNanosecondArray::from(vec![i64::MIN, i64::MAX]).with_timezone("UTC");
    for array in [&days as &dyn Array, &micros, &nanos] {
        assert_eq!(texts_of(&with_infinity(field_of(array)), array, &rules), ends);
        assert_ne!(texts_of(&field_of(array), array, &rules), ends, "without the mark they are only far away");
    }
}
