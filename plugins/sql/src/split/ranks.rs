//! Bounds by rank: the rows, or a sample of them, are sorted once and numbered.

use transship_plugin_api::Result;

use super::{Ask, Range, Table, between, bound};

/// Cuts a table of so many rows (see [`count`](super::count)) into about so many ranges of equally many. Every row's key is looked
/// at, or that of each row of a sample, which stands in the place of the table's name then (`t TABLESAMPLE SYSTEM (1) REPEATABLE
/// (1)`, or a query with an alias), and has to give the same rows twice. The database must know window functions.
pub fn by_ranks(table: &Table<'_>, rows: u64, parts: usize, ask: &mut Ask<'_>) -> Result<Vec<Range>> {
    if parts < 2 {
        return Ok(vec![Range::Whole]);
    }
    let stride = rows.div_ceil(parts as u64).max(1);
    // Only the few keys that are bounds become texts.
    let parts_of_key = || table.key.parts.iter().enumerate();
    let keys =
        parts_of_key().map(|(index, part)| format!("{} AS key_{index}", part.sql)).collect::<Vec<_>>().join(", ");
    let texts = parts_of_key().map(|(index, part)| table.dialect.key_text(&format!("key_{index}"), part.kind));
    let texts = texts.collect::<Vec<_>>().join(", ");
    let order = table.order();
    let rows = table.rows_with_a_key(None);
    let numbered = format!("SELECT {keys}, row_number() OVER (ORDER BY {order}) AS place FROM {}{rows}", table.name);
    // The first row of each part.
    let sql = format!("SELECT {texts} FROM ({numbered}) AS numbered WHERE (place - 1) % {stride} = 0 ORDER BY place");
    let mut bounds: Vec<_> = ask(&sql)?.into_iter().filter_map(bound).collect();
    // Where one key has more rows than a part, it is the bound twice; and below the first of all keys there is nothing.
    bounds.dedup();
    bounds.drain(..bounds.len().min(1));
    Ok(between(table.key, bounds))
}
