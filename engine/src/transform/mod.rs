//! The transformers between a reader and a channel: they are run one after another on the reader's thread.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use transship_plugin_api::batch::byte_size;
use transship_plugin_api::dates::ColumnFormats;
use transship_plugin_api::ffi::import::LoadedPlugin;
use transship_plugin_api::{Batch, HostRef, Result};

use crate::config::Component;
use crate::host::TaskHost;

mod bounds;
mod build;
mod builtin;
mod cause;
mod comparison;
mod condition;
mod digest;
mod filter;
mod number;
mod pad;
mod paras;
mod pattern;
mod pieces;
mod rewrite;
mod select;
mod step;
#[cfg(test)]
mod tests;
mod text;
mod units;

pub use builtin::{components, is_built_in};
pub use step::Step;

use step::Plugged;

/// What a job file says of one transformer: each attempt of a task makes its own from it.
pub struct Maker<'a> {
    component: &'a Component,
    /// `None`: it is built in.
    plugin: Option<LoadedPlugin>,
    formats: Arc<ColumnFormats>,
}

impl<'a> Maker<'a> {
    /// A transformer of this plugin, or a built-in one.
    pub fn new(component: &'a Component, plugin: Option<LoadedPlugin>, formats: Arc<ColumnFormats>) -> Maker<'a> {
        Maker { component, plugin, formats }
    }

    /// Where it stands in the job file: `job.content[0].transformer[0]`.
    pub fn place(&self) -> &'a str {
        &self.component.place
    }

    /// Its name in the job file.
    pub fn name(&self) -> &'a str {
        &self.component.name
    }

    /// Makes one, whose dirty records go to this host.
    pub fn make(&self, host: HostRef) -> Result<Box<dyn Step>> {
        let Component { name, parameter, .. } = self.component;
        match &self.plugin {
            Some(plugin) => Ok(Box::new(Plugged(plugin.transformer(name, parameter, host)?))),
            None => builtin::make(name, parameter, &self.formats, host),
        }
    }
}

/// The transformers of one attempt, in the order of the job file.
///
/// What is put in comes out by [`Chain::next_batch`], batch by batch. A batch goes through all stages before the next one begins, and
/// one that would grow too much goes in pieces: so few batches exist at once, however much the transformers add.
#[derive(Default)]
pub struct Chain {
    stages: Vec<Stage>,
    /// Batches on their way, each with the stage that it comes to next. The last is the first to go on.
    waiting: Vec<(usize, Batch)>,
    /// The stages that have yet to give what they hold back, once nothing is waiting.
    to_flush: Range<usize>,
}

struct Stage {
    name: String,
    transformer: Box<dyn Step>,
    host: Arc<TaskHost>,
    taken: u64,
    given: u64,
}

/// What became of the records that went through a chain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub added: u64,
    pub filtered: u64,
    pub dirty: u64,
}

impl Chain {
    /// Adds a transformer at the end; `host` is the one it reports to.
    pub fn add(&mut self, name: impl Into<String>, transformer: Box<dyn Step>, host: Arc<TaskHost>) {
        self.stages.push(Stage { name: name.into(), transformer, host, taken: 0, given: 0 });
    }

    /// Whether records pass untouched.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// The schema that comes out at the end.
    pub fn schema(&mut self, mut schema: SchemaRef) -> Result<SchemaRef> {
        for stage in &mut self.stages {
            schema = stage.transformer.schema(schema).map_err(|error| error.context(&stage.name))?;
        }
        Ok(schema)
    }

    /// Takes a batch in.
    pub fn put(&mut self, batch: Batch) {
        self.waiting.insert(0, (0, batch));
    }

    /// Has every transformer give what it holds back, behind all that was put in.
    pub fn put_flush(&mut self) {
        self.to_flush = 0..self.stages.len();
    }

    /// The next batch that comes out at the end, in the order of the records; `None`: more has to be put in.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        loop {
            let Some((index, batch)) = self.waiting.pop() else {
                let Some(index) = self.to_flush.next() else { return Ok(None) };
                let held = self.stages[index].flush()?;
                self.pass_on(index + 1, held);
                continue;
            };
            let Some(stage) = self.stages.get_mut(index) else { return Ok(Some(batch)) };
            let at_once = stage.transformer.records_at_once(&batch).max(1);
            if at_once < batch.num_rows() {
                // Records differ in size: each piece is asked about again.
                let pieces = split(batch, at_once)?;
                self.pass_on(index, pieces.into());
            } else {
                let passed = stage.push(batch)?;
                self.pass_on(index + 1, passed);
            }
        }
    }

    /// Has batches wait for a stage, before all that waits already.
    fn pass_on(&mut self, index: usize, batches: Vec<Batch>) {
        self.waiting.extend(batches.into_iter().rev().map(|batch| (index, batch)));
    }

    /// What became of the records so far. Exact once the chain was flushed.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for stage in &self.stages {
            let dirty = stage.host.dirty_count();
            let accounted = stage.given + dirty;
            tally.dirty += dirty;
            tally.added += accounted.saturating_sub(stage.taken);
            tally.filtered += stage.taken.saturating_sub(accounted);
        }
        tally
    }
}

impl Stage {
    fn push(&mut self, batch: Batch) -> Result<Vec<Batch>> {
        let mut passed = Vec::with_capacity(1);
        self.taken += batch.num_rows() as u64;
        self.transformer.push(batch, &mut passed).map_err(|error| error.context(&self.name))?;
        self.given += rows(&passed);
        Ok(passed)
    }

    fn flush(&mut self) -> Result<Vec<Batch>> {
        let mut held = Vec::new();
        self.transformer.flush(&mut held).map_err(|error| error.context(&self.name))?;
        self.given += rows(&held);
        Ok(held)
    }
}

/// The first records of a batch, and the others. Only these end where the source could go on.
fn split(mut batch: Batch, first: usize) -> Result<[Batch; 2]> {
    let rest = batch.num_rows() - first;
    let mut pieces = [batch.slice(0, first)?, batch.slice(first, rest)?];
    for piece in &mut pieces {
        piece.bytes = byte_size(piece.records()?);
    }
    Ok(pieces)
}

fn rows(batches: &[Batch]) -> u64 {
    batches.iter().map(|batch| batch.num_rows() as u64).sum()
}
