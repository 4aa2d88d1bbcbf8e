//! Batches out of single records: each with the row that was found for it. Rows that lie beside each other are taken together.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat;
use arrow_select::interleave::interleave;
use transship_plugin_api::{Batch, Origin, Result};

use super::columns::{Columns, From};

/// Rows of several tables, one behind another, as they are picked.
#[derive(Default)]
pub(super) struct Picks {
    /// Held until the end: a table is known by its address.
    tables: Vec<Arc<RecordBatch>>,
    /// The place of each table, by its address.
    places: HashMap<usize, usize, foldhash::fast::RandomState>,
    rows: Vec<(usize, usize)>,
    /// How often a row is not the one behind the last.
    jumps: usize,
}

impl Picks {
    /// Picks a row of a table.
    pub(super) fn pick(&mut self, table: &Arc<RecordBatch>, row: usize) {
        // Records that come together were found together, mostly.
        let place = match self.rows.last() {
            Some((last, _)) if Arc::ptr_eq(&self.tables[*last], table) => *last,
            _ => *self.places.entry(Arc::as_ptr(table) as usize).or_insert_with(|| {
                self.tables.push(table.clone());
                self.tables.len() - 1
            }),
        };
        if self.rows.last() != Some(&(place, row.wrapping_sub(1))) {
            self.jumps += 1;
        }
        self.rows.push((place, row));
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// What was picked of a column of the tables.
    fn column(&self, column: usize) -> Result<ArrayRef> {
        let first = self.rows.first().copied().unwrap_or_default();
        if self.jumps == 1 {
            return Ok(self.tables[first.0].column(column).slice(first.1, self.rows.len()));
        }
        // Long runs are copied as a whole; single rows one by one.
        if self.jumps * 4 <= self.rows.len() {
            let runs: Vec<ArrayRef> =
                self.runs().map(|(table, row, count)| self.tables[table].column(column).slice(row, count)).collect();
            let runs: Vec<&dyn Array> = runs.iter().map(AsRef::as_ref).collect();
            return Ok(concat(&runs)?);
        }
        let tables: Vec<&dyn Array> = self.tables.iter().map(|table| table.column(column).as_ref()).collect();
        Ok(interleave(&tables, &self.rows)?)
    }

    fn runs(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let follows = |left: &(usize, usize), right: &(usize, usize)| left.0 == right.0 && left.1 + 1 == right.1;
        self.rows.chunk_by(follows).map(|run| (run[0].0, run[0].1, run.len()))
    }
}

/// Records as they leave, until there are enough for a batch.
#[derive(Default)]
pub(super) struct Assembly {
    pub records: Picks,
    pub found: Picks,
    pub positions: Vec<u64>,
}

impl Assembly {
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// The batch of what was picked.
    pub(super) fn finish(self, columns: &Columns) -> Result<Batch> {
        let Assembly { records, found, positions } = self;
        let rows = records.len();
        let arrays = columns.from.iter().map(|from| match from {
            From::Record(place) => records.column(*place),
            From::Found(place) => found.column(*place),
        });
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(columns.schema.clone(), arrays, &options)?;
        let first = positions.first().copied().unwrap_or_default();
        let in_line = positions.iter().zip(first..).all(|(position, expected)| *position == expected);
        let positions = (!in_line).then(|| Arc::from(positions));
        Ok(Batch::measured(batch, Origin { first, positions }))
    }
}

/// One row of NULLs.
pub(super) fn nothing(found: &SchemaRef) -> Result<RecordBatch> {
    let columns = found.fields().iter().map(|field| new_null_array(field.data_type(), 1)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    Ok(RecordBatch::try_new_with_options(Columns::nullable(found), columns, &options)?)
}
