//! Which values are one key.

use std::collections::HashMap;

use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array, DictionaryArray,
    FixedSizeBinaryArray, Float32Array, Float64Array, Int32Array, Int64Array, LargeStringArray, NullArray,
    StringViewArray, TimestampMicrosecondArray, TimestampNanosecondArray, UInt8Array, UInt64Array,
};
use arrow_buffer::i256;
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use transship_plugin_api::fields::{self, number_field};

use super::*;

const UUID: &str = "0191b5a8-7c3e-7d10-8a4b-00c0ffee0001";

fn column(array: impl Array + 'static) -> (Field, ArrayRef) {
    (Field::new("id", array.data_type().clone(), true), Arc::new(array))
}

/// A column whose field has this extension name.
fn extended(name: &str, array: impl Array + 'static) -> (Field, ArrayRef) {
    let (field, array) = column(array);
    (field.with_metadata(HashMap::from([(EXTENSION_TYPE_NAME_KEY.to_string(), name.to_string())])), array)
}

fn numbers(texts: &[&str]) -> (Field, ArrayRef) {
    (number_field("id"), Arc::new(StringArray::from_iter_values(texts)))
}

/// Which rows of columns pass that come one after another.
#[track_caller]
fn rows(parameter: Value, columns: impl IntoIterator<Item = (Field, ArrayRef)>) -> Vec<Vec<usize>> {
    let job = Job::new(parameter);
    let mut attempt = job.attempt(0, 1);
    columns.into_iter().map(|column| attempt.push(vec![column]).unwrap()).collect()
}

#[test]
fn values_are_compared_however_a_column_lays_them_out() {
    let texts = ["ann", "a name of more than sixteen bytes"];
    let keys = Int32Array::from(vec![1, 0, 1]);
    let dictionary = DictionaryArray::<Int32Type>::new(keys, Arc::new(StringArray::from(vec!["new", "ann"])));
    let passed = rows(
        json!({}),
        [
            column(StringArray::from(texts.to_vec())),
            column(LargeStringArray::from(texts.to_vec())),
            column(StringViewArray::from(texts.to_vec())),
            column(dictionary),
            column(StringArray::from(vec!["x", "y", "new", "ann"]).slice(2, 2)),
        ],
    );
    assert_eq!(passed, [vec![0, 1], vec![], vec![], vec![1], vec![]]);
}

#[test]
fn whole_numbers_are_equal_whatever_their_width_and_sign() {
    let passed = rows(
        json!({}),
        [
            column(Int64Array::from(vec![5, -1, i64::MAX, i64::MIN, 0])),
            column(Int32Array::from(vec![5, -1, 6])),
            column(UInt8Array::from(vec![6, 255])),
            column(UInt64Array::from(vec![255, u64::MAX, i64::MAX as u64])),
        ],
    );
    assert_eq!(passed, [vec![0, 1, 2, 3, 4], vec![2], vec![1], vec![1]]);
}

#[test]
fn values_of_different_kinds_are_different() {
    let passed = rows(
        json!({}),
        [
            column(Int64Array::from(vec![1])),
            column(StringArray::from(vec!["1"])),
            column(BooleanArray::from(vec![true])),
            column(Float64Array::from(vec![1.0])),
            column(BinaryArray::from_vec(vec![b"1"])),
            column(Date32Array::from(vec![1])),
            column(TimestampMicrosecondArray::from(vec![1])),
            column(TimestampMicrosecondArray::from(vec![1]).with_timezone("UTC")),
            numbers(&["1"]),
        ],
    );
    assert_eq!(passed, [[0]; 9]);
}

#[test]
fn numbers_are_compared_by_value() {
    let nan = f64::from_bits(f64::NAN.to_bits() ^ 1);
    assert_eq!(
        rows(json!({}), [column(Float64Array::from(vec![0.0, -0.0, f64::NAN, nan, 0.5, -0.5]))]),
        [[0, 2, 4, 5]]
    );
    // 0.1 is another number in 32 bits than in 64.
    assert_eq!(
        rows(json!({}), [column(Float32Array::from(vec![0.5, 0.1])), column(Float64Array::from(vec![0.5, 0.1]))]),
        [vec![0, 1], vec![1]]
    );
    let decimal = |values: &[i128], scale| {
        column(Decimal128Array::from(values.to_vec()).with_precision_and_scale(38, scale).unwrap())
    };
    let wide: Vec<i256> =
        ["1", "100", "7"].iter().map(|text| i256::from_string(&format!("{text}{}", "0".repeat(60))).unwrap()).collect();
    let wide = Decimal256Array::from(wide);
    assert_eq!(
        rows(
            json!({}),
            [
                decimal(&[150, 0, -150, i128::from(i64::MAX) * 1_000 + 1], 2),
                decimal(&[15, 0, 151, i128::from(i64::MAX) * 100], 1),
                column(
                    Decimal256Array::from(vec![i256::from(1_500), i256::from(3)])
                        .with_precision_and_scale(70, 3)
                        .unwrap()
                ),
                column(wide.clone().with_precision_and_scale(76, 2).unwrap()),
                column(wide.with_precision_and_scale(76, 0).unwrap()),
            ]
        ),
        [vec![0, 1, 2, 3], vec![2, 3], vec![1], vec![0, 1, 2], vec![1, 2]]
    );
}

