//! The columns of what is read, as the server describes them without running the query.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use transship_plugin_api::{Error, Result};
use transship_sql::parameters::Source;

use crate::session::{Column, Session, code};
use crate::types;

/// The columns of a source. The server looks at its query and does not run it.
pub(super) fn columns_of(session: &mut Session, source: &Source, sql: &str) -> Result<Vec<Column>> {
    let prepared = match session.prepare(sql)? {
        Ok(prepared) => prepared,
        Err(refused) => {
            let error = session.server.refused(source.name(), &refused);
            return Err(match refused.code {
                code::NO_SUCH_TABLE => crate::table::with_tables_like_it(session, source, error),
                _ => error,
            });
        }
    };
    session.close(&prepared)?;
    if prepared.columns.is_empty() {
        let problem = format!("{}: {} yields no columns: it is no query", session.server.place, source.name());
        return Err(Error::config(problem));
    }
    Ok(prepared.columns)
}

/// The columns that all splits share.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    fields: Vec<Field>,
}

impl Shape {
    pub(super) fn new(columns: &[Column], booleans: bool) -> Shape {
        Shape { fields: columns.iter().map(|column| types::field(column, booleans)).collect() }
    }

    pub(super) fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(self.fields.clone()))
    }

    /// Makes room for what another table of the job has. Its columns may have other names: they count by their places.
    pub(super) fn widen(&mut self, other: &Shape, name: &str, first: &str) -> Result<()> {
        if self.fields.len() != other.fields.len() {
            let (ours, theirs) = (self.fields.len(), other.fields.len());
            return Err(Error::schema(format!(
                "{name} has {theirs} columns, but {first} has {ours}: all must have the same"
            )));
        }
        for (field, theirs) in self.fields.iter_mut().zip(&other.fields) {
            let Some(wide) = wider(field.data_type(), theirs.data_type()) else {
                let problem = format!(
                    "column \"{}\" is {} in {name} but {} in {first}",
                    theirs.name(),
                    theirs.data_type(),
                    field.data_type()
                );
                return Err(Error::schema(format!("{problem}: cast it in \"column\", or read the tables in two jobs")));
            };
            *field = field.clone().with_data_type(wide);
        }
        Ok(())
    }
}

/// The type that holds the values of both.
fn wider(one: &DataType, other: &DataType) -> Option<DataType> {
    use DataType::{Decimal128, Decimal256, Float32, Float64};
    if one == other {
        return Some(one.clone());
    }
    match (one, other) {
        (Float32, Float64) | (Float64, Float32) => Some(Float64),
        (Decimal128(d1, s1) | Decimal256(d1, s1), Decimal128(d2, s2) | Decimal256(d2, s2)) => {
            let scale = *s1.max(s2);
            let digits = (i16::from(*d1) - i16::from(*s1)).max(i16::from(*d2) - i16::from(*s2)) + i16::from(scale);
            match u8::try_from(digits).ok()? {
                digits @ ..=38 => Some(Decimal128(digits, scale)),
                digits @ ..=76 => Some(Decimal256(digits, scale)),
                _ => None,
            }
        }
        _ if one.is_integer() && other.is_integer() => wider_integer(one, other),
        _ => None,
    }
}

fn wider_integer(one: &DataType, other: &DataType) -> Option<DataType> {
    use DataType::{Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
    let bits = |data_type: &DataType| data_type.primitive_width().unwrap_or(0) * 8;
    let is_signed = |data_type: &DataType| data_type.is_signed_integer();
    let signed = is_signed(one) || is_signed(other);
    // A signed type needs one bit more than the unsigned one that it is to hold.
    let needed =
        |data_type: &DataType| if signed && !is_signed(data_type) { bits(data_type) + 1 } else { bits(data_type) };
    Some(match (signed, needed(one).max(needed(other))) {
        (true, ..=8) => Int8,
        (true, ..=16) => Int16,
        (true, ..=32) => Int32,
        (true, ..=64) => Int64,
        (true, _) => return None,
        (false, ..=8) => UInt8,
        (false, ..=16) => UInt16,
        (false, ..=32) => UInt32,
        (false, _) => UInt64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_of_both_signs_fit_into_the_wider_type() {
        assert_eq!(wider(&DataType::Int8, &DataType::UInt8), Some(DataType::Int16));
        assert_eq!(wider(&DataType::UInt32, &DataType::Int64), Some(DataType::Int64));
        assert_eq!(wider(&DataType::UInt64, &DataType::UInt8), Some(DataType::UInt64));
        assert_eq!(wider(&DataType::UInt64, &DataType::Int8), None);
    }

    #[test]
    fn decimals_keep_the_digits_on_both_sides_of_the_point() {
        assert_eq!(
            wider(&DataType::Decimal128(10, 2), &DataType::Decimal128(10, 5)),
            Some(DataType::Decimal128(13, 5))
        );
        assert_eq!(
            wider(&DataType::Decimal128(38, 0), &DataType::Decimal128(10, 9)),
            Some(DataType::Decimal256(47, 9))
        );
    }

    #[test]
    fn text_and_numbers_have_nothing_in_common() {
        assert_eq!(wider(&DataType::Utf8, &DataType::Int8), None);
    }
}
