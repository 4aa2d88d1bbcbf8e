//! The keys of the records of a batch: the values of some columns, as bytes that are the same wherever the values are.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{DataType, Schema};
use transship_plugin_api::Result;

use super::Key;

/// The columns that make the key of a record.
pub struct KeyExtractor {
    columns: Vec<usize>,
    /// Makes bytes of what has no simple ones: several columns, floats, decimals, lists.
    converter: Option<RowConverter>,
    /// Whether records without a value are one key; else each is a key of its own.
    nulls_are_one: bool,
}

/// The keys of the records of one batch.
pub struct KeyRows {
    values: Values,
    /// A record of which a column of the key is NULL has no value.
    columns: Vec<ArrayRef>,
    has_nulls: bool,
    nulls_are_one: bool,
}

enum Values {
    /// Their lowest 64 bits, which are all.
    Numbers {
        bytes: Vec<[u8; 8]>,
        are_signed: bool,
    },
    /// Of one column, texts or bytes.
    Bytes(ArrayRef),
    Rows(Rows),
}

impl KeyExtractor {
    /// These columns of records with this schema.
    ///
    /// # Errors
    /// When values of such a type cannot be compared.
    pub fn new(schema: &Schema, columns: Vec<usize>, nulls_are_one: bool) -> Result<KeyExtractor> {
        let is_simple = columns.len() == 1 && {
            let kind = schema.field(columns[0]).data_type();
            kind.is_integer() || matches!(kind, DataType::Utf8 | DataType::Binary | DataType::FixedSizeBinary(_))
        };
        let converter = match is_simple {
            true => None,
            false => {
                let fields = columns.iter().map(|column| SortField::new(schema.field(*column).data_type().clone()));
                Some(RowConverter::new(fields.collect())?)
            }
        };
        Ok(KeyExtractor { columns, converter, nulls_are_one })
    }

    /// The keys of a batch.
    ///
    /// # Errors
    /// When the batch is not of the schema.
    pub fn of(&self, records: &RecordBatch) -> Result<KeyRows> {
        let columns: Vec<ArrayRef> = self.columns.iter().map(|column| records.column(*column).clone()).collect();
        let values = match &self.converter {
            Some(converter) => Values::Rows(converter.convert_columns(&columns)?),
            None => match numbers(&columns[0]) {
                Some(bytes) => Values::Numbers { bytes, are_signed: columns[0].data_type().is_signed_integer() },
                None => Values::Bytes(columns[0].clone()),
            },
        };
        let has_nulls = columns.iter().any(|column| column.null_count() > 0);
        Ok(KeyRows { values, columns, has_nulls, nulls_are_one: self.nulls_are_one })
    }
}

impl KeyRows {
    /// The key of the record in this row.
    pub fn key(&self, row: usize) -> Key<'_> {
        if self.has_nulls && self.columns.iter().any(|column| column.is_null(row)) {
            return if self.nulls_are_one { Key::Null } else { Key::Alone };
        }
        match &self.values {
            Values::Numbers { bytes, are_signed: true } => {
                Key::Number(i64::from_le_bytes(bytes[row]).into(), &bytes[row])
            }
            Values::Numbers { bytes, are_signed: false } => {
                Key::Number(u64::from_le_bytes(bytes[row]).into(), &bytes[row])
            }
            Values::Rows(rows) => Key::Bytes(rows.row(row).data()),
            Values::Bytes(column) => Key::Bytes(match column.data_type() {
                DataType::Utf8 => column.as_string::<i32>().value(row).as_bytes(),
                DataType::Binary => column.as_binary::<i32>().value(row),
                _ => column.as_fixed_size_binary().value(row),
            }),
        }
    }
}

/// The whole numbers of a column; those under a NULL do not matter.
fn numbers(column: &Arc<dyn Array>) -> Option<Vec<[u8; 8]>> {
    macro_rules! all {
        ($kind:ty) => {
            column.as_primitive::<$kind>().values().iter().map(|value| (*value as i64).to_le_bytes()).collect()
        };
    }
    Some(match column.data_type() {
        DataType::Int8 => all!(Int8Type),
        DataType::Int16 => all!(Int16Type),
        DataType::Int32 => all!(Int32Type),
        DataType::Int64 => all!(Int64Type),
        DataType::UInt8 => all!(UInt8Type),
        DataType::UInt16 => all!(UInt16Type),
        DataType::UInt32 => all!(UInt32Type),
        DataType::UInt64 => all!(UInt64Type),
        _ => return None,
    })
}
