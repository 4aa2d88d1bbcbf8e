//! What every command works with: the plugins, the clock of signals, the watch over calls; and how job files are read and their
//! jobs made.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use transship_plugin_api::HostRef;

use super::arguments::{JobOptions, PluginPath};
use super::console::Console;
use super::monitor::{self, Watched};
use super::outputs::Outputs;
use super::signals::Signals;
use crate::calls::{Calls, Doing};
use crate::cancel::Cancel;
use crate::clock::SystemClock;
use crate::config::{JobFile, Reading};
use crate::error::{Error, Findings, Problem, Result};
use crate::host::JobHost;
use crate::job::{Job, Surroundings};
use crate::json::Origin;
use crate::load::{Loader, search_places};
use crate::openings::Openings;
use crate::perf::recorder::Recorder;
use crate::plan::{self, Machine, Shared};
use crate::progress::Progress;
use crate::slots::Slots;
use crate::targets::Targets;

/// What a command works with.
pub(super) struct Workshop<'a> {
    pub console: &'a Console,
    pub loader: Loader,
    pub signals: Signals,
    options: JobOptions,
    machine: Machine,
    targets: Targets,
    cancel: Cancel,
    calls: Calls,
    /// What is written beside the targets.
    outputs: Outputs,
    /// Writes perf records, if somebody wants them.
    recorder: Option<Recorder>,
}

/// What was read of a job file, and what it is refused for so far.
pub(super) struct Opened {
    pub path: PathBuf,
    file: Option<JobFile>,
    problems: Vec<Problem>,
}

/// How the jobs of several files, and the contents of each, run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Together {
    /// How many tasks work at once; `None`: as many as the jobs have channels.
    pub slots: Option<usize>,
    /// One after another, not beside each other.
    pub in_order: bool,
}

/// The jobs of a file, if it has any that can run.
pub(super) struct Made<'j> {
    pub path: &'j Path,
    pub jobs: Result<(Vec<Job<'j>>, &'j JobFile)>,
}

