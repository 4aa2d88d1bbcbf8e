//! `txtfilewriter`: each task writes a file aside; when the job commits, all get their names at once.
//! Not here: what a task does (`writer/task`), what its file is called (`writer/names`), what killed runs left
//! (`writer/leftovers`).

mod leftovers;
mod names;
mod task;

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use transship_plugin_api::{
    CommitClass, Error, HostRef, Report, Result, Run, TaskInfo, Writer, WriterInfo, WriterTask,
};
use uuid::Uuid;

use self::leftovers::Claim;
pub(crate) use self::names::ROOM_FOR_NAMES;
use self::task::FileWriterTask;
use crate::config::{WriteMode, WriterConfig};
use crate::find::UNFINISHED;
use crate::output::failed;

/// Makes the writer.
pub(crate) fn new(parameter: &Value, _host: HostRef) -> Result<Box<dyn Writer>> {
    let config = Arc::new(WriterConfig::new(parameter)?);
    Ok(Box::new(FileWriter { config, state: None, claim: None, given: Vec::new(), old_files_are_going: false }))
}

struct FileWriter {
    config: Arc<WriterConfig>,
    state: Option<State>,
    /// Shows other runs that this one is alive.
    claim: Option<Claim>,
    /// The names that files got from this object's own commits: only these can be taken back, because a file that had
    /// its name before may have been committed long ago.
    given: Vec<String>,
    /// From here on the job can only be completed: what was there before is no longer complete.
    old_files_are_going: bool,
}

/// What every process of a run must know.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct State {
    run: String,
    /// The names of the files that go when the job commits.
    replaced: Vec<String>,
}

/// What a task tells of its file: the name it has, and the one it will get.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Written {
    unfinished: String,
    file: String,
}

impl Writer for FileWriter {
    fn info(&self) -> WriterInfo {
        let folder = std::path::absolute(&self.config.directory).unwrap_or_else(|_| self.config.directory.clone());
        WriterInfo {
            commit: CommitClass::Atomic,
            max_open_tasks: 0,
            target: format!("file:{}", folder.join(&self.config.file_name).display()),
            idempotent: false,
        }
    }

    fn plan(&self) -> Vec<String> {
        let WriterConfig { directory, file_name, suffix, mode, .. } = &*self.config;
        let mut lines = vec![format!("write a file {}/{file_name}__<id>{suffix} for each task", directory.display())];
        match mode {
            WriteMode::Truncate => {
                let folder = directory.display();
                lines.push(format!(
                    "when all are written, remove the older {folder}/{file_name}{suffix} and \
                     {folder}/{file_name}__<id>{suffix}"
                ))
            }
            WriteMode::Append => {}
            WriteMode::NonConflict => {
                lines.insert(0, format!("refuse if there is any {}/{file_name}*", directory.display()))
            }
        }
        lines
    }

    fn prepare(&mut self, run: &Run, _schema: Option<SchemaRef>) -> Result<Value> {
        let directory = &self.config.directory;
        if directory.exists() && !directory.is_dir() {
            return Err(Error::config(format!("parameter.path is {}, which is no folder", directory.display())));
        }
        refuse_links_to_nowhere(directory)?;
        fs::create_dir_all(directory).map_err(|error| failed("cannot make the folder", directory, &error))?;
        leftovers::clear_away(directory)?;
        let state = State { run: plain_id(&run.id), replaced: self.files_in_the_way()? };
        self.claim = Claim::take(directory, &state.run)?;
        let value = serde_json::to_value(&state).map_err(|error| Error::internal(error.to_string()))?;
        self.state = Some(state);
        Ok(value)
    }

    fn attach(&mut self, state: &Value) -> Result<()> {
        let state = serde_json::from_value(state.clone());
        self.state =
            Some(state.map_err(|error| Error::internal(format!("a state that no file writer wrote: {error}")))?);
        Ok(())
    }

    fn open(&mut self, task: &TaskInfo, schema: SchemaRef, host: HostRef) -> Result<Box<dyn WriterTask>> {
        let names = Written {
            unfinished: leftovers::name_of(&self.state()?.run, &plain_id(&task.attempt)),
            file: names::of_task(&self.config, &plain_id(&task.task)),
        };
        Ok(Box::new(FileWriterTask::new(self.config.clone(), names, schema, host)))
    }

    fn commit(&mut self, reports: &[Report]) -> Result<()> {
        for written in written(reports)? {
            self.give_name(&written)?;
        }
        self.old_files_are_going = true;
        let mut removed = 0;
        for name in &self.state()?.replaced {
            removed += u64::from(remove(&self.config.directory.join(name))?);
        }
        if removed > 0 {
            log::info!(
                "removed {removed} older file(s) of {}",
                self.config.directory.join(&self.config.file_name).display()
            );
        }
        self.remove_unfinished()?;
        self.claim = None;
        sync_directory(&self.config.directory)
    }