#[test]
fn numbers_kept_as_text_are_compared_by_value_and_others_as_they_are() {
    let spellings = [
        "1",
        "1.0",
        "+01.00",
        "1e0",
        "10E-1",
        "0.1e1", // one
        "-1",
        "-1.000", // minus one
        "0",
        "-0",
        "0.000",
        "0e5", // zero
        "123.45",
        "12345e-2",
        "1.2345E+2", // another
        "NaN",
        "nan",
        "inf",
        "Infinity",
        "+inf",
        "-inf",
        "-Infinity", // what is no number
        "1.00000000000000000000000000000000001",
    ];
    assert_eq!(rows(json!({}), [numbers(&spellings)]), [[0, 6, 8, 12, 15, 17, 20, 22]]);
    assert_eq!(
        rows(json!({}), [numbers(&["", ".", "-", "1.2.3", "1e", "e5", "--1", "1 ", "0x1", "1e99999999999999999999"])]),
        [(0..10).collect::<Vec<_>>()]
    );
    let texts = StringArray::from(spellings.to_vec());
    assert_eq!(rows(json!({}), [column(texts)]), [(0..spellings.len()).collect::<Vec<_>>()]);
}

#[test]
fn moments_and_lists_are_compared_by_value() {
    assert_eq!(
        rows(
            json!({}),
            [
                column(TimestampMicrosecondArray::from(vec![1_000, 1_001])),
                column(TimestampNanosecondArray::from(vec![1_000_000, 1_000_001, 1_000_002, 1_000_001])),
            ]
        ),
        [vec![0, 1], vec![1, 2]]
    );
    let mut lists = ListBuilder::new(Int64Builder::new());
    for list in [vec![Some(1), None], vec![], vec![Some(1)], vec![Some(1), None], vec![Some(1), Some(0)], vec![]] {
        lists.append_value(list);
    }
    assert_eq!(rows(json!({}), [column(lists.finish())]), [[0, 1, 2, 4]]);
}

#[test]
fn a_uuid_is_the_same_however_it_is_spelt() {
    let bare = UUID.replace('-', "");
    let spellings = [
        UUID.to_string(),
        UUID.to_uppercase(),
        bare.clone(),
        bare.to_uppercase(),
        format!("{{{UUID}}}"),
        format!("urn:uuid:{UUID}"),
        format!("  {UUID} "),
    ];
    let texts = StringArray::from_iter_values(&spellings);
    let bytes = uuid::Uuid::parse_str(UUID).unwrap().into_bytes();
    let native = FixedSizeBinaryArray::try_from_iter([bytes, [7; 16]].into_iter()).unwrap();
    let native = extended(fields::UUID, native);
    let binary = BinaryArray::from_vec(vec![&bytes, UUID.as_bytes(), &[8; 16], &[7; 16]]);
    assert_eq!(
        rows(json!({ "type": "uuid" }), [column(texts.clone()), native.clone(), column(binary)]),
        [vec![0], vec![1], vec![2]]
    );
    // Without being told, only those whose type says so are UUIDs.
    assert_eq!(rows(json!({}), [column(texts), native.clone(), native]), [(0..7).collect(), vec![0, 1], vec![]]);
}

#[test]
fn what_is_no_uuid_is_compared_as_it_is_or_dirty() {
    let texts = [UUID, "none", "None", "none", "", "sixteen bytes!!!", &UUID.to_uppercase()];
    let bytes = || column(BinaryArray::from_vec(vec![b"sixteen bytes!!!", b"none"]));
    let parameter = json!({ "type": "uuid" });
    assert_eq!(
        rows(parameter, [column(StringArray::from(texts.to_vec())), bytes()]),
        [vec![0, 1, 2, 4, 5], vec![0, 1]]
    );

    let job = Job::new(json!({ "type": "uuid", "malformed": "dirty" }));
    let mut attempt = job.attempt(0, 1);
    assert_eq!(attempt.passing(&texts), [UUID]);
    let told = attempt.witness.0.lock().unwrap().clone();
    let positions: Vec<u64> = told.iter().map(|(position, _)| *position).collect();
    assert_eq!((positions, told[0].1.as_str()), (vec![1, 2, 3, 4, 5], "none: it is no UUID"));
    assert_eq!((attempt.step.duplicates, job.figure("distinct"), job.figure("duplicates")), (1, 1, 1));
}

