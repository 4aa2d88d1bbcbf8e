//! Transformers that make a new text of each value of one column. The other columns are passed on as they are, shared.
//! Not here: what becomes of a value (`pieces`, `pad`, `digest`).

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use transship_plugin_api::{Batch, ColumnFormats, Error, HostRef, Result, Transformer};

use super::build::TextBuilder;
use super::cause::{Cause, DirtyRows, told_once};
use super::paras::ColumnChoice;
use super::select::keep;
use super::step::Step;
use super::text::texts_of;

/// How large a batch may become by what is added to its values. One record may become larger than that alone.
const MOST_BYTES: usize = 4 << 20;

/// What becomes of a value.
pub(super) trait Rewrite: Send {
    /// Whether NULL is taken as an empty text; else it stays NULL.
    const NULL_IS_EMPTY: bool;

    /// By how many bytes a value can grow, at most.
    fn growth(&self) -> usize;

    /// How many bytes the results of so many values with so many bytes will have, more or less.
    fn room(&self, values: usize, bytes: usize) -> usize;

    /// Appends what becomes of a value. `ascii` says that it is known to be ASCII: UTF-16 units are bytes.
    fn rewrite(&mut self, value: &str, ascii: bool, out: &mut String) -> Result<(), Cause>;
}

/// A [`Rewrite`] at work on a column.
pub(super) struct Rewriting<R> {
    rewrite: R,
    choice: ColumnChoice,
    formats: ColumnFormats,
    host: HostRef,
    /// Once the schema is known: the column's place, and the schema that comes out.
    known: Option<(usize, SchemaRef)>,
}

impl<R: Rewrite + 'static> Rewriting<R> {
    pub(super) fn boxed(rewrite: R, choice: ColumnChoice, formats: ColumnFormats, host: HostRef) -> Box<dyn Step> {
        Box::new(Rewriting { rewrite, choice, formats, host, known: None })
    }
}

impl<R: Rewrite> Transformer for Rewriting<R> {
    fn schema(&mut self, input: SchemaRef) -> Result<SchemaRef> {
        let index = self.choice.find(&input)?;
        let mut fields: Vec<_> = input.fields().iter().cloned().collect();
        // What its metadata said (a number as text, JSON) need not hold for the result.
        fields[index] = Arc::new(Field::new(fields[index].name(), DataType::Utf8, fields[index].is_nullable()));
        let output = Arc::new(Schema::new_with_metadata(fields, input.metadata().clone()));
        self.known = Some((index, output.clone()));
        Ok(output)
    }

    fn push(&mut self, mut batch: Batch, out: &mut Vec<Batch>) -> Result<()> {
        let (index, schema) = self.known.clone().ok_or_else(|| Error::internal("a batch came before the schema"))?;
        let column = match batch.records()?.columns().get(index) {
            Some(column) => column.clone(),
            None => return Err(Error::internal(format!("a batch without column {index}"))),
        };
        let before = size_of_column(&column)?;
        let field = batch.records()?.schema_ref().field(index).clone();
        let (texts, mut dirty) = texts_of(&field, &column, &self.formats)?;
        let rewritten = rewrite_column(&mut self.rewrite, &texts, &mut dirty)?;
        for (row, cause) in &dirty {
            batch.dirty(self.host.as_ref(), *row, Some(index), &cause.to_string())?;
        }
        let rewritten: ArrayRef = Arc::new(rewritten);
        let bytes = batch.bytes.saturating_sub(before) + size_of_column(&rewritten)?;
        let mut columns = batch.records()?.columns().to_vec();
        columns[index] = rewritten;
        let mut changed = Batch::new(RecordBatch::try_new(schema, columns)?, bytes, batch.origin);
        changed.position = batch.position;
        if dirty.is_empty() {
            out.push(changed);
            return Ok(());
        }
        let mut clean = vec![true; changed.num_rows()];
        dirty.iter().for_each(|(row, _)| clean[*row] = false);
        out.extend(keep(changed, &clean.into())?);
        Ok(())
    }

    fn flush(&mut self, _: &mut Vec<Batch>) -> Result<()> {
        Ok(())
    }
}

impl<R: Rewrite> Step for Rewriting<R> {
    fn records_at_once(&self, batch: &Batch) -> usize {
        let rows = batch.num_rows();
        let grown = match self.rewrite.growth() {
            0 => 0,
            growth => rows.saturating_mul(growth).saturating_add(batch.bytes),
        };
        if grown <= MOST_BYTES { rows } else { (rows as u128 * MOST_BYTES as u128 / grown as u128) as usize }
    }
}

/// The new column. A value that cannot be rewritten is empty there and noted as dirty.
fn rewrite_column<R: Rewrite>(rewrite: &mut R, texts: &StringArray, dirty: &mut DirtyRows) -> Result<StringArray> {
    let rows = texts.len();
    let bounds = texts.value_offsets();
    let bytes = &texts.value_data()[bounds[0] as usize..bounds[rows] as usize];
    let ascii = bytes.is_ascii();
    let mut built = TextBuilder::new(rows, rewrite.room(rows, bytes.len()));
    let already_dirty = dirty.len();
    let nulls = texts.nulls().filter(|nulls| nulls.null_count() > 0);
    for row in 0..rows {
        let is_null = nulls.is_some_and(|nulls| nulls.is_null(row));
        if R::NULL_IS_EMPTY || !is_null {
            let value = if is_null { "" } else { texts.value(row) };
            if let Err(cause) = rewrite.rewrite(value, ascii, &mut built.text) {
                built.take_back();
                dirty.push((row, cause));
            }
        }
        built.end()?;
    }
    if already_dirty > 0 {
        told_once(dirty);
    }
    built.finish(if R::NULL_IS_EMPTY { None } else { texts.nulls().cloned() })
}

fn size_of_column(column: &ArrayRef) -> Result<usize> {
    let schema = Schema::new(vec![Field::new("", column.data_type().clone(), true)]);
    let alone = RecordBatch::try_new(Arc::new(schema), vec![column.clone()])?;
    Ok(transship_plugin_api::batch::byte_size(&alone))
}
