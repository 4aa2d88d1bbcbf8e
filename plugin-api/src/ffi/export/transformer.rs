//! `Transformer` as `ts_transformer`.

use std::collections::VecDeque;
use std::mem::size_of;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use arrow_schema::ffi::FFI_ArrowSchema;

use super::object::{Exported, release, with};
use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::ffi::abi::{TS_ITEM_BATCH, TS_ITEM_END, TsBatch, TsError, TsTransformer, TsTransformerTable};
use crate::ffi::arrow::{Trust, import_schema, put_schema, take_schema};
use crate::ffi::batch::{self, Outgoing};
use crate::transformer::Transformer;

/// A transformer, what it was told of its input, and what it has given that the engine has not pulled yet.
pub(super) struct ExportedTransformer {
    transformer: Box<dyn Transformer>,
    input: Option<SchemaRef>,
    ready: VecDeque<Batch>,
    outgoing: Outgoing,
}

impl ExportedTransformer {
    pub(super) fn new(transformer: Box<dyn Transformer>) -> ExportedTransformer {
        ExportedTransformer { transformer, input: None, ready: VecDeque::new(), outgoing: Outgoing::default() }
    }

    fn collect(&mut self, call: impl FnOnce(&mut dyn Transformer, &mut Vec<Batch>) -> Result<()>) -> Result<()> {
        let mut out = Vec::new();
        call(&mut *self.transformer, &mut out)?;
        self.ready.extend(out);
        Ok(())
    }
}

impl Exported for TsTransformerTable {
    type Value = ExportedTransformer;
    const TABLE: &'static TsTransformerTable = &TsTransformerTable {
        size: size_of::<TsTransformerTable>(),
        schema: Some(schema),
        push: Some(push),
        flush: Some(flush),
        pull: Some(pull),
        release: Some(release),
    };
}

unsafe extern "C" fn schema(
    this: *mut TsTransformer,
    input: *mut FFI_ArrowSchema,
    output: *mut FFI_ArrowSchema,
    error: *mut TsError,
) -> i32 {
    let call = |exported: &mut ExportedTransformer| {
        // SAFETY: the engine keeps to `transship.h`.
        let Some(input) = (unsafe { take_schema(input) }) else {
            return Err(Error::internal("a transformer was asked for its schema without one that goes in"));
        };
        let input = import_schema(input)?;
        let schema = exported.transformer.schema(Arc::clone(&input))?;
        // SAFETY: as above.
        unsafe { put_schema(output, &schema) }?;
        exported.input = Some(input);
        exported.outgoing.expect(schema);
        Ok(())
    };
    // SAFETY: as above.
    unsafe { with(this, error, call) }
}

unsafe extern "C" fn push(this: *mut TsTransformer, batch: *mut TsBatch, error: *mut TsError) -> i32 {
    let call = |exported: &mut ExportedTransformer| {
        let Some(input) = exported.input.clone() else {
            return Err(Error::internal("a batch came before its schema: schema must be called first"));
        };
        // The engine vouches for what it hands on: it has checked what comes from libraries that are not trusted.
        // SAFETY: the engine keeps to `transship.h`.
        let batch = unsafe { batch::take(batch, input, Trust::Trusted) }?;
        exported.collect(|transformer, out| transformer.push(batch, out))
    };
    // SAFETY: as above.
    unsafe { with(this, error, call) }
}

unsafe extern "C" fn flush(this: *mut TsTransformer, error: *mut TsError) -> i32 {
    let call = |exported: &mut ExportedTransformer| exported.collect(|transformer, out| transformer.flush(out));
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { with(this, error, call) }
}

unsafe extern "C" fn pull(this: *mut TsTransformer, kind: *mut i32, batch: *mut TsBatch, error: *mut TsError) -> i32 {
    let call = |exported: &mut ExportedTransformer| {
        if kind.is_null() {
            return Err(Error::internal("there is no place for an item: the pointer is null"));
        }
        let found = match exported.ready.pop_front() {
            Some(item) => {
                // SAFETY: the engine keeps to `transship.h`.
                unsafe { exported.outgoing.put(item, batch) }?;
                TS_ITEM_BATCH
            }
            None => TS_ITEM_END,
        };
        // SAFETY: it is not null (above).
        unsafe { kind.write(found) };
        Ok(())
    };
    // SAFETY: the engine keeps to `transship.h`.
    unsafe { with(this, error, call) }
}