#[test]
fn null_is_never_a_duplicate_or_equals_null_as_the_job_says() {
    let texts = || column(StringArray::from(vec![None, Some(""), None, Some("")]));
    let none = || column(NullArray::new(2));
    assert_eq!(rows(json!({}), [texts(), none()]), [vec![0, 1, 2], vec![0, 1]]);
    assert_eq!(rows(json!({ "nulls": "equal" }), [texts(), none()]), [vec![0, 1], vec![]]);
    let job = Job::new(json!({}));
    job.attempt(0, 1).push(vec![none()]).unwrap();
    assert_eq!(job.remembered(), 0, "what is never a duplicate needs no room");
}

/// What passes of records of two columns.
fn pairs(parameter: Value, records: &[(Option<i64>, Option<&str>)]) -> Vec<usize> {
    let clients: ArrayRef = Arc::new(records.iter().map(|(client, _)| *client).collect::<Int64Array>());
    let ids: ArrayRef = Arc::new(records.iter().map(|(_, id)| *id).collect::<StringArray>());
    let field = |name: &str, column: &ArrayRef| Field::new(name, column.data_type().clone(), true);
    let job = Job::new(parameter);
    job.attempt(0, 1).push(vec![(field("client", &clients), clients), (field("id", &ids), ids)]).unwrap()
}

#[test]
fn a_key_of_several_columns_is_equal_where_all_of_them_are() {
    let both = |nulls: &str| json!({ "key": ["client", "id"], "nulls": nulls });
    let records = [
        (Some(1), Some("a")),
        (Some(2), Some("a")),
        (Some(1), Some("a")),
        (None, Some("a")),
        (None, Some("a")),
        (Some(1), None),
        (Some(1), None),
        (Some(1), Some("")),
        (None, None),
        (None, None),
    ];
    assert_eq!(pairs(both("distinct"), &records), [0, 1, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(pairs(both("equal"), &records), [0, 1, 3, 5, 7, 8]);
    // The same columns in another order are the same key.
    assert_eq!(pairs(json!({ "key": [1, 0], "nulls": "equal" }), &records), [0, 1, 3, 5, 7, 8]);
}

#[test]
fn values_of_several_columns_do_not_run_into_one_another() {
    let texts = |texts: &[&str]| -> ArrayRef { Arc::new(StringArray::from_iter_values(texts)) };
    let field = |name: &str| Field::new(name, arrow_schema::DataType::Utf8, true);
    let job = Job::new(json!({ "key": ["a", "b"] }));
    let columns = vec![(field("a"), texts(&["x", "xy", "", "xyz"])), (field("b"), texts(&["yz", "z", "xyz", ""]))];
    assert_eq!(job.attempt(0, 1).push(columns).unwrap(), [0, 1, 2, 3]);
}

#[test]
fn in_a_key_of_several_columns_one_may_hold_uuids() {
    let upper = UUID.to_uppercase();
    let records =
        [(Some(1), Some(UUID)), (Some(1), Some(upper.as_str())), (Some(2), Some(UUID)), (Some(1), Some("none"))];
    let key = json!(["client", "id"]);
    assert_eq!(pairs(json!({ "key": key, "type": "uuid" }), &records), [0, 2, 3]);
    assert_eq!(pairs(json!({ "key": key, "type": "uuid", "malformed": "dirty" }), &records), [0, 2]);
}

#[test]
fn a_type_whose_values_cannot_be_told_apart_is_refused() {
    let runs = arrow_array::RunArray::try_new(&Int32Array::from(vec![2]), &StringArray::from(vec!["a"])).unwrap();
    let job = Job::new(json!({}));
    let error = job.attempt(0, 1).push(vec![column(runs)]).unwrap_err();
    assert!(error.message().starts_with("parameter.key: the values of column \"id\" cannot be compared"), "{error}");
}

#[test]
fn json_is_compared_as_the_text_that_it_is() {
    let texts = StringArray::from(vec!["{}", "{ }", "{}"]);
    assert_eq!(rows(json!({}), [extended(fields::JSON, texts)]), [[0, 1]]);
}