    fn abort(&mut self, reports: &[Report]) -> Result<()> {
        for written in written(reports)? {
            remove(&self.config.directory.join(&written.unfinished))?;
        }
        for name in std::mem::take(&mut self.given) {
            if self.old_files_are_going {
                log::warn!("{name} stays: the files that it replaces are not all there any more");
            } else {
                remove(&self.config.directory.join(&name))?;
            }
        }
        if self.state.is_some() {
            self.remove_unfinished()?;
        }
        self.claim = None;
        Ok(())
    }
}

impl FileWriter {
    fn state(&self) -> Result<&State> {
        self.state.as_ref().ok_or_else(|| Error::internal("the file writer was not prepared"))
    }

    /// The files of earlier runs, if they are to be replaced. Folders, links and whatever only begins like them are
    /// left alone.
    fn files_in_the_way(&self) -> Result<Vec<String>> {
        let WriterConfig { directory, file_name, mode, .. } = &*self.config;
        let mut replaced = Vec::new();
        if *mode == WriteMode::Append {
            return Ok(replaced);
        }
        let mut staying = Vec::new();
        for entry in list(directory)? {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with(file_name.as_str()) {
                continue;
            }
            if *mode == WriteMode::NonConflict {
                return Err(Error::io(format!(
                    "{} is there already, and writeMode nonConflict allows no file whose name begins with {file_name}; \
                     write to another fileName or folder, or set writeMode to truncate or append",
                    entry.path().display()
                )));
            }
            let kind = entry.file_type().map_err(|error| failed("cannot look at", &entry.path(), &error))?;
            if kind.is_file() && names::is_ours(&self.config, &name) {
                replaced.push(name);
            } else {
                staying.push(name);
            }
        }
        replaced.sort();
        staying.sort();
        if let Some(first) = staying.first() {
            log::warn!(
                "{} stays ({} in all): it begins with {file_name}, but is no file that this job writes",
                directory.join(first).display(),
                staying.len()
            );
        }
        Ok(replaced)
    }

    /// Gives a finished file its name, unless it has it already.
    fn give_name(&mut self, written: &Written) -> Result<()> {
        let unfinished = self.config.directory.join(&written.unfinished);
        let file = self.config.directory.join(&written.file);
        match (exists(&unfinished)?, exists(&file)?) {
            (true, false) => {
                fs::rename(&unfinished, &file).map_err(|error| failed("cannot name", &file, &error))?;
                self.given.push(written.file.clone());
                Ok(())
            }
            (false, true) => Ok(()),
            (true, true) => Err(Error::io(format!("{} was made by somebody else meanwhile", file.display()))),
            (false, false) => Err(Error::io(format!("{} is gone, and so are its records", unfinished.display()))),
        }
    }

    /// Removes what attempts of this run left that came to nothing.
    fn remove_unfinished(&self) -> Result<()> {
        let beginning = format!("{}{}-", UNFINISHED.0, self.state()?.run);
        for entry in list(&self.config.directory)? {
            if entry.file_name().to_string_lossy().starts_with(&beginning) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }
}

/// The files that tasks wrote.
fn written(reports: &[Report]) -> Result<Vec<Written>> {
    let parse = |report: &Report| {
        serde_json::from_value(report.detail.clone())
            .map_err(|error| Error::internal(format!("a report that no file writer wrote: {error}")))
    };
    reports.iter().map(parse).collect()
}

/// A link that leads nowhere would be taken for a folder that is missing and cannot be made.
fn refuse_links_to_nowhere(directory: &Path) -> Result<()> {
    match directory.ancestors().find(|path| path.is_symlink() && !path.exists()) {
        Some(link) => Err(Error::config(format!(
            "parameter.path: {} is a symbolic link to nowhere; make what it points to, or name another folder",
            link.display()
        ))),
        None => Ok(()),
    }
}

/// An id that can be part of a file's name: itself if it is a UUID, else the UUID that stands for it.
fn plain_id(id: &str) -> String {
    Uuid::try_parse(id).unwrap_or_else(|_| Uuid::new_v5(&Uuid::NAMESPACE_OID, id.as_bytes())).to_string()
}

fn exists(path: &Path) -> Result<bool> {
    path.try_exists().map_err(|error| failed("cannot look at", path, &error))
}

fn list(directory: &Path) -> Result<Vec<fs::DirEntry>> {
    let entries: io::Result<Vec<_>> = match fs::read_dir(directory) {
        Ok(entries) => entries.collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    };
    entries.map_err(|error| failed("cannot list", directory, &error))
}

/// Removes a file; `false` if there is none.
fn remove(path: &Path) -> Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed("cannot remove", path, &error)),
    }
}

/// A name is on the disk only when its folder is.
fn sync_directory(directory: &Path) -> Result<()> {
    File::open(directory)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| failed("cannot finish", directory, &error))
}
