//! The transformers between a reader and a channel: they are run one after another on the reader's thread.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use transship_plugin_api::dates::ColumnFormats;
use transship_plugin_api::ffi::import::LoadedPlugin;
use transship_plugin_api::{Batch, HostRef, Result, Transformer};

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
#[cfg(test)]
mod tests;
mod text;
mod units;

pub use builtin::{components, is_built_in};

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

    /// Its name in the job file.
    pub fn name(&self) -> &'a str {
        &self.component.name
    }

    /// Makes one, whose dirty records go to this host.
    pub fn make(&self, host: HostRef) -> Result<Box<dyn Transformer>> {
        let Component { name, parameter, .. } = self.component;
        match &self.plugin {
            Some(plugin) => plugin.transformer(name, parameter, host),
            None => builtin::make(name, parameter, &self.formats, host),
        }
    }
}

/// The transformers of one attempt, in the order of the job file.
#[derive(Default)]
pub struct Chain {
    stages: Vec<Stage>,
}

struct Stage {
    name: String,
    transformer: Box<dyn Transformer>,
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
    pub fn add(&mut self, name: impl Into<String>, transformer: Box<dyn Transformer>, host: Arc<TaskHost>) {
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

    /// Sends a batch through; what comes out at the end is appended to `out`.
    pub fn push(&mut self, batch: Batch, out: &mut Vec<Batch>) -> Result<()> {
        through(&mut self.stages, batch, out)
    }

    /// Has every transformer give what it holds back.
    pub fn flush(&mut self, out: &mut Vec<Batch>) -> Result<()> {
        for index in 0..self.stages.len() {
            let (stage, rest) = self.stages[index..].split_first_mut().expect("the index is within the stages");
            let mut held = Vec::new();
            stage.transformer.flush(&mut held).map_err(|error| error.context(&stage.name))?;
            stage.given += rows(&held);
            for batch in held {
                through(rest, batch, out)?;
            }
        }
        Ok(())
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

fn through(stages: &mut [Stage], batch: Batch, out: &mut Vec<Batch>) -> Result<()> {
    let Some((stage, rest)) = stages.split_first_mut() else {
        out.push(batch);
        return Ok(());
    };
    let mut passed = Vec::with_capacity(1);
    stage.taken += batch.num_rows() as u64;
    stage.transformer.push(batch, &mut passed).map_err(|error| error.context(&stage.name))?;
    stage.given += rows(&passed);
    passed.into_iter().try_for_each(|batch| through(rest, batch, out))
}

fn rows(batches: &[Batch]) -> u64 {
    batches.iter().map(|batch| batch.num_rows() as u64).sum()
}
