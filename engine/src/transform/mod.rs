//! The transformers between a reader and a channel: they are run one after another on the reader's thread.

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arrow_schema::SchemaRef;
use transship_plugin_api::batch::byte_size;
use transship_plugin_api::dates::ColumnFormats;
use transship_plugin_api::ffi::import::LoadedPlugin;
use transship_plugin_api::{Batch, HostRef, Result};

use crate::cancel::Hook;
use crate::config::Component;
use crate::host::TaskHost;
use crate::metrics::StageMetrics;

mod bounds;
mod build;
mod builtin;
mod cause;
mod comparison;
mod condition;
mod dedup;
mod digest;
mod filter;
mod key_columns;
mod lookup;
mod number;
mod order;
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
pub use lookup::{SharedLookup, asked};
pub use order::OrderSetting;
pub use step::{AttemptId, Step};

use dedup::Window;
use step::Plugged;

/// What a job file says of one transformer: each attempt of a task makes its own from it.
pub struct Maker<'a> {
    component: &'a Component,
    /// `None`: it is built in.
    plugin: Option<LoadedPlugin>,
    formats: Arc<ColumnFormats>,
    shared: Shared,
}

/// What all steps of one maker share, once the first of them was made.
#[derive(Default)]
struct Shared {
    window: OnceLock<Arc<Window>>,
    order: OnceLock<Arc<OrderSetting>>,
    lookup: OnceLock<Arc<SharedLookup>>,
}

impl<'a> Maker<'a> {
    /// A transformer of this plugin, or a built-in one.
    pub fn new(component: &'a Component, plugin: Option<LoadedPlugin>, formats: Arc<ColumnFormats>) -> Maker<'a> {
        Maker { component, plugin, formats, shared: Shared::default() }
    }

    /// Whether it is a `lookup` transformer, which needs something to ask.
    pub fn asks_a_lookup(&self) -> bool {
        self.plugin.is_none() && self.name() == lookup::NAME
    }

    /// A `lookup` transformer that asks this.
    pub fn asking(self, lookup: SharedLookup) -> Maker<'a> {
        // It is new, so nothing can be there yet.
        let _ = self.shared.lookup.set(Arc::new(lookup));
        self
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
            None if name == order::ORDER => order::make(parameter, &self.shared.order),
            None if name == order::MERGE => Ok(order::make_merge()),
            None if name == lookup::NAME => lookup::make(parameter, self.shared.lookup.get(), host),
            None if name == dedup::NAME => dedup::make(parameter, &self.shared.window, host),
            None => builtin::make(name, parameter, &self.formats, host),
        }
    }

    /// What its steps have counted and measured together, up to now, and how long that took lately (or, `ever`, in all); `None`: they do not.
    pub fn metrics(&self, ever: bool) -> Option<StageMetrics> {
        let (stage, place) = (self.name().to_string(), self.place().to_string());
        if let Some(lookup) = self.shared.lookup.get() {
            let (setting, figures, remarks) = (lookup.setting(), lookup.figures(), lookup.remarks());
            let latencies = lookup.latencies(ever);
            return Some(StageMetrics { stage, place, setting, figures, latencies, remarks });
        }
        let window = self.shared.window.get()?;
        let (setting, figures, remarks) = (window.setting(), window.figures(), window.remarks());
        Some(StageMetrics { stage, place, setting, figures, latencies: Vec::new(), remarks })
    }

    /// Whether there is anything to tell of it beside the records that pass.
    pub fn measures(&self) -> bool {
        self.plugin.is_none() && [dedup::NAME, lookup::NAME, order::ORDER].contains(&self.name())
    }

    /// How it keeps records in order, if it is an `order` that was made once.
    pub fn order(&self) -> Option<&Arc<OrderSetting>> {
        self.shared.order.get()
    }

    /// Whether it ends the lanes of an `order`.
    pub fn is_merge(&self) -> bool {
        self.plugin.is_none() && self.name() == order::MERGE
    }

    /// Whether its steps do their work only where they share the memory of one process.
    pub fn needs_one_process(&self) -> bool {
        self.plugin.is_none() && [dedup::NAME, order::ORDER].contains(&self.name())
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
    /// Whether each is told first that nothing more will come.
    is_ending: bool,
}

struct Stage {
    name: String,
    transformer: Box<dyn Step>,
    host: Arc<TaskHost>,
    /// Whose records it was told that it works on.
    serves: AttemptId,
    taken: u64,
    given: u64,
    /// How long it has worked, and waited for others.
    time: Duration,
    /// Wakes the transformer when the attempt is given up.
    wake: Option<Hook>,
}

