//! How large ranges are: what is known of their table, in equal parts, because their bounds were looked for so.

use super::Range;

/// How large a table is, as far as anybody knows without looking for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TableSize {
    /// Its rows that are to be read, as the database estimates them.
    pub rows: Option<u64>,
    /// How many rows with a key are to be read, where they were counted to find the bounds.
    pub counted: Option<u64>,
    /// Its bytes, as the database keeps them.
    pub bytes: Option<u64>,
}

/// How large a range is: what all ranges of a table have or none, so that they can be compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RangeSize {
    /// Its rows.
    pub records: Option<u64>,
    /// Its bytes, as the database keeps them.
    pub bytes: Option<u64>,
}

impl TableSize {
    /// The sizes of so many equal parts of this table.
    pub fn of_each_of(self, parts: u64) -> impl Iterator<Item = RangeSize> {
        let TableSize { rows, bytes, .. } = self;
        (0..parts).map(move |place| {
            let of = |whole: u64| part(whole, place, parts);
            RangeSize { records: rows.map(of), bytes: bytes.map(of) }
        })
    }

    /// The sizes of the ranges that this table was cut into.
    pub fn of_each(&self, ranges: &[Range]) -> Vec<RangeSize> {
        let is_nulls = |range: &Range| matches!(range, Range::Nulls { .. });
        let with_key = ranges.iter().filter(|range| !is_nulls(range)).count() as u64;
        let has_nulls = with_key < ranges.len() as u64;
        let rows_with_key = self.counted.or(self.rows);
        let nulls = match (self.rows, self.counted) {
            (Some(rows), Some(counted)) if has_nulls => rows.saturating_sub(counted),
            _ => 0,
        };
        let rows = rows_with_key.map(|rows| rows.saturating_add(nulls));
        let bytes_of_nulls = |bytes: u64| match rows {
            Some(rows @ 1..) => (u128::from(bytes) * u128::from(nulls) / u128::from(rows)) as u64,
            _ => 0,
        };
        let of_nulls = RangeSize { records: rows.map(|_| nulls), bytes: self.bytes.map(bytes_of_nulls) };
        let others = TableSize {
            rows: rows_with_key,
            bytes: self.bytes.map(|bytes| bytes - bytes_of_nulls(bytes)),
            counted: None,
        };
        let mut sizes = others.of_each_of(with_key);
        ranges.iter().map(|range| if is_nulls(range) { of_nulls } else { sizes.next().unwrap_or_default() }).collect()
    }
}

/// One of so many parts of a number, which together are all of it.
fn part(whole: u64, place: u64, parts: u64) -> u64 {
    let up_to = |place: u64| (u128::from(whole) * u128::from(place) / u128::from(parts)) as u64;
    up_to(place + 1) - up_to(place)
}

#[cfg(test)]
mod tests {
    use super::super::{Key, between};
    use super::*;
    use crate::Postgres;
    use crate::dialect::KeyKind;

    fn ranges(parts: usize, nullable: bool) -> Vec<Range> {
        let key = Key::column(&Postgres, "k", KeyKind::Number, nullable);
        between(&key, (1..parts).map(|part| vec![part.to_string()]).collect())
    }

    fn records(size: &TableSize, ranges: &[Range]) -> Vec<Option<u64>> {
        size.of_each(ranges).into_iter().map(|size| size.records).collect()
    }

    #[test]
    fn the_parts_of_a_table_are_all_of_it() {
        let size = TableSize { rows: Some(100), counted: None, bytes: Some(1_000) };
        for (parts, nullable) in [(1, false), (3, false), (3, true), (7, true)] {
            let sizes = size.of_each(&ranges(parts, nullable));
            assert_eq!(sizes.iter().map(|size| size.records.unwrap()).sum::<u64>(), 100);
            assert_eq!(sizes.iter().map(|size| size.bytes.unwrap()).sum::<u64>(), 1_000);
        }
        assert_eq!(records(&size, &ranges(3, true)), [Some(33), Some(33), Some(34), Some(0)]);
    }

    #[test]
    fn rows_without_a_key_are_those_that_were_not_counted() {
        let size = TableSize { rows: Some(100), counted: Some(60), bytes: Some(1_000) };
        let sizes = size.of_each(&ranges(2, true));
        let told: Vec<_> = sizes.iter().map(|size| (size.records.unwrap(), size.bytes.unwrap())).collect();
        assert_eq!(told, [(30, 300), (30, 300), (40, 400)]);
        assert_eq!(records(&size, &ranges(2, false)), [Some(30), Some(30)], "the estimate is an old one");
        let stale = TableSize { rows: Some(10), ..size };
        assert_eq!(records(&stale, &ranges(2, true)), [Some(30), Some(30), Some(0)]);
    }

    #[test]
    fn what_is_not_known_is_known_of_no_range() {
        let counted = TableSize { counted: Some(10), ..TableSize::default() };
        assert_eq!(records(&counted, &ranges(2, true)), [Some(5), Some(5), Some(0)]);
        assert_eq!(counted.of_each(&ranges(2, true))[2].bytes, None);
        let nothing = TableSize::default().of_each(&ranges(2, true));
        assert!(nothing.iter().all(|size| *size == RangeSize::default()), "{nothing:?}");
    }
}
