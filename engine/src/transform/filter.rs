//! `dx_filter` drops the records of which a column fulfils a condition.

use arrow_array::Array;
use arrow_buffer::BooleanBuffer;
use arrow_schema::{FieldRef, SchemaRef};
use transship_plugin_api::{Batch, ColumnFormats, Error, HostRef, Result, Transformer};

use super::comparison::{Answer, Comparison};
use super::condition::Condition;
use super::paras::{ColumnChoice, Paras};
use super::select::keep;
use super::step::Step;

pub(super) struct Filter {
    condition: Condition,
    choice: ColumnChoice,
    formats: ColumnFormats,
    host: HostRef,
    /// The column's place and field, once the schema is known.
    column: Option<(usize, FieldRef)>,
}

impl Filter {
    pub(super) fn new(paras: &Paras, choice: ColumnChoice, formats: ColumnFormats, host: HostRef) -> Result<Filter> {
        Ok(Filter { condition: Condition::new(paras)?, choice, formats, host, column: None })
    }
}

impl Transformer for Filter {
    fn schema(&mut self, input: SchemaRef) -> Result<SchemaRef> {
        let index = self.choice.find(&input)?;
        let field = input.fields()[index].clone();
        // A value that does not fit the column is told before anything is read.
        Comparison::new(&self.condition, &field, &self.formats)?;
        self.column = Some((index, field));
        Ok(input)
    }

    fn push(&mut self, mut batch: Batch, out: &mut Vec<Batch>) -> Result<()> {
        let Some((index, field)) = &self.column else { return Err(Error::internal("a batch came before the schema")) };
        let comparison = Comparison::new(&self.condition, field, &self.formats)?;
        let column = match batch.records()?.columns().get(*index) {
            Some(column) => column.clone(),
            None => return Err(Error::internal(format!("a batch without column {index}"))),
        };
        let Answer { matches, dirty } = comparison.ask(field, &column, &self.formats, self.host.as_ref())?;
        for (row, cause) in &dirty {
            batch.dirty(self.host.as_ref(), *row, Some(*index), &cause.to_string())?;
        }
        let nulls = column.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        let mut kept = match nulls {
            None => !&matches,
            Some(nulls) if self.condition.drops_null() => &!&matches & nulls.inner(),
            Some(nulls) => &!&matches | &!nulls.inner(),
        };
        if !dirty.is_empty() {
            kept = without(&kept, dirty.iter().map(|(row, _)| *row));
        }
        out.extend(keep(batch, &kept)?);
        Ok(())
    }

    fn flush(&mut self, _: &mut Vec<Batch>) -> Result<()> {
        Ok(())
    }
}

impl Step for Filter {}

fn without(kept: &BooleanBuffer, rows: impl Iterator<Item = usize>) -> BooleanBuffer {
    let mut bits: Vec<bool> = kept.iter().collect();
    rows.for_each(|row| bits[row] = false);
    bits.into()
}
