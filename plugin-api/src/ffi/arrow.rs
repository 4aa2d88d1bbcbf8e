//! Columns over the boundary: `RecordBatch` to `ArrowArray` and back, schemas likewise.
//! Not here: what makes a foreign array malformed (`structure`), and the batch around the columns (`batch` in this folder).

use std::sync::Arc;

use arrow_array::ffi::from_ffi_and_data_type;
use arrow_array::{Array, RecordBatch, RecordBatchOptions, StructArray};
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};

use super::guard::catching;
use super::structure::{check_array, check_schema, check_shape};
use crate::error::{Error, Result};

/// How far the arrays of a library are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Their structure is checked, and in debug builds every value.
    Trusted,
    /// Every value is checked (offsets, UTF-8, null counts: about 10 ns a row), also of arrays that are passed on untouched.
    Untrusted,
}

/// A struct array from the other side of the boundary that nobody has looked into yet. Dropping it releases it.
#[derive(Debug)]
pub struct ForeignArray {
    schema: SchemaRef,
    array: FFI_ArrowArray,
    trust: Trust,
}

impl ForeignArray {
    /// Takes an array over. Only what costs nothing is looked at: that it is there, its length, and its number of children.
    pub(super) fn new(schema: SchemaRef, array: FFI_ArrowArray, trust: Trust) -> Result<ForeignArray> {
        check_shape(&array, schema.fields().len())?;
        Ok(ForeignArray { schema, array, trust })
    }

    /// No rows.
    pub fn empty(schema: SchemaRef) -> ForeignArray {
        ForeignArray { schema, array: FFI_ArrowArray::empty(), trust: Trust::Trusted }
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.array.len()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.array.is_empty()
    }

    /// The schema that was told for it.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The columns, sharing the other side's memory.
    ///
    /// # Errors
    /// `Internal` if the array does not agree with its schema or with the Arrow C data interface.
    pub fn import(self) -> Result<RecordBatch> {
        if self.is_empty() {
            return Ok(RecordBatch::new_empty(self.schema));
        }
        let check_values = self.trust == Trust::Untrusted || cfg!(debug_assertions);
        catching(|| import(self.schema, self.array, check_values)).map_err(|error| error.context("a malformed batch"))
    }

    /// The array, to be passed on to a third party. One from an untrusted library is checked in full first.
    pub(super) fn pass_on(self) -> Result<FFI_ArrowArray> {
        if self.trust == Trust::Trusted && !self.array.is_released() {
            return Ok(self.array);
        }
        export(self.import()?)
    }
}

fn import(schema: SchemaRef, array: FFI_ArrowArray, check_values: bool) -> Result<RecordBatch> {
    let data_type = DataType::Struct(schema.fields().clone());
    check_array(&array, &data_type)?;
    let rows = array.len();
    // SAFETY: the structure was checked above. That the buffers are as large as the array's lengths and offsets say is the
    // promise that the other side makes with the Arrow C data interface, and cannot be checked.
    let data = unsafe { from_ffi_and_data_type(array, data_type) }.map_err(malformed)?;
    if check_values { data.validate_full() } else { data.validate() }.map_err(malformed)?;
    if data.null_count() > 0 {
        return Err(Error::internal("the struct array has nulls of its own: a record cannot be null, only its cells"));
    }
    let (_, columns, _) = StructArray::from(data).into_parts();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema, columns, &options).map_err(malformed)
}

fn malformed(error: ArrowError) -> Error {
    Error::internal(error.to_string()).with_source(error)
}

/// The columns as an array that the other side releases.
pub(super) fn export(records: RecordBatch) -> Result<FFI_ArrowArray> {
    catching(|| Ok(FFI_ArrowArray::new(&StructArray::from(records).into_data())))
}

/// A schema as the other side gets it.
pub(super) fn export_schema(schema: &Schema) -> Result<FFI_ArrowSchema> {
    FFI_ArrowSchema::try_from(schema).map_err(|error| {
        Error::schema(format!("the schema does not fit into the Arrow C data interface: {error}")).with_source(error)
    })
}

/// A schema from the other side.
pub(super) fn import_schema(schema: FFI_ArrowSchema) -> Result<SchemaRef> {
    let imported = catching(|| {
        check_schema(&schema)?;
        Ok(Schema::try_from(&schema)?)
    });
    imported.map(Arc::new).map_err(|error| error.context("a malformed schema"))
}

/// Takes an array out of the place where the other side offers it.
///
/// # Safety
/// `array` points to an `ArrowArray` that this side may move.
pub(super) unsafe fn take_array(array: *mut FFI_ArrowArray) -> FFI_ArrowArray {
    // SAFETY: handed on from the caller.
    unsafe { FFI_ArrowArray::from_raw(array) }
}

/// Takes a schema out of the place where the other side offers it; `None` for a null pointer or one that was released.
///
/// # Safety
/// `schema` is null or points to an `ArrowSchema` that this side may move.
pub(super) unsafe fn take_schema(schema: *mut FFI_ArrowSchema) -> Option<FFI_ArrowSchema> {
    if schema.is_null() {
        return None;
    }
    // SAFETY: it is not null (above), and may be moved (the caller).
    Some(unsafe { FFI_ArrowSchema::from_raw(schema) }).filter(|schema| schema.release().is_some())
}

/// Hands a schema over.
///
/// # Safety
/// `out` is null or points to an `ArrowSchema` that holds nothing.
pub(super) unsafe fn put_schema(out: *mut FFI_ArrowSchema, schema: &Schema) -> Result<()> {
    if out.is_null() {
        return Err(Error::internal("there is no place for the schema: the pointer is null"));
    }
    let schema = export_schema(schema)?;
    // SAFETY: it is not null (above) and holds nothing (the caller).
    unsafe { out.write(schema) };
    Ok(())
}

/// Whether columns of one schema can be read as columns of another: as many, of the same types, in the same order. Names
/// and metadata may differ.
pub(super) fn same_columns(left: &SchemaRef, right: &SchemaRef) -> bool {
    Arc::ptr_eq(left, right)
        || left.fields().len() == right.fields().len()
            && left
                .fields()
                .iter()
                .zip(right.fields())
                .all(|(left, right)| left.data_type().equals_datatype(right.data_type()))
}
