//! The transformer: it passes on, drops and holds back.

use arrow_schema::SchemaRef;
use serde_json::Value;
use transship_plugin_api::{Batch, HostRef, Params, Result, Transformer};

use crate::fault::Faults;
use crate::journal::Journal;
use crate::reader::log_everywhere;
use crate::table;

struct FaultyTransformer {
    host: HostRef,
    drop_every: Option<u64>,
    dirty_every: Option<u64>,
    hold_back: bool,
    log: Option<String>,
    faults: Faults,
    journal: Journal,
    passed: u64,
    held: Vec<Batch>,
}

pub(crate) fn new(parameter: &Value, host: HostRef) -> Result<Box<dyn Transformer>> {
    let params = Params::new(parameter, "parameter")?;
    let transformer = FaultyTransformer {
        host,
        drop_every: params.whole("dropEvery")?,
        dirty_every: params.whole("dirtyEvery")?,
        hold_back: params.truth("holdBack")?.unwrap_or(false),
        log: params.text("log")?,
        faults: Faults::read(&params)?,
        journal: Journal::read(&params)?,
        passed: 0,
        held: Vec::new(),
    };
    log_everywhere(transformer.log.as_deref());
    transformer.step("init")?;
    Ok(Box::new(transformer))
}

impl FaultyTransformer {
    fn step(&self, call: &str) -> Result<()> {
        self.journal.note(format!("transformer {call}"));
        self.faults.at_record(call, self.host.as_ref(), self.passed, None)
    }
}

impl Transformer for FaultyTransformer {
    fn schema(&mut self, input: SchemaRef) -> Result<SchemaRef> {
        self.step("schema")?;
        Ok(input)
    }

    fn push(&mut self, mut batch: Batch, out: &mut Vec<Batch>) -> Result<()> {
        log_everywhere(self.log.as_deref());
        self.faults.at_record("push", self.host.as_ref(), self.passed, None)?;
        let ids = table::ids(&mut batch)?;
        let mut kept = Vec::new();
        for row in 0..ids.len() {
            self.passed += 1;
            let falls_on = |every: Option<u64>| every.is_some_and(|every| self.passed.is_multiple_of(every));
            if falls_on(self.dirty_every) {
                batch.dirty(self.host.as_ref(), row, Some(0), "the transformer does not like it")?;
            } else if !falls_on(self.drop_every) {
                kept.push(row);
            }
        }
        let kept = if kept.len() == ids.len() { vec![batch] } else { single_rows(&mut batch, &kept)? };
        if self.hold_back {
            self.held.extend(kept)
        } else {
            out.extend(kept)
        }
        Ok(())
    }

    fn flush(&mut self, out: &mut Vec<Batch>) -> Result<()> {
        self.step("flush")?;
        out.append(&mut self.held);
        Ok(())
    }
}

impl Drop for FaultyTransformer {
    fn drop(&mut self) {
        let _ = self.step("release");
    }
}

/// The rows as batches of one, each with its own origin.
fn single_rows(batch: &mut Batch, rows: &[usize]) -> Result<Vec<Batch>> {
    rows.iter().map(|row| batch.slice(*row, 1)).collect()
}