impl<'a> Workshop<'a> {
    pub(super) fn open(
        plugin_path: &PluginPath,
        options: JobOptions,
        memory_bytes: usize,
        console: &'a Console,
    ) -> Result<Workshop<'a>> {
        let cancel = Cancel::new();
        let environment = std::env::var_os("TRANSSHIP_PLUGIN_PATH");
        let program = std::env::current_exe().and_then(|program| program.canonicalize()).ok();
        for folder in plugin_path.folders.iter().filter(|folder| !folder.is_dir()) {
            console.warning(&format!("--plugin-path: there is no folder {}", folder.display()));
        }
        for note in options.notes() {
            console.warning(&note);
        }
        let places = search_places(&plugin_path.folders, environment.as_deref(), program.as_deref());
        let host: HostRef = std::sync::Arc::new(JobHost { cancel: cancel.clone(), doing: Doing::default() });
        Ok(Workshop {
            console,
            loader: Loader::new(places, host),
            machine: Machine {
                cores: std::thread::available_parallelism().map_or(1, usize::from),
                memory_bytes,
                other_tasks: 0,
            },
            targets: Targets::default(),
            signals: Signals::listen(&cancel).map_err(|error| super::failed_to("listen to signals", &error))?,
            options,
            cancel,
            calls: Calls::new(),
            outputs: Outputs::default(),
            recorder: None,
        })
    }

    /// Writes these beside the targets, perf records from here on.
    pub(super) fn write_beside(&mut self, outputs: Outputs) -> Result<()> {
        if let Some(records) = &outputs.records {
            let file = records.file.try_clone().map_err(|error| super::failed_to("keep a file open", &error))?;
            let console = self.console.clone();
            self.recorder = Some(Recorder::new(file, move |text| console.mask(text)));
        }
        self.outputs = outputs;
        Ok(())
    }

    /// What is written beside the targets, when the jobs have ended.
    pub(super) fn take_outputs(&mut self) -> Outputs {
        std::mem::take(&mut self.outputs)
    }

    /// Who writes perf records.
    pub(super) fn recorder(&self) -> Option<&Recorder> {
        self.recorder.as_ref()
    }

    /// Reads a job file and tells what is odd about it. Its secrets are masked in all that is printed from here on.
    pub(super) fn read(&self, path: &Path) -> Opened {
        let mut findings = Findings::default();
        let variables = self.options.variables();
        let reading = Reading {
            variables: &variables,
            encoding: self.options.job_encoding,
            fetch: &fetch,
            all_contents: self.options.all_contents,
        };
        let file = JobFile::read(path, &reading, &mut findings);
        if let Some(file) = &file {
            self.console.learn_secrets(&file.tree, &file.fetched);
        }
        self.warn(&findings);
        Opened { path: path.to_path_buf(), file, problems: findings.problems }
    }

    /// Makes the jobs of every file, those of all its entries that run or of one, and does something with them. Nothing is connected
    /// to before all are made: what is wrong with the last file is told before the first has run for hours.
    pub(super) fn with_jobs<T>(
        &self,
        opened: &[Opened],
        only: Option<usize>,
        dirty_file: Option<&Path>,
        together: Together,
        work: impl FnOnce(Vec<Made<'_>>, Shared) -> T,
    ) -> T {
        // All is read: from here on there may be something to put in order.
        self.signals.cancel_first();
        let places: Vec<Vec<(usize, Progress)>> = opened.iter().map(|opened| running(opened, only)).collect();
        let settings = opened.iter().zip(&places);
        let settings: Vec<_> = settings
            .filter_map(|(opened, places)| opened.file.as_ref().map(|file| (&file.setting, places.len())))
            .collect();
        let shared = plan::shared(&settings, self.machine, together.slots, together.in_order);
        let slots = Slots::new(shared.slots, shared.rules, SystemClock::new());
        let openings = Openings::new(shared.slots, shared.open_tasks);
        let surroundings = |opened: &Opened, progress| {
            let file = opened.file.as_ref();
            // Those of the job itself are not others, though not all of them may be open.
            let own = file.map_or(0, |file| plan::plan(&file.setting, self.machine).channels as usize);
            let machine = Machine { other_tasks: shared.expected_tasks.saturating_sub(own), ..self.machine };
            Surroundings {
                loader: &self.loader,
                machine,
                targets: &self.targets,
                slots: &slots,
                openings: &openings,
                cancel: &self.cancel,
                drain: self.signals.drain(),
                calls: &self.calls,
                progress,
                recorder: self.recorder.as_ref(),
                dirty_file: dirty_file.map(PathBuf::from),
                temporary_folder: std::env::temp_dir(),
                job_id: self.options.job_id,
            }
        };
        let surroundings: Vec<Vec<Surroundings<'_>>> = opened
            .iter()
            .zip(&places)
            .map(|(opened, places)| places.iter().map(|(_, progress)| surroundings(opened, progress)).collect())
            .collect();
        let files = opened.iter().zip(&places).zip(&surroundings);
        let made = files.map(|((opened, places), surroundings)| {
            let contents = places.iter().map(|(content, _)| *content).zip(surroundings);
            Made { path: &opened.path, jobs: self.make(opened, contents) }
        });
        work(made.collect(), shared)
    }

    /// The jobs of a file, or all that is wrong with it, its plugins and their parameters.
    fn make<'j>(
        &self,
        opened: &'j Opened,
        contents: impl Iterator<Item = (usize, &'j Surroundings<'j>)>,
    ) -> Result<(Vec<Job<'j>>, &'j JobFile)> {
        if let Some(signal) = self.signals.received() {
            return Err(Error::Signal(signal));
        }
        let mut findings = Findings { problems: opened.problems.clone(), warnings: Vec::new() };
        let mut jobs = Vec::new();
        for (content, surroundings) in contents {
            let Some(file) = &opened.file else { break };
            let make = || Job::init(file, content, surroundings, &mut findings.warnings);
            match self.watch(surroundings.progress, make) {
                Ok(job) => jobs.push(job),
                Err(Error::Refused(more)) => findings.problems.extend(more),
                Err(other) => return Err(self.or_signal(other)),
            }
        }
        findings.sort();
        self.warn(&findings);
        match &opened.file {
            Some(file) if findings.problems.is_empty() => Ok((jobs, file)),
            _ => Err(Error::Refused(findings.problems)),
        }
    }

    /// Does what the single job of a file is needed for, under the eyes of the monitor.
    pub(super) fn with_job<T>(
        &self,
        path: &Path,
        content: usize,
        work: impl FnOnce(Job<'_>) -> Result<T>,
    ) -> Result<T> {
        self.with_jobs(&[self.read(path)], Some(content), None, Together::default(), |made, _| {
            let (jobs, _) =
                made.into_iter().next().map_or_else(|| Err(Error::Refused(Vec::new())), |made| made.jobs)?;
            let job = jobs.into_iter().next();
            let job = job.ok_or_else(|| Error::Job(format!("there is no job.content[{content}]")))?;
            self.watch(job.progress(), || work(job)).map_err(|error| self.or_signal(error))
        })
    }

    /// Does something under the eyes of the monitor, which shows how far it is and ends a call that hangs.
    pub(super) fn watch<T>(&self, progress: &Progress, work: impl FnOnce() -> T) -> T {
        let each_second = Box::new(|_: &[_]| ());
        self.watch_all(&[Watched { title: "", name: "", run: None, attempts: None, progress, each_second }], work)
    }

    /// The same for several jobs.
    pub(super) fn watch_all<T>(&self, watched: &[Watched<'_>], work: impl FnOnce() -> T) -> T {
        let abandon = || self.outputs.abandon(self.recorder().is_some_and(Recorder::has_lines));
        monitor::watch(self.console, &self.calls, watched, &self.signals, &abandon, work)
    }

    /// Whatever failed after a signal, it failed because it was asked to stop.
    pub(super) fn or_signal(&self, error: Error) -> Error {
        match (error, self.signals.received()) {
            (Error::Failed(failure), Some(signal)) if failure.is_echo() => Error::Signal(signal),
            (error, _) => error,
        }
    }

    fn warn(&self, findings: &Findings) {
        findings.warnings.iter().for_each(|warning| self.console.warning(&warning.message));
    }
}

/// Which entries of a file are made into jobs, each with its progress.
fn running(opened: &Opened, only: Option<usize>) -> Vec<(usize, Progress)> {
    let Some(file) = &opened.file else { return Vec::new() };
    let contents = match only {
        Some(content) => content..(content + 1).min(file.content.len()),
        None => 0..file.running().len(),
    };
    contents.map(|content| (content, Progress::default())).collect()
}

/// What stands behind `${env:NAME}` and `${file:PATH}`. A file's last line end is not part of what it says.
fn fetch(origin: Origin<'_>) -> std::result::Result<String, String> {
    match origin {
        Origin::Environment(name) => match std::env::var_os(name).map(OsString::into_string) {
            Some(Ok(value)) => Ok(value),
            Some(Err(_)) => Err(format!("the environment variable {name} is not UTF-8")),
            None => Err(format!("the environment variable {name} is not set")),
        },
        Origin::File(path) => match std::fs::read_to_string(path) {
            Ok(text) => {
                let text = text.strip_suffix('\n').unwrap_or(&text);
                Ok(text.strip_suffix('\r').unwrap_or(text).to_string())
            }
            Err(error) => Err(format!("cannot read the file {path}: {error}")),
        },
    }
}
