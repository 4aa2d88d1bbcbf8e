//! Building: a batch row by row.

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_buffer::NullBufferBuilder;
use arrow_schema::{Field, SchemaRef};

use super::cells::{Cells, Refusal};
use super::value::Value;
use crate::batch::{Batch, Origin};
use crate::error::{Error, Result};

/// Rows that a batch has room for at least, before its columns have to grow.
const SMALLEST: usize = 16;
/// Bytes of text that a value is expected to have, while nothing better is known.
const TEXT: usize = 16;

/// Builds batches of one schema, row by row. It counts bytes while it does, and takes a row back when a value of it turns
/// out to be bad.
///
/// ```
/// # use std::sync::Arc;
/// # use arrow_schema::{DataType, Field, Schema};
/// # use transship_plugin_api::Origin;
/// # use transship_plugin_api::row::{RowBuilder, Value};
/// let id = Field::new("id", DataType::Int64, false);
/// let name = Field::new("name", DataType::Utf8, true);
/// let mut rows = RowBuilder::new(Arc::new(Schema::new(vec![id, name])), 8192)?;
///
/// rows.push_row(&[Value::Int(1), Value::Text("ann")])?;
/// rows.set(0, 2i64)?; // The name isn't set, so it is NULL.
/// rows.end_row()?;
/// let problem = rows.push_row(&[Value::Text("three"), Value::Null]).unwrap_err();
/// assert_eq!(problem.message(), "column \"id\" takes Int64, not the text \"three\"");
///
/// let batch = rows.finish_batch(Origin::from(0))?;
/// assert_eq!(batch.num_rows(), 2);
/// # Ok::<(), transship_plugin_api::Error>(())
/// ```
#[derive(Debug)]
pub struct RowBuilder {
    schema: SchemaRef,
    columns: Vec<Column>,
    /// Finished rows.
    rows: usize,
    /// Cells of the row in the making.
    cells: usize,
    /// Bytes that a row takes whatever is in it.
    fixed_bytes: usize,
    /// Bytes of text in the finished rows, and in the row in the making.
    content_bytes: usize,
    row_content_bytes: usize,
    /// Columns that take a bit a row: booleans, and those that may have a validity bitmap.
    booleans: usize,
    nullables: usize,
}

/// A column of the batch in the making. It has as many cells as there are finished rows, and one more if the row in the
/// making has a value for it.
#[derive(Debug)]
struct Column {
    cells: Cells,
    /// Behind the last NULL it may be shorter than `len`: the rest is valid.
    nulls: NullBufferBuilder,
    len: usize,
    nullable: bool,
}

impl RowBuilder {
    /// A builder for batches of about so many rows.
    ///
    /// # Errors
    /// `Unsupported` where a column has a type that is not built row by row: a list, a struct, a dictionary.
    pub fn new(schema: SchemaRef, capacity: usize) -> Result<RowBuilder> {
        let mut builder = RowBuilder {
            schema,
            columns: Vec::new(),
            rows: 0,
            cells: 0,
            fixed_bytes: 0,
            content_bytes: 0,
            row_content_bytes: 0,
            booleans: 0,
            nullables: 0,
        };
        builder.columns = builder.fresh_columns(capacity)?;
        builder.fixed_bytes = builder.columns.iter().map(|column| column.cells.fixed_bytes()).sum();
        builder.booleans = builder.columns.iter().filter(|column| matches!(column.cells, Cells::Bool(_))).count();
        builder.nullables = builder.columns.iter().filter(|column| column.nullable).count();
        Ok(builder)
    }

    /// Columns without cells, with room for so many rows, and for a little more text than those had that they are to replace.
    fn fresh_columns(&self, capacity: usize) -> Result<Vec<Column>> {
        let fields = self.schema.fields().iter().enumerate();
        let columns = fields.map(|(index, field)| {
            let bytes = self.columns.get(index).map_or(capacity * TEXT, |column| column.cells.content_bytes() * 9 / 8);
            Column::new(field, capacity, bytes)
        });
        columns.collect()
    }

