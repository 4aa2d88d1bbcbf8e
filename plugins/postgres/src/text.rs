//! Values of records as cells of `COPY … (FORMAT text)`, for columns of types that only the server can read.
//!
//! Whatever has a binary form goes through it, so that a value is taken or refused for the same reasons in both formats.

pub(crate) mod render;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use transship_plugin_api::row::{Column, Value};

use crate::binary::cells::{self, Refusal};
use crate::place::{Place, Target};

/// Appends the cell for a value, escaped, without what separates it from the next. If it is refused, the end of `out` is rubbish.
pub(crate) fn put(place: &Place, value: Value<'_>, out: &mut Vec<u8>, scratch: &mut String) -> Result<(), Refusal> {
    if value.is_null() {
        if !place.takes_null {
            return Err(cells::NOT_NULL.into());
        }
        out.extend_from_slice(b"\\N");
        return Ok(());
    }
    let start = out.len();
    if place.target != Target::Other {
        match cells::put(place, value, out, scratch) {
            Ok(()) => {
                // An empty text may have become NULL.
                let cell = (out[start..start + 4] != [0xff; 4]).then(|| out[start + 4..].to_vec());
                out.truncate(start);
                match cell {
                    None => out.extend_from_slice(b"\\N"),
                    Some(cell) => escape(&render::cell(place.target, &cell)?, out),
                }
                return Ok(());
            }
            Err(Refusal::Unread) => out.truncate(start),
            Err(refusal) => return Err(refusal),
        }
    }
    let text = written(place, value, scratch)?;
    if memchr::memchr(0, text.as_bytes()).is_some() {
        if !place.removes_nul {
            return Err(cells::NUL.into());
        }
        escape(text.replace('\0', "").as_bytes(), out);
    } else {
        escape(text.as_bytes(), out);
    }
    Ok(())
}

/// The text that the server is to read as the column's type.
fn written<'a>(place: &Place, value: Value<'a>, scratch: &'a mut String) -> Result<&'a str, Refusal> {
    let is_bits = place.declared.starts_with("bit");
    match value {
        Value::Text(text) => return Ok(text),
        Value::Bool(truth) if is_bits => return Ok(if truth { "1" } else { "0" }),
        Value::UInt(number) if is_bits => {
            write_bits(place, number, scratch)?;
            return Ok(scratch);
        }
        Value::Int(number) if is_bits => {
            write_bits(place, u64::try_from(number).map_err(|_| "a negative number has no bits")?, scratch)?;
            return Ok(scratch);
        }
        Value::Bytes(bytes) if is_bits => {
            scratch.clear();
            scratch.extend(
                bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| if byte >> bit & 1 == 1 { '1' } else { '0' })),
            );
            return Ok(scratch);
        }
        Value::Other(cell)
            if matches!(
                cell.array.data_type(),
                DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..)
            ) =>
        {
            scratch.clear();
            write_list(cell.array, cell.row, scratch)?;
            return Ok(scratch);
        }
        _ => {}
    }
    place.text(value, scratch)
}

/// Writes a number as the binary digits that a column of bits takes: `bit(8)` takes eight, `bit varying(8)` up to eight.
fn write_bits(place: &Place, number: u64, out: &mut String) -> Result<(), Refusal> {
    let most = place.declared.split_once('(').and_then(|(_, rest)| rest.trim_end_matches(')').parse().ok());
    let most = most.unwrap_or(if place.declared == "bit" { 1 } else { usize::MAX });
    let width = if place.declared.starts_with("bit varying") { 1 } else { most };
    out.clear();
    out.push_str(&format!("{number:0width$b}"));
    if out.len() > most {
        return Err(Refusal::Dirty(format!("it has {} binary digits, and the column takes {most}", out.len()).into()));
    }
    Ok(())
}

/// Writes an array as PostgreSQL does: `{1,NULL,"a \"b\""}`.
fn write_list(array: &dyn Array, row: usize, out: &mut String) -> Result<(), Refusal> {
    let items = match array.data_type() {
        DataType::List(_) => array.as_list::<i32>().value(row),
        DataType::LargeList(_) => array.as_list::<i64>().value(row),
        _ => array.as_fixed_size_list().value(row),
    };
    let column = Column::new(items.as_ref());
    out.push('{');
    for item in 0..items.len() {
        if item > 0 {
            out.push(',');
        }
        match column.get(item) {
            Value::Null => out.push_str("NULL"),
            Value::Other(cell) if cell.array.data_type().is_nested() => {
                if !matches!(
                    cell.array.data_type(),
                    DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..)
                ) {
                    return Err("a list of records has no form as an array".into());
                }
                write_list(cell.array, cell.row, out)?;
            }
            Value::Bytes(bytes) => {
                out.push_str("\"\\\\x");
                out.extend(bytes.iter().map(|byte| format!("{byte:02x}")));
                out.push('"');
            }
            value => {
                let mut text = String::new();
                value.write_text(&mut text);
                out.push('"');
                for letter in text.chars() {
                    if matches!(letter, '"' | '\\') {
                        out.push('\\');
                    }
                    out.push(letter);
                }
                out.push('"');
            }
        }
    }
    out.push('}');
    Ok(())
}

/// Appends a text with a backslash before what has a meaning of its own.
fn escape(text: &[u8], out: &mut Vec<u8>) {
    out.reserve(text.len());
    let mut begin = 0;
    for (at, byte) in text.iter().enumerate() {
        let escaped = match byte {
            b'\\' => b'\\',
            b'\t' => b't',
            b'\n' => b'n',
            b'\r' => b'r',
            _ => continue,
        };
        out.extend_from_slice(&text[begin..at]);
        out.extend_from_slice(&[b'\\', escaped]);
        begin = at + 1;
    }
    out.extend_from_slice(&text[begin..]);
}

#[cfg(test)]
mod tests;
