//! Where the rowids of a table lie: runs of them, found by a few look-ups, so that gaps do not count.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rusqlite::{Connection, OptionalExtension, Result, Statement};

use crate::table::Table;

/// Runs that are looked for at least: enough to see the large gaps.
const FEWEST_RUNS: usize = 64;

/// The runs of rowids of a table, in order. Where a run has gaps, they are small beside the table.
pub(super) struct Rowids {
    runs: Vec<(i64, i64)>,
}

impl Rowids {
    /// Halves the widest run, again and again. Both halves are drawn in to rowids that exist, which costs two look-ups; so a
    /// table of two clusters far apart is soon cut inside the clusters.
    pub(super) fn of(connection: &Connection, table: &Table, rowid: &str, parts: usize) -> Result<Rowids> {
        let name = table.sql();
        let mut up_to = connection
            .prepare(&format!("SELECT {rowid} FROM {name} WHERE {rowid} <= ?1 ORDER BY {rowid} DESC LIMIT 1"))?;
        let mut from =
            connection.prepare(&format!("SELECT {rowid} FROM {name} WHERE {rowid} >= ?1 ORDER BY {rowid} LIMIT 1"))?;
        let (Some(lowest), Some(highest)) = (look_up(&mut from, i64::MIN)?, look_up(&mut up_to, i64::MAX)?) else {
            return Ok(Rowids { runs: Vec::new() });
        };
        let mut runs = BinaryHeap::from([Run::new(lowest, highest)]);
        while runs.len() < parts.max(FEWEST_RUNS) {
            let Some(widest) = runs.pop() else { break };
            let (Reverse(first), last) = (widest.first, widest.last);
            if widest.width == 0 {
                runs.push(widest);
                break;
            }
            let middle = (first as i128 + last as i128).div_euclid(2) as i64;
            // Somebody may have deleted rows since: then a half may be empty.
            runs.extend(look_up(&mut up_to, middle)?.filter(|end| *end >= first).map(|end| Run::new(first, end)));
            runs.extend(
                look_up(&mut from, middle + 1)?.filter(|start| *start <= last).map(|start| Run::new(start, last)),
            );
        }
        let mut runs: Vec<_> = runs.into_iter().map(|run| (run.first.0, run.last)).collect();
        runs.sort_unstable();
        Ok(Rowids { runs })
    }

    /// The rowids, existing or not, that cut the runs into so many equal parts: one fewer than parts, or less.
    pub(super) fn cuts(&self, parts: usize) -> Vec<i64> {
        let mut cuts: Vec<_> = (1..parts).filter_map(|part| self.at(part as u128, parts as u128)).collect();
        cuts.dedup();
        // Nothing is below the first rowid.
        cuts.retain(|cut| Some(*cut) != self.runs.first().map(|(first, _)| *first));
        cuts
    }

    /// So many rowids, existing or not, from everywhere.
    pub(super) fn samples(&self, count: usize) -> Vec<i64> {
        let mut samples: Vec<_> =
            (0..count).filter_map(|sample| self.at(2 * sample as u128 + 1, 2 * count as u128)).collect();
        samples.dedup();
        samples
    }

    /// The rowid that has this fraction of all below it.
    fn at(&self, numerator: u128, denominator: u128) -> Option<i64> {
        let width = |(first, last): &(i64, i64)| last.abs_diff(*first) as u128 + 1;
        let total: u128 = self.runs.iter().map(width).sum();
        // At most 2^64 times a few thousand.
        let mut rest = total * numerator / denominator;
        for run in &self.runs {
            if rest < width(run) {
                return Some((run.0 as i128 + rest as i128) as i64);
            }
            rest -= width(run);
        }
        None
    }
}

/// A run of rowids, both ends of which exist. The widest is the greatest; of equal ones, that with the lowest rowids.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    width: u64,
    first: Reverse<i64>,
    last: i64,
}

impl Run {
    fn new(first: i64, last: i64) -> Run {
        Run { width: last.abs_diff(first), first: Reverse(first), last }
    }
}

fn look_up(statement: &mut Statement<'_>, rowid: i64) -> Result<Option<i64>> {
    statement.query_row([rowid], |row| row.get(0)).optional()
}
