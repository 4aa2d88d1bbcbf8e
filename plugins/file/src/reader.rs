//! `txtfilereader`: finds the files, offers them as splits, and reads a split batch by batch.
//! Not here: any of the steps in between, which have files of their own.

mod first_records;
mod task;

use std::sync::Arc;

use arrow_schema::SchemaRef;
use serde_json::{Value, json};
use transship_plugin_api::{Error, HostRef, ReadOptions, Reader, ReaderTask, Result, Split, SplitRequest};

use self::task::FileTask;
use crate::config::ReaderConfig;
use crate::find::{self, FoundFile};
use crate::layout::{FirstRecords, Layout};
use crate::source::Piece;
use crate::split::{self, Cutting};

/// Files smaller than this are packed into one split together, up to this size, where there are many.
const PACK_BYTES: u64 = 8 << 20;

/// So many files are worth a split each, whatever their size.
const FEW_FILES: usize = 64;

/// Makes the reader.
pub(crate) fn new(parameter: &Value, host: HostRef) -> Result<Box<dyn Reader>> {
    let config = Arc::new(ReaderConfig::new(parameter)?);
    Ok(Box::new(FileReader { config, host, files: None, next_file: 0, cutting: None, layout: None }))
}

struct FileReader {
    config: Arc<ReaderConfig>,
    host: HostRef,
    /// All files, once they were looked for.
    files: Option<Vec<FoundFile>>,
    next_file: usize,
    /// The file that is being cut into ranges.
    cutting: Option<(FoundFile, Cutting)>,
    layout: Option<(FirstRecords, Arc<Layout>)>,
}

impl Reader for FileReader {
    fn prepare(&mut self) -> Result<Value> {
        self.files()?;
        let (first, _) = self.layout()?;
        serde_json::to_value(first).map_err(|error| Error::internal(error.to_string()))
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
        let mut splits = Vec::new();
        while splits.len() < request.max.max(1) as usize {
            match self.next_split(request.channels)? {
                Some(split) => splits.push(split),
                None => break,
            }
        }
        Ok(splits)
    }

    fn open(&mut self, split: &Split, options: &ReadOptions, host: HostRef) -> Result<Box<dyn ReaderTask>> {
        let (_, layout) = self.layout()?;
        Ok(Box::new(FileTask::new(self.config.clone(), layout, (&split.label, pieces(split)?), options, host)?))
    }
}

impl FileReader {
    fn files(&mut self) -> Result<&[FoundFile]> {
        if self.files.is_none() {
            self.files = Some(find::files(&self.config.paths)?);
        }
        Ok(self.files.as_deref().unwrap_or_default())
    }

    /// The columns; the first time, the first records of the files are read if the job file leaves something open.
    fn layout(&mut self) -> Result<(&FirstRecords, Arc<Layout>)> {
        if self.layout.is_none() {
            let first = if Layout::needs_first_records(&self.config) {
                self.files()?;
                first_records::find(&self.config, self.files.as_deref().unwrap_or_default(), &*self.host)?
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

    fn next_split(&mut self, channels: u32) -> Result<Option<Split>> {
        loop {
            if self.host.is_cancelled() {
                return Err(Error::cancelled());
            }
            if let Some((file, cutting)) = &mut self.cutting {
                let range = cutting.next_range(&|| !self.host.is_cancelled());
                match range.map_err(|error| Piece::whole(&file.path).error(&error))? {
                    Some(piece) => return range_split(piece).map(Some),
                    None if self.host.is_cancelled() => return Err(Error::cancelled()),
                    None => self.cutting = None,
                }
            }
            let Some(file) = self.next_file()? else { return Ok(None) };
            let many = self.files()?.len() > FEW_FILES;
            let config = &self.config;
            if split::can_cut(&file, &config.dialect, config.encoding, config.compression)
                && let Some(size) = split::range_size(&file, config.split_bytes, channels)
            {
                let cutting = Cutting::begin(&file, size, &config.dialect);
                let cutting = cutting.map_err(|error| Piece::whole(&file.path).error(&error))?;
                self.cutting = cutting.map(|cutting| (file, cutting));
                continue;
            }
            let mut size = file.size;
            let mut pack = vec![file];
            while many && let Some(next) = self.next_file()? {
                size += next.size;
                if size > PACK_BYTES {
                    self.next_file -= 1;
                    break;
                }
                pack.push(next);
            }
            return files_split(&pack).map(Some);
        }
    }

    fn next_file(&mut self) -> Result<Option<FoundFile>> {
        let next = self.next_file;
        let file = self.files()?.get(next).cloned();
        self.next_file += usize::from(file.is_some());
        Ok(file)
    }
}

/// A range of a large file.
fn range_split(piece: Piece) -> Result<Split> {
    let end = piece.end.unwrap_or(piece.start);
    let id = format!("{}@{}", piece.path, piece.start);
    let label = format!("{}, bytes {} to {end}", piece.path, piece.start);
    let bytes = end - piece.start;
    split(id, label, bytes, &[piece])
}

/// Whole files.
fn files_split(files: &[FoundFile]) -> Result<Split> {
    let bytes = files.iter().map(|file| file.size).sum();
    let pieces: Vec<Piece> = files.iter().map(|file| Piece::whole(&file.path)).collect();
    match files {
        [one] => split(one.path.clone(), one.path.clone(), bytes, &pieces),
        [first, .., last] => {
            let id = format!("{}+{}", first.path, files.len() - 1);
            let label = format!("{} to {} ({} files, lines counted over all)", first.path, last.path, files.len());
            split(id, label, bytes, &pieces)
        }
        [] => Err(Error::internal("a split without a file")),
    }
}

fn split(id: String, label: String, bytes: u64, pieces: &[Piece]) -> Result<Split> {
    let mut split = Split::new(id, label, json!({ "pieces": pieces }));
    split.unit = "line".into();
    split.bytes = Some(bytes);
    Ok(split)
}

/// The pieces that a split was made of.
fn pieces(split: &Split) -> Result<Vec<Piece>> {
    let pieces = split.detail.get("pieces").cloned().unwrap_or_default();
    serde_json::from_value(pieces)
        .map_err(|error| Error::internal(format!("the split {} was not made by this reader: {error}", split.id)))
}
