//! Where the whole numbers of a key lie: runs of them, found by a few look-ups, so that gaps do not count.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Runs that are looked for at least: enough to see the large gaps.
const FEWEST_RUNS: usize = 64;
/// Runs that a part has at least where their rows are estimated: where in a run they lie is not known.
const RUNS_IN_A_PART: usize = 4;
/// No more look-ups than this for a table, two for each halving.
const MOST_HALVINGS: usize = 1_024;

/// An index over whole numbers, as far as it can be asked.
pub trait Index {
    /// What can go wrong.
    type Error;

    /// The first key that is not below a number; without a number, the first of all.
    fn first_from(&mut self, number: Option<i128>) -> Result<Option<i128>, Self::Error>;

    /// The last key that is not above a number; without a number, the last of all.
    fn last_to(&mut self, number: Option<i128>) -> Result<Option<i128>, Self::Error>;

    /// About how many rows there are from one key to another, both included. `None`: nobody knows, so that there are taken to
    /// be as many as there are numbers.
    fn rows_between(&mut self, first: i128, last: i128) -> Result<Option<u64>, Self::Error> {
        let _ = (first, last);
        Ok(None)
    }
}

/// The runs of keys of a table, in order. Where a run has gaps, they are small beside the table.
pub struct Runs {
    runs: Vec<Run>,
}

/// A run of keys, both ends of which exist. The heaviest is the greatest; of equal ones, that with the lowest keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    weight: u128,
    first: Reverse<i128>,
    last: i128,
}

impl Run {
    fn new<I: Index>(first: i128, last: i128, index: &mut I) -> Result<Run, I::Error> {
        let width = last.abs_diff(first) + 1;
        let weight = index.rows_between(first, last)?.map_or(width, |rows| u128::from(rows).max(1));
        Ok(Run { weight, first: Reverse(first), last })
    }

    fn first(&self) -> i128 {
        self.first.0
    }
}

impl Runs {
    /// Halves the heaviest run, again and again. Both halves are drawn in to keys that exist, which costs two look-ups; so a
    /// table of two clusters far apart is soon cut inside the clusters.
    pub fn find<I: Index>(parts: usize, index: &mut I) -> Result<Runs, I::Error> {
        let (Some(lowest), Some(highest)) = (index.first_from(None)?, index.last_to(None)?) else {
            return Ok(Runs { runs: Vec::new() });
        };
        let mut runs = BinaryHeap::from([Run::new(lowest, highest, index)?]);
        // A single key cannot be halved, however many rows it has.
        let mut single = Vec::new();
        let (mut halvings, is_estimated) = (0, index.rows_between(lowest, highest)?.is_some());
        let wanted = if is_estimated { parts * RUNS_IN_A_PART } else { parts.max(FEWEST_RUNS) };
        while halvings < MOST_HALVINGS.max(parts) && is_worth_halving(&runs, &single, wanted, is_estimated) {
            let Some(heaviest) = runs.pop() else { break };
            let (first, last) = (heaviest.first(), heaviest.last);
            if first == last {
                single.push(heaviest);
                continue;
            }
            let middle = first + (last - first) / 2;
            // Somebody may have deleted rows since: then a half may be empty.
            if let Some(end) = index.last_to(Some(middle))?.filter(|end| *end >= first) {
                runs.push(Run::new(first, end, index)?);
            }
            if let Some(start) = index.first_from(Some(middle + 1))?.filter(|start| *start <= last) {
                runs.push(Run::new(start, last, index)?);
            }
            halvings += 1;
        }
        let mut runs = runs.into_vec();
        runs.append(&mut single);
        runs.sort_unstable_by_key(Run::first);
        Ok(Runs { runs })
    }

    /// The first and the last key of each run.
    pub fn ends(&self) -> impl Iterator<Item = (i128, i128)> {
        self.runs.iter().map(|run| (run.first(), run.last))
    }

    /// The numbers, keys or not, that cut the runs into so many equal parts: one fewer than parts, or less.
    pub fn cuts(&self, parts: usize) -> Vec<i128> {
        let mut cuts: Vec<_> = (1..parts).filter_map(|part| self.at(part as u128, parts as u128)).collect();
        cuts.dedup();
        // Nothing is below the first key.
        cuts.retain(|cut| Some(*cut) != self.runs.first().map(Run::first));
        cuts
    }

    /// So many numbers, keys or not, from everywhere.
    pub fn samples(&self, count: usize) -> Vec<i128> {
        let mut samples: Vec<_> =
            (0..count).filter_map(|sample| self.at(2 * sample as u128 + 1, 2 * count as u128)).collect();
        samples.dedup();
        samples
    }

    /// The number that has this fraction of all rows below it.
    fn at(&self, numerator: u128, denominator: u128) -> Option<i128> {
        let total: u128 = self.runs.iter().map(|run| run.weight).sum();
        let mut rest = share(total, numerator, denominator);
        for run in &self.runs {
            if rest < run.weight {
                let width = run.last.abs_diff(run.first()) + 1;
                return Some(run.first() + share(width, rest, run.weight) as i128);
            }
            rest -= run.weight;
        }
        None
    }
}

/// Whether the heaviest run is too heavy yet.
fn is_worth_halving(runs: &BinaryHeap<Run>, single: &[Run], wanted: usize, is_estimated: bool) -> bool {
    let Some(heaviest) = runs.peek() else { return false };
    match is_estimated {
        // Runs may be almost empty: their number says nothing.
        true => {
            let total: u128 = runs.iter().chain(single).map(|run| run.weight).sum();
            heaviest.weight > total / wanted.max(1) as u128
        }
        false => runs.len() + single.len() < wanted,
    }
}

/// A fraction of a number. Divided first, so that it does not run over.
fn share(number: u128, numerator: u128, denominator: u128) -> u128 {
    match number.checked_mul(numerator) {
        Some(product) => product / denominator,
        None => number / denominator * numerator + number % denominator * numerator / denominator,
    }
}
