//! Table after table: which source of a job is split next, and the splits that have not been asked for yet.

use std::collections::VecDeque;
use std::ops::Range;

use transship_plugin_api::Split;

/// The sources of a job, each of which is split only when the splits of those before are given away.
#[derive(Debug, Default)]
pub struct InTurn {
    sources: Range<usize>,
    ready: VecDeque<Split>,
}

impl InTurn {
    /// So many sources.
    pub fn new(sources: usize) -> InTurn {
        InTurn { sources: 0..sources, ready: VecDeque::new() }
    }

    /// The index of the source to be split now, each once; `None` while there are splits to be given away, and at the end.
    pub fn next_to_split(&mut self) -> Option<usize> {
        if self.ready.is_empty() { self.sources.next() } else { None }
    }

    /// Adds the splits of a source.
    pub fn add(&mut self, splits: Vec<Split>) {
        self.ready.extend(splits);
    }

    /// At most so many of the splits that are there.
    pub fn take(&mut self, most: u32) -> Vec<Split> {
        let count = self.ready.len().min(most.max(1) as usize);
        self.ready.drain(..count).collect()
    }

    /// Whether all sources have been split.
    pub fn is_all_split(&self) -> bool {
        self.sources.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_not_split_before_the_splits_of_the_last_one_are_given_away() {
        let splits = |source: usize, count: usize| {
            (0..count).map(|number| Split::new(format!("{source}.{number}"), "", ().into())).collect::<Vec<_>>()
        };
        let mut tables = InTurn::new(4);
        let (mut told, mut split) = (Vec::new(), Vec::new());
        loop {
            while let Some(source) = tables.next_to_split() {
                split.push(source);
                // The second table has no rows, and so no splits.
                tables.add(splits(source, [3, 0, 1, 2][source]));
            }
            let taken = tables.take(2);
            if taken.is_empty() {
                break;
            }
            told.push((split.len(), taken.iter().map(|split| split.id.clone()).collect::<Vec<_>>().join(" ")));
        }
        let told: Vec<_> = told.iter().map(|(split, ids)| (*split, ids.as_str())).collect();
        assert_eq!(told, [(1, "0.0 0.1"), (1, "0.2"), (3, "2.0"), (4, "3.0 3.1")]);
        assert!(tables.is_all_split());
    }
}
