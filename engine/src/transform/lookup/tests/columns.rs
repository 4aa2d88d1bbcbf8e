//! What records look like when they leave.

use arrow_array::{ArrayRef, StringArray};
use serde_json::json;

use super::*;

fn through(parameter: Value, input: RecordBatch) -> RecordBatch {
    let mut story = Story::new(parameter, double);
    story.step.schema(input.schema()).unwrap();
    story.step.push(Batch::measured(input, Origin::from(0)), &mut story.out).unwrap();
    story.end().unwrap();
    assert_eq!(story.out.len(), 1);
    story.out.remove(0).into_records().unwrap()
}

fn input() -> RecordBatch {
    let columns: [(&str, ArrayRef); 3] = [
        ("name", Arc::new(StringArray::from(vec!["a", "b", "c"]))),
        ("x", Arc::new(Int64Array::from(vec![1, 2, 3]))),
        ("y", Arc::new(StringArray::from(vec!["old", "old", "old"]))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn shown(records: &RecordBatch) -> Vec<String> {
    let names: Vec<&str> = records.schema_ref().fields().iter().map(|field| field.name().as_str()).collect();
    let cells = |row: usize| {
        let cells = records.columns().iter().map(|column| transship_plugin_api::row::cell_to_text(column, row));
        cells.map(|cell| cell.unwrap_or("NULL".into())).collect::<Vec<_>>().join(" ")
    };
    std::iter::once(names.join(" ")).chain((0..records.num_rows()).map(cells)).collect()
}

#[test]
fn a_column_of_the_same_name_is_replaced_and_another_appended() {
    assert_eq!(shown(&through(json!({}), input())), ["name x y", "a 1 2", "b 2 4", "c 3 6"]);
    let renamed = json!({ "columns": [{ "name": "y", "as": "twice" }] });
    assert_eq!(shown(&through(renamed, input())), ["name x y twice", "a 1 old 2", "b 2 old 4", "c 3 old 6"]);
    assert_eq!(shown(&through(json!({ "columns": [] }), input())), ["name x y", "a 1 old", "b 2 old", "c 3 old"]);
}

#[test]
fn a_column_that_is_nowhere_is_refused() {
    let refused = |parameter: Value| {
        let mut story = Story::new(json!({}), double);
        let mut parameter = parameter;
        parameter["lookup"] = json!("test");
        story.step = make(&parameter, Some(&story.shared), story.host.clone()).unwrap();
        story.step.schema(input().schema()).unwrap_err().message().to_string()
    };
    assert_eq!(
        refused(json!({ "key": "z" })),
        "parameter.key is \"z\", and there is no such column: the columns are name, x, y"
    );
    assert_eq!(
        refused(json!({ "key": "x", "columns": ["yy"] })),
        "parameter.columns[0] is \"yy\", which the lookup does not find: it finds y; did you mean \"y\"?"
    );
}

#[test]
fn long_runs_and_single_rows_come_out_alike() {
    // Unordered, with answers in reverse: rows that lie beside nothing. In order: slices.
    for (mode, size) in [("ordered", 500), ("ordered", 7), ("unordered", 1), ("unordered", 50)] {
        let parameter = json!({ "mode": mode, "capacity": 1000, "batch": { "size": size } });
        let mut story = Story::new(parameter, later);
        story.push(0, &(0..1000).collect::<Vec<_>>()).unwrap();
        for call in (0..story.calls.count()).rev() {
            let keys = story.calls.lock()[call].keys.clone();
            story.calls.take(call).complete(doubled(&keys));
        }
        story.end().unwrap();
        let left = story.left();
        assert_eq!(left.len(), 1000);
        assert!(
            left.iter().all(|(x, found, position)| *found == Some(2 * x) && *position == *x as u64),
            "{mode} {size}"
        );
        assert_eq!(left[0].0, if mode == "ordered" { 0 } else { 1000 - size }, "{mode} {size}");
    }
}
