//! `txtfilereader`: finds the files, offers them as splits, and reads a split batch by batch.
//! Not here: any of the steps in between, which have files of their own.

mod first_records;
mod task;

use std::sync::Arc;

use arrow_schema::SchemaRef;
use serde_json::Value;
use transship_plugin_api::{Error, HostRef, Listing, ReadOptions, Reader, ReaderTask, Result, Split, SplitRequest};

use self::task::FileTask;
use crate::config::ReaderConfig;
use crate::find::{FirstFiles, Places, Walk};
use crate::layout::{FirstRecords, Layout};
use crate::split::{self, Listed, Walker};

/// More than so many do not make a listing faster.
const MOST_WALKERS: usize = 16;

/// Makes the reader.
pub(crate) fn new(parameter: &Value, host: HostRef) -> Result<Box<dyn Reader>> {
    let config = Arc::new(ReaderConfig::new(parameter)?);
    Ok(Box::new(FileReader { config, host, layout: None, begun: None, listed: None, walkers: 0, walker: None }))
}

struct FileReader {
    config: Arc<ReaderConfig>,
    host: HostRef,
    layout: Option<(FirstRecords, Arc<Layout>)>,
    /// Where files are, and the walk that was begun for the layout.
    begun: Option<(Arc<Places>, Walk)>,
    /// The listing of all files, once it was asked for, and how many were given away that walk for it.
    listed: Option<Arc<Listed>>,
    walkers: usize,
    /// The one that lists where nobody else does.
    walker: Option<Walker>,
}

impl Reader for FileReader {
    fn prepare(&mut self) -> Result<Value> {
        let (first, _) = self.layout()?;
        let state = serde_json::to_value(first).map_err(|error| Error::internal(error.to_string()))?;
        if self.begun.is_none() {
            // Nothing had to be looked up in them, but that there is none is better said now.
            self.begin(|files| files.next().map(|_| ()))?;
        }
        Ok(state)
    }

    fn attach(&mut self, state: &Value) -> Result<()> {
        let first: FirstRecords = serde_json::from_value(state.clone())
            .map_err(|error| Error::internal(format!("a state that no file reader wrote: {error}")))?;
        let layout = Arc::new(Layout::new(&self.config, &first));
        self.layout = Some((first, layout));
        Ok(())
    }

    fn schema(&mut self) -> Result<Option<SchemaRef>> {
        let (_, layout) = self.layout()?;
        Ok(Some(layout.schema.clone()))
    }

    fn splits(&mut self, request: &SplitRequest) -> Result<Vec<Split>> {
        if self.walker.is_none() {
            self.walker = Some(self.listed()?.walker());
        }
        match &mut self.walker {
            Some(walker) => walker.splits(request),
            None => Ok(Vec::new()),
        }
    }

    fn listing(&mut self, _request: &SplitRequest) -> Result<Option<Box<dyn Listing>>> {
        let listed = self.listed()?;
        // Files that the job names itself need not be listed by several.
        let most = if listed.has_folders() { MOST_WALKERS } else { 1 };
        if self.walkers > 0 && (self.walkers >= most || listed.is_over()) {
            return Ok(None);
        }
        self.walkers += 1;
        Ok(Some(Box::new(listed.walker())))
    }

    fn open(&mut self, split: &Split, options: &ReadOptions, host: HostRef) -> Result<Box<dyn ReaderTask>> {
        let (_, layout) = self.layout()?;
        let pieces = split::pieces(split)?;
        Ok(Box::new(FileTask::new(self.config.clone(), layout, (split, pieces), options, host)?))
    }
}

impl FileReader {
    /// The columns; the first time, the first records of the files are read if the job file leaves something open.
    fn layout(&mut self) -> Result<(&FirstRecords, Arc<Layout>)> {
        if self.layout.is_none() {
            let first = if Layout::needs_first_records(&self.config) {
                let (config, host) = (self.config.clone(), self.host.clone());
                self.begin(|files| first_records::find(&config, files, &*host))?
            } else {
                FirstRecords::default()
            };
            let layout = Arc::new(Layout::new(&self.config, &first));
            self.layout = Some((first, layout));
        }
        match &self.layout {
            Some((first, layout)) => Ok((first, layout.clone())),
            None => Err(Error::internal("the layout was made and is not there")),
        }
    }

    /// Begins the walk with a look at as many of the first files as this needs.
    fn begin<T>(&mut self, look: impl FnOnce(&mut FirstFiles) -> Result<T>) -> Result<T> {
        let places = Arc::new(Places::of(&self.config.paths)?);
        let mut files = FirstFiles::of(places.clone());
        let found = look(&mut files)?;
        if files.are_none() {
            return Err(places.nothing_found());
        }
        self.begun = Some((places, files.walk_again()));
        Ok(found)
    }

    /// The listing of all files.
    fn listed(&mut self) -> Result<Arc<Listed>> {
        if let Some(listed) = &self.listed {
            return Ok(listed.clone());
        }
        let (places, walk) = match self.begun.take() {
            Some(begun) => begun,
            None => {
                let places = Arc::new(Places::of(&self.config.paths)?);
                (places.clone(), Walk::new(places))
            }
        };
        let listed = Listed::new(self.config.clone(), self.host.clone(), places, walk);
        self.listed = Some(listed.clone());
        Ok(listed)
    }
}
