//! Bounds by steps along an index: from each bound the database counts a part's rows to the next.

use transship_plugin_api::Result;

use super::range::behind;
use super::{Ask, Bound, Range, Table, between, bound};

/// Cuts a table of about `rows` rows into about so many ranges of equally many. An index over the key is read once, in order,
/// and nothing is sorted; without such an index [`by_ranks`](super::by_ranks) is better.
pub fn by_steps(table: &Table<'_>, rows: u64, parts: usize, ask: &mut Ask<'_>) -> Result<Vec<Range>> {
    if parts < 2 {
        return Ok(vec![Range::Whole]);
    }
    let stride = rows.div_ceil(parts as u64).max(1);
    let mut bounds: Vec<Bound> = Vec::new();
    // The first bound is the first key of all, below which there is nothing.
    while bounds.len() < parts {
        // Behind the last bound, and not from it on: a key with more rows than a part would be its own next bound.
        let condition = bounds.last().map(|bound| behind(table.key, bound, table.dialect));
        let sql = format!(
            "SELECT {} FROM {}{} ORDER BY {} LIMIT 1 OFFSET {}",
            table.texts(),
            table.name,
            table.rows_with_a_key(condition.as_deref()),
            table.order(),
            if condition.is_some() { stride - 1 } else { 0 },
        );
        let next = ask(&sql)?.into_iter().next().and_then(bound);
        // A text that stands for a number next to the bound (a float's digits) would be found again and again.
        match next.filter(|next| bounds.last() != Some(next)) {
            Some(next) => bounds.push(next),
            None => break,
        }
    }
    bounds.drain(..bounds.len().min(1));
    Ok(between(table.key, bounds))
}