/// What became of the records that went through a chain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub added: u64,
    pub filtered: u64,
    pub duplicates: u64,
    pub dirty: u64,
}

impl Chain {
    /// Adds a transformer at the end; `host` is the one it reports to.
    pub fn add(&mut self, name: impl Into<String>, mut transformer: Box<dyn Step>, host: Arc<TaskHost>) {
        let serves = AttemptId::of(&host.sources.now());
        transformer.begin(serves, &host.dirty);
        let wake = transformer.cancel_handle().map(|wake| host.cancel.on_cancel(move || wake()));
        self.stages.push(Stage {
            name: name.into(),
            transformer,
            host,
            serves,
            taken: 0,
            given: 0,
            time: Duration::ZERO,
            wake,
        });
    }

    /// Whether records pass untouched.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// How long lookups have worked, and waited for answers.
    pub fn time_in_lookups(&self) -> Duration {
        self.stages.iter().filter(|stage| stage.name == lookup::NAME).map(|stage| stage.time).sum()
    }

    /// Whether one of them may wait for somebody else.
    pub fn may_wait(&self) -> bool {
        self.stages.iter().any(|stage| stage.wake.is_some())
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

    /// Tells every transformer that nothing more will be put in, and has it give what it holds back.
    pub fn put_end(&mut self) {
        self.is_ending = true;
        self.put_flush();
    }

    /// Takes what has become ready in transformers that wait for others; it comes out by [`Chain::next_batch`]. Only when that has
    /// nothing left.
    pub fn poll(&mut self) -> Result<()> {
        for index in 0..self.stages.len() {
            let ready = self.stages[index].poll()?;
            // What a later stage gives comes before what is on its way to it.
            self.pass_on(index + 1, ready);
        }
        Ok(())
    }

    /// How soon [`Chain::poll`] is worth a call, if nothing is put in before; `None`: it never is.
    pub fn patience(&mut self) -> Option<Duration> {
        self.stages.iter_mut().filter_map(|stage| stage.transformer.patience()).min()
    }

    /// The next batch that comes out at the end, in the order of the records; `None`: more has to be put in.
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        loop {
            let Some((index, batch)) = self.waiting.pop() else {
                let Some(index) = self.to_flush.next() else { return Ok(None) };
                if self.is_ending {
                    // What those before it held back has come to it.
                    self.stages[index].transformer.end();
                }
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

    /// Tells the transformers that the attempt has come to nothing.
    pub fn abandon(&mut self) {
        self.stages.iter_mut().for_each(|stage| stage.transformer.abandon());
    }

    /// What became of the records so far. Exact once the chain was flushed.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for stage in &self.stages {
            let (dirty, duplicates) = (stage.host.dirty_count(), stage.transformer.duplicates());
            let left_out = stage.transformer.left_out();
            let accounted = stage.given + dirty + duplicates + left_out;
            tally.dirty += dirty;
            tally.duplicates += duplicates;
            tally.added += accounted.saturating_sub(stage.taken);
            tally.filtered += left_out + stage.taken.saturating_sub(accounted);
        }
        tally
    }
}

impl Stage {
    fn push(&mut self, batch: Batch) -> Result<Vec<Batch>> {
        let mut passed = Vec::with_capacity(1);
        let source = AttemptId::of(&self.host.sources.now());
        if self.serves != source {
            // In a lane, records of one task follow those of another.
            self.serves = source;
            self.transformer.begin(source, &self.host.dirty);
        }
        self.taken += batch.num_rows() as u64;
        self.work(|transformer| transformer.push(batch, &mut passed))?;
        self.given += rows(&passed);
        Ok(passed)
    }

    fn poll(&mut self) -> Result<Vec<Batch>> {
        let mut ready = Vec::new();
        self.work(|transformer| transformer.poll(&mut ready))?;
        self.given += rows(&ready);
        Ok(ready)
    }

    fn flush(&mut self) -> Result<Vec<Batch>> {
        let mut held = Vec::new();
        self.work(|transformer| transformer.flush(&mut held))?;
        self.given += rows(&held);
        Ok(held)
    }

    fn work(&mut self, work: impl FnOnce(&mut dyn Step) -> Result<()>) -> Result<()> {
        let started = Instant::now();
        let done = work(self.transformer.as_mut());
        self.time += started.elapsed();
        done.map_err(|error| error.context(&self.name))
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
