//! Values as JSON, for dirty records, and for the text of lists and structs.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field};
use serde_json::{Map, Number, Value as Json};

use super::meaning::Meaning;
use super::read::Column;
use super::value::{Cell, Value};

/// A record as an object of column name to value.
pub(super) fn record(records: &RecordBatch, row: usize) -> Json {
    let schema = records.schema();
    object(
        schema.fields().iter().map(|field| field.as_ref()).zip(records.columns().iter().map(|column| column.as_ref())),
        row,
    )
}

fn object<'a>(columns: impl Iterator<Item = (&'a Field, &'a dyn Array)>, row: usize) -> Json {
    let mut object = Map::new();
    for (field, column) in columns {
        object.insert(free_name(&object, field.name()), cell(field, column, row));
    }
    Json::Object(object)
}

/// The name, or what tells it from those that are taken: `name (2)`.
fn free_name(taken: &Map<String, Json>, name: &str) -> String {
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    let mut names = std::iter::once(name.to_string()).chain(numbered);
    names.find(|name| !taken.contains_key(name)).unwrap_or_default()
}

fn cell(field: &Field, column: &dyn Array, row: usize) -> Json {
    let value = Column::new(column).get(row);
    let mut word = String::new();
    match value {
        Value::Null => Json::Null,
        value if Meaning::of(field).write(&value, &mut word) => Json::String(word),
        Value::Bool(truth) => truth.into(),
        Value::Int(number) => number.into(),
        Value::UInt(number) => number.into(),
        // The shortest text of the narrow float, read as a wide one, is written as that text again.
        Value::Float32(number) => float(number.to_string().parse().unwrap_or(number as f64), value),
        Value::Float64(number) => float(number, value),
        Value::Other(Cell { array, row }) if super::clock::Clock::of(array.data_type()).is_none() => nested(array, row),
        other => text(other),
    }
}

fn float(number: f64, value: Value<'_>) -> Json {
    Number::from_f64(number).map_or_else(|| text(value), Json::Number)
}

fn text(value: Value<'_>) -> Json {
    let mut text = String::new();
    value.write_text(&mut text);
    Json::String(text)
}

/// A list as a JSON list, a struct as an object, a map as a list of its entries. Of a type that has no values of its own to
/// show, its name.
pub(super) fn nested(array: &dyn Array, row: usize) -> Json {
    let list = |field: &Field, items: ArrayRef| (0..items.len()).map(|row| cell(field, &items, row)).collect();
    match array.data_type() {
        DataType::List(item) => list(item, array.as_list::<i32>().value(row)),
        DataType::LargeList(item) => list(item, array.as_list::<i64>().value(row)),
        DataType::ListView(item) => list(item, array.as_list_view::<i32>().value(row)),
        DataType::LargeListView(item) => list(item, array.as_list_view::<i64>().value(row)),
        DataType::FixedSizeList(item, _) => list(item, array.as_fixed_size_list().value(row)),
        DataType::Map(entry, _) => list(entry, Arc::new(array.as_map().value(row))),
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter().map(|column| column.as_ref());
            object(fields.iter().map(|field| field.as_ref()).zip(columns), row)
        }
        other => Json::String(format!("a value of type {other}")),
    }
}