    /// The schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// How many rows are finished.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether no row is finished.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The size of the finished rows, as [`byte_size`](crate::batch::byte_size) counts it, if every column that may have
    /// NULLs has one.
    pub fn bytes(&self) -> usize {
        self.size(self.rows, self.content_bytes, self.nullables)
    }

    fn size(&self, rows: usize, content_bytes: usize, bitmaps: usize) -> usize {
        rows * self.fixed_bytes + content_bytes + rows.div_ceil(8) * (self.booleans + bitmaps)
    }

    /// The size of the row in the making, to compare with the largest that a record may have.
    pub fn row_bytes(&self) -> usize {
        self.fixed_bytes + self.row_content_bytes
    }

    /// Sets a column, counted from 0, of the row in the making. Whole numbers go into a column of any width that can hold
    /// them, decimals into any scale that has all their digits; nothing else is converted. Setting a column again replaces
    /// its value.
    ///
    /// # Errors
    /// `Data`, naming the column, if it can't take the value. The column is then not set; set another value, or give the row up
    /// with [`drop_row`](RowBuilder::drop_row).
    #[inline]
    pub fn set<'v>(&mut self, column: usize, value: impl Into<Value<'v>>) -> Result<()> {
        self.set_value(column, &value.into())
    }

    #[inline]
    fn set_value(&mut self, index: usize, value: &Value<'_>) -> Result<()> {
        let Some(column) = self.columns.get_mut(index) else {
            return Err(Error::internal(format!("column {index} of a row of {} columns", self.schema.fields().len())));
        };
        if column.len > self.rows {
            self.row_content_bytes -= column.unset(self.rows);
            self.cells -= 1;
        }
        match column.push(value) {
            Ok(bytes) => {
                self.row_content_bytes += bytes;
                self.cells += 1;
                Ok(())
            }
            Err(refusal) => Err(self.refused(index, value, refusal)),
        }
    }

    /// Appends a whole row.
    ///
    /// # Errors
    /// As [`set`](RowBuilder::set), or `Internal` if there are not as many values as columns. The row is not in the batch then,
    /// nor is what was set of it before.
    #[inline]
    pub fn push_row(&mut self, values: &[Value<'_>]) -> Result<()> {
        if values.len() != self.columns.len() {
            self.drop_row();
            let problem = format!("a row of {} values for {} columns", values.len(), self.columns.len());
            return Err(Error::internal(problem));
        }
        if self.cells > 0 {
            self.drop_row();
        }
        let mut bytes = 0;
        for (index, (column, value)) in self.columns.iter_mut().zip(values).enumerate() {
            match column.push(value) {
                Ok(content) => bytes += content,
                Err(refusal) => {
                    self.drop_row();
                    return Err(self.refused(index, value, refusal));
                }
            }
        }
        self.content_bytes += bytes;
        self.rows += 1;
        Ok(())
    }

    /// Finishes the row in the making. Columns that were not set are NULL.
    ///
    /// # Errors
    /// `Data`, naming the column, where one that was not set can't be NULL. The row is still in the making then.
    #[inline]
    pub fn end_row(&mut self) -> Result<()> {
        if self.cells < self.columns.len() {
            self.set_the_rest_to_null()?;
        }
        self.rows += 1;
        self.cells = 0;
        self.content_bytes += std::mem::take(&mut self.row_content_bytes);
        Ok(())
    }

    fn set_the_rest_to_null(&mut self) -> Result<()> {
        for column in 0..self.columns.len() {
            if self.columns[column].len == self.rows {
                self.set_value(column, &Value::Null)?;
            }
        }
        Ok(())
    }

    /// Gives the row in the making up. Nothing of it is left in any column.
    pub fn drop_row(&mut self) {
        for column in self.columns.iter_mut().filter(|column| column.len > self.rows) {
            column.unset(self.rows);
        }
        self.cells = 0;
        self.row_content_bytes = 0;
    }

    /// Takes the finished rows: the columns, and their size in bytes. The builder goes on with an empty batch.
    ///
    /// # Errors
    /// `Internal` in the middle of a row.
    pub fn finish(&mut self) -> Result<(RecordBatch, usize)> {
        if self.cells > 0 {
            return Err(Error::internal(
                "a batch was to be finished in the middle of a row: end or drop the row first",
            ));
        }
        let rows = std::mem::take(&mut self.rows);
        let content_bytes = std::mem::take(&mut self.content_bytes);
        // The next batch is expected to be as large as this one.
        let fresh = self.fresh_columns(rows.max(SMALLEST))?;
        let full = std::mem::replace(&mut self.columns, fresh);
        let arrays = full.into_iter().zip(self.schema.fields()).map(|(column, field)| column.finish(field));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let bitmaps = arrays.iter().filter(|array| array.nulls().is_some()).count();
        let bytes = self.size(rows, content_bytes, bitmaps);
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok((RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)?, bytes))
    }

    /// Takes the finished rows as a batch from this origin. The builder goes on with an empty batch.
    ///
    /// # Errors
    /// `Internal` in the middle of a row.
    pub fn finish_batch(&mut self, origin: Origin) -> Result<Batch> {
        let (records, bytes) = self.finish()?;
        Ok(Batch::new(records, bytes, origin))
    }

    fn refused(&self, column: usize, value: &Value<'_>, refusal: Refusal) -> Error {
        let field = self.schema.field(column);
        let name = field.name();
        let data_type = field.data_type();
        Error::data(match refusal {
            Refusal::WrongType => format!("column \"{name}\" takes {data_type}, not {}", value.describe()),
            Refusal::DoesNotFit => format!("{} does not fit column \"{name}\" of type {data_type}", value.describe()),
            Refusal::Null => format!("column \"{name}\" can't be NULL"),
            Refusal::BatchFull => {
                format!("column \"{name}\" has more than 2 GiB in one batch: make batches of fewer records or bytes")
            }
        })
    }
}

