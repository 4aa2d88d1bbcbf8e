//! Which records `LOAD DATA LOCAL` has left out because their keys were there: the server tells their keys, not their numbers.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use transship_plugin_api::row::Rows;
use transship_sql::write::BadRow;

use super::encode::{Place, Scratch, Sent};
use super::plan::Plan;
use super::store::duplicate_of;
use crate::session::Refused;

/// The records left out, as numbers in `rows`, in order. `None` where the words of the server do not tell: a key that is long or
/// of bytes, or one that it writes otherwise than it was sent.
pub(super) fn find(
    records: &RecordBatch,
    rows: &[usize],
    plan: &Plan,
    places: &[Place],
    warnings: &[Refused],
) -> Option<Vec<BadRow>> {
    let mut told: HashMap<&str, HashMap<&str, usize>> = HashMap::new();
    for warning in warnings {
        let (entry, key) = duplicate_of(&warning.cause)?;
        *told.entry(key).or_default().entry(entry).or_default() += 1;
    }
    let mut bad = Vec::new();
    for (key, mut entries) in told {
        let (_, columns) = plan.unique_keys.iter().find(|(name, _)| name == key)?;
        // Once a key is there, all records that come later with it are left out: so it is the last ones, and of those before
        // them there is one at most.
        let values = Rows::new(records);
        let mut text = String::new();
        let mut stored: HashMap<&str, usize> = HashMap::new();
        for (number, row) in rows.iter().enumerate().rev() {
            key_text(&values, *row, columns, places, &mut text)?;
            let Some((entry, left)) = entries.get_key_value(text.as_str()).map(|(entry, left)| (*entry, *left)) else {
                continue;
            };
            if left == 0 {
                *stored.entry(entry).or_default() += 1;
                continue;
            }
            entries.insert(entry, left - 1);
            let column = if let [column] = columns.as_slice() { Some(*column) } else { None };
            let cause = format!("Duplicate entry '{entry}' for key '{key}' (1062)");
            bad.push(BadRow { row: number, column, cause });
        }
        if entries.values().any(|left| *left > 0) || stored.values().any(|count| *count > 1) {
            return None;
        }
    }
    bad.sort_unstable_by_key(|bad| bad.row);
    // A record that is told of twice would be counted twice.
    let is_told_once = bad.windows(2).all(|pair| pair[0].row != pair[1].row);
    is_told_once.then_some(bad)
}

/// A record's key as the server writes it in its messages.
fn key_text(values: &Rows<'_>, row: usize, columns: &[usize], places: &[Place], text: &mut String) -> Option<()> {
    let mut scratch = Scratch::default();
    text.clear();
    for (index, column) in columns.iter().enumerate() {
        if index > 0 {
            text.push('-');
        }
        match places[*column].sent(values.get(row, *column), &mut scratch).ok()? {
            Sent::Number(part) | Sent::Plain(part) | Sent::Text(part) => text.push_str(part),
            // Where a part is NULL there is no duplicate.
            Sent::Null => text.push_str("NULL"),
            Sent::Bytes(_) => return None,
        }
    }
    Some(())
}
