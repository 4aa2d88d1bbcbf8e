//! `ts_transformer` as `Transformer`.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use arrow_schema::ffi::FFI_ArrowSchema;

use super::object::{Object, call};
use crate::batch::Batch;
use crate::error::{Error, Result};
use crate::ffi::abi::{TS_ITEM_BATCH, TS_ITEM_END, TsBatch, TsTransformerTable};
use crate::ffi::arrow::{export_schema, import_schema};
use crate::ffi::batch::{self, Outgoing};
use crate::transformer::Transformer;

/// A transformer in a plugin library.
pub(super) struct ImportedTransformer {
    object: Object<TsTransformerTable>,
    outgoing: Outgoing,
    output: Option<SchemaRef>,
}

impl ImportedTransformer {
    pub(super) fn new(object: Object<TsTransformerTable>) -> ImportedTransformer {
        ImportedTransformer { object, outgoing: Outgoing::default(), output: None }
    }

    /// Appends to `out` what is ready.
    fn pull(&mut self, out: &mut Vec<Batch>) -> Result<()> {
        let Some(schema) = self.output.clone() else {
            return Err(Error::internal("a batch came before its schema: schema must be called first"));
        };
        loop {
            let (mut kind, mut offered) = (TS_ITEM_END, TsBatch::empty());
            call!(self.object, TsTransformerTable::pull, &mut kind, &mut offered)?;
            match kind {
                TS_ITEM_BATCH => {
                    // SAFETY: the plugin has filled it in, and what it lent is valid until the next call.
                    let batch = unsafe { batch::take(&mut offered, Arc::clone(&schema), self.object.trust()) }?;
                    out.push(batch);
                }
                TS_ITEM_END => return Ok(()),
                other => {
                    return Err(Error::internal(format!(
                        "a transformer gave an item of kind {other}: only batches and the end are its to give"
                    )));
                }
            }
        }
    }
}

impl Transformer for ImportedTransformer {
    fn schema(&mut self, input: SchemaRef) -> Result<SchemaRef> {
        let mut offered = export_schema(&input)?;
        let mut output = FFI_ArrowSchema::empty();
        call!(self.object, TsTransformerTable::schema, &mut offered, &mut output)?;
        let output = import_schema(output)?;
        self.outgoing.expect(input);
        self.output = Some(Arc::clone(&output));
        Ok(output)
    }

    fn push(&mut self, batch: Batch, out: &mut Vec<Batch>) -> Result<()> {
        let mut offered = TsBatch::empty();
        // SAFETY: it is a place that holds nothing.
        unsafe { self.outgoing.put(batch, &mut offered) }?;
        call!(self.object, TsTransformerTable::push, &mut offered)?;
        self.pull(out)
    }

    fn flush(&mut self, out: &mut Vec<Batch>) -> Result<()> {
        call!(self.object, TsTransformerTable::flush)?;
        self.pull(out)
    }
}