impl Column {
    fn new(field: &Field, rows: usize, bytes: usize) -> Result<Column> {
        let cells = Cells::new(field.data_type(), rows, bytes).ok_or_else(|| {
            let problem =
                format!("column \"{}\" of type {} can't be built row by row", field.name(), field.data_type());
            Error::unsupported(problem)
        })?;
        Ok(Column { cells, nulls: NullBufferBuilder::new(rows), len: 0, nullable: field.is_nullable() })
    }

    #[inline]
    fn push(&mut self, value: &Value<'_>) -> Result<usize, Refusal> {
        let bytes = match value {
            Value::Null => self.push_null()?,
            value => self.cells.push(value)?,
        };
        self.len += 1;
        Ok(bytes)
    }

    #[inline(never)]
    fn push_null(&mut self) -> Result<usize, Refusal> {
        if !self.nullable {
            return Err(Refusal::Null);
        }
        self.cells.push_blank();
        self.nulls.append_n_non_nulls(self.len - self.nulls.len());
        self.nulls.append_null();
        Ok(0)
    }

    /// Takes back the cell behind so many rows. How many bytes of content it had.
    fn unset(&mut self, rows: usize) -> usize {
        let before = self.cells.content_bytes();
        self.cells.truncate(rows);
        self.nulls.truncate(rows.min(self.nulls.len()));
        self.len = rows;
        before - self.cells.content_bytes()
    }

    fn finish(mut self, field: &Field) -> Result<ArrayRef> {
        self.nulls.append_n_non_nulls(self.len - self.nulls.len());
        let nulls = self.nulls.finish().filter(|nulls| nulls.null_count() > 0);
        Ok(self.cells.finish(field.data_type(), nulls)?)
    }
}
