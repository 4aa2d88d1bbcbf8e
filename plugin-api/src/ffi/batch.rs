//! A batch over the boundary: the columns (`arrow`), and beside them their size, their origin and their position.

use std::mem::{ManuallyDrop, size_of};
use std::sync::Arc;
use std::{ptr, slice};

use arrow_schema::SchemaRef;

use super::abi::TsBatch;
use super::arrow::{ForeignArray, Trust, export, same_columns, take_array};
use super::text::{borrow_json, json};
use crate::batch::{Batch, Origin};
use crate::error::{Error, Result};

/// Batches on their way to the other side. What is lent with a batch is kept here until the next one.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    /// What the other side was told of the columns.
    schema: Option<SchemaRef>,
    positions: Option<Arc<[u64]>>,
    resume: Option<String>,
}

impl Outgoing {
    /// The schema that the other side was told.
    pub(super) fn expect(&mut self, schema: SchemaRef) {
        self.schema = Some(schema);
    }

    /// Hands a batch over. An array that came from a library and that nobody has looked into is only moved.
    ///
    /// # Safety
    /// `out` is null or points to a `ts_batch` that holds nothing.
    pub(super) unsafe fn put(&mut self, batch: Batch, out: *mut TsBatch) -> Result<()> {
        // SAFETY: it is not null; its first member is its size.
        let size = if out.is_null() { 0 } else { unsafe { (*out).size } };
        if size < TsBatch::FIRST_SIZE {
            return Err(Error::internal("there is no place for a batch: the pointer is null, or its size is not set"));
        }
        self.check_columns(&batch)?;
        let rows = batch.num_rows();
        let (n_bytes, first) = (batch.bytes as u64, batch.origin.first);
        let read_share = batch.read_share.unwrap_or(0.0);
        self.resume = batch.position.as_ref().map(|position| json(position, "position")).transpose()?;
        self.positions = batch.origin.positions.clone();
        if let Some(positions) = self.positions.as_ref().filter(|positions| positions.len() != rows) {
            return Err(Error::internal(format!("a batch of {rows} records has {} positions", positions.len())));
        }
        let array = match batch.into_columns() {
            Ok(foreign) => foreign.pass_on()?,
            Err(records) => export(records)?,
        };
        let (resume, resume_len) = self.resume.as_ref().map_or((ptr::null(), 0), |text| (text.as_ptr(), text.len()));
        let positions = self.positions.as_ref().map_or(ptr::null(), |positions| positions.as_ptr());
        let lent =
            ManuallyDrop::new(TsBatch { size, array, n_bytes, first, positions, resume, resume_len, read_share });
        // SAFETY: it is not null and has room for so many bytes (above), and holds nothing (the caller); what is copied is not dropped.
        unsafe {
            ptr::copy_nonoverlapping(ptr::from_ref(&*lent).cast(), out.cast::<u8>(), size.min(size_of::<TsBatch>()))
        };
        Ok(())
    }

    /// The other side reads the columns as what it was told that they are: anything else would be read as garbage.
    fn check_columns(&self, batch: &Batch) -> Result<()> {
        let Some(told) = &self.schema else {
            return Err(Error::internal("a batch came before its schema: prepare (or schema) must be called first"));
        };
        let schema = batch.schema();
        if same_columns(told, &schema) {
            return Ok(());
        }
        let types = |schema: &SchemaRef| {
            let types: Vec<_> =
                schema.fields().iter().map(|field| format!("{} {}", field.name(), field.data_type())).collect();
            types.join(", ")
        };
        Err(Error::internal(format!(
            "a batch has the columns ({}) where its schema was said to be ({})",
            types(&schema),
            types(told)
        )))
    }
}

/// Takes over a batch that the other side offers.
///
/// # Safety
/// `batch` is null or points to a `ts_batch` as `transship.h` describes it, whose positions and texts are lent for this call.
pub(super) unsafe fn take(batch: *mut TsBatch, schema: SchemaRef, trust: Trust) -> Result<Batch> {
    // SAFETY: it is not null; its first member is its size.
    let size = if batch.is_null() { 0 } else { unsafe { (*batch).size } };
    if size < TsBatch::FIRST_SIZE {
        return Err(Error::internal("there is no batch: the pointer is null, or its size is not set"));
    }
    // No reference to the whole: of an older library's batch only the first members are there.
    // SAFETY: it has the member (its size says so), and nobody else looks at it during the call.
    let read_share = if size < TsBatch::WITH_READ_SHARE { 0.0 } else { unsafe { (*batch).read_share } };
    // SAFETY: the array may be moved by whoever is offered it.
    let array = ForeignArray::new(schema, unsafe { take_array(&mut (*batch).array) }, trust)?;
    // SAFETY: these members every batch has (above).
    let (n_bytes, first, positions) = unsafe { ((*batch).n_bytes, (*batch).first, (*batch).positions) };
    // SAFETY: as above.
    let (resume, resume_len) = unsafe { ((*batch).resume, (*batch).resume_len) };
    let positions = match positions {
        positions if positions.is_null() => None,
        positions if !positions.is_aligned() => {
            return Err(Error::internal("a malformed batch: its positions are not aligned to 8 bytes"));
        }
        // SAFETY: a position for each row is what `transship.h` asks for.
        positions => Some(unsafe { slice::from_raw_parts(positions, array.len()) }.into()),
    };
    let mut batch = Batch::foreign(array, n_bytes as usize, Origin { first, positions });
    batch.position = match resume {
        resume if resume.is_null() => None,
        // SAFETY: the text is lent for this call.
        resume => Some(unsafe { borrow_json(resume, resume_len, "position of a batch") }?),
    };
    batch.read_share = (read_share > 0.0).then_some(read_share);
    if trust == Trust::Untrusted {
        // Looked into at once, so that whoever made a malformed batch is blamed for it, and not who gets it next.
        batch.records()?;
    }
    Ok(batch)
}
