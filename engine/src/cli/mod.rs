//! The command line. Only here is anything printed: results to stdout, everything about the run to stderr, so that records
//! which a plugin prints stay apart.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use transship_plugin_api::{HostRef, Kind};

use crate::calls::Calls;
use crate::cancel::Cancel;
use crate::config::JobFile;
use crate::error::{Error, Failure, Result};
use crate::host::JobHost;
use crate::job::{Job, Outcome, Summary, Surroundings};
use crate::load::{Loader, search_places};
use crate::plan::{MEMORY_BYTES, Machine, Prepared};
use crate::progress::Progress;
use crate::targets::Targets;
use crate::task::TaskReport;

mod arguments;
mod console;
mod listing;
mod monitor;
mod signals;
mod summary;

use arguments::{Arguments, Command, PluginPath, RunArguments};
use console::Console;
use signals::Signals;

/// Runs the program.
pub fn main() -> ExitCode {
    transship_plugin_api::ffi::set_malloc_thresholds();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let console = Console::new(arguments.command.is_quiet());
    console.start_logging();
    let result = match arguments.command {
        Command::Run(run) => run_jobs(&run, &console),
        Command::Check { jobs, plugin_path } => check(&jobs, &plugin_path, &console),
        Command::Plan { job, json, plugin_path } => told(plan(&job, json, &plugin_path, &console), &console),
        Command::Plugins { name, plugin_path } => told(plugins(name.as_deref(), &plugin_path, &console), &console),
        Command::Prepare { job, plugin_path } => told(prepare(&job, &plugin_path, &console), &console),
        Command::Task { job, prepared, task, plugin_path } => {
            told(run_task(&job, &prepared, task, &plugin_path, &console), &console)
        }
        Command::Commit { job, prepared, reports, plugin_path } => {
            told(commit(&job, &prepared, &reports, &plugin_path, &console), &console)
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
    }
}

/// What a writer that prints its records calls its target.
const STDOUT: &str = "stdout";

/// The exit code of a command that has said what is wrong.
type Ended = std::result::Result<(), i32>;

/// What a command works with.
struct Workshop<'a> {
    console: &'a Console,
    loader: Loader,
    machine: Machine,
    targets: Targets,
    cancel: Cancel,
    calls: Calls,
    signals: Signals,
}

impl<'a> Workshop<'a> {
    fn open(plugin_path: &PluginPath, memory_bytes: usize, console: &'a Console) -> Result<Workshop<'a>> {
        let cancel = Cancel::new();
        let environment = std::env::var_os("TRANSSHIP_PLUGIN_PATH");
        let program = std::env::current_exe().and_then(|program| program.canonicalize()).ok();
        for folder in plugin_path.folders.iter().filter(|folder| !folder.is_dir()) {
            log::warn!("--plugin-path: there is no folder {}", folder.display());
        }
        let places = search_places(&plugin_path.folders, environment.as_deref(), program.as_deref());
        let host: HostRef = Arc::new(JobHost { cancel: cancel.clone() });
        Ok(Workshop {
            console,
            loader: Loader::new(places, host),
            machine: Machine { cores: std::thread::available_parallelism().map_or(1, usize::from), memory_bytes },
            targets: Targets::default(),
            signals: Signals::listen(&cancel).map_err(|error| failed_to("listen to signals", &error))?,
            cancel,
            calls: Calls::new(),
        })
    }

    /// Reads a job file, makes its reader and writer, and does something with them, under the eyes of the monitor. The file's
    /// secrets are masked in all that is printed from here on.
    fn with_job<T>(
        &self,
        path: &Path,
        dirty_file: Option<PathBuf>,
        work: impl FnOnce(Job<'_>, &JobFile) -> Result<T>,
    ) -> Result<T> {
        let file = JobFile::read(path)?;
        self.console.learn_secrets(&file.tree);
        for warning in &file.warnings {
            log::warn!("{}: {warning}", path.display());
        }
        let progress = Progress::default();
        let surroundings = Surroundings {
            loader: &self.loader,
            machine: self.machine,
            targets: &self.targets,
            cancel: &self.cancel,
            calls: &self.calls,
            progress: &progress,
            dirty_file,
        };
        let result = monitor::watch(self.console, &self.calls, &progress, &self.signals, || {
            let job = Job::init(&file, &surroundings).map_err(|error| match error {
                Error::Plugin(message) => Error::Plugin(format!("{}: {message}", path.display())),
                other => other,
            })?;
            work(job, &file)
        });
        // Whatever failed, it failed because it was asked to stop.
        match (result, self.signals.received()) {
            (Err(Error::Failed(failure)), Some(signal)) if failure.is_echo() => Err(Error::Signal(signal)),
            (result, _) => result,
        }
    }
}

/// Prints an error and turns it into an exit code.
fn told(result: Result<()>, console: &Console) -> Ended {
    result.map_err(|error| console.error(&error))
}

fn run_jobs(arguments: &RunArguments, console: &Console) -> Ended {
    let open = || -> Result<_> {
        let workshop = Workshop::open(&arguments.plugin_path, arguments.memory, console)?;
        // Before anything runs: that a file cannot be written should not be found out after hours.
        let perf_file = arguments.perf.as_deref().map(create).transpose()?;
        if let Some(folder) = arguments.dirty.as_deref().and_then(folder_of).filter(|folder| !folder.is_dir()) {
            return Err(Error::Job(format!("--dirty: there is no folder {}", folder.display())));
        }
        Ok((workshop, perf_file))
    };
    let (workshop, mut perf_file) = open().map_err(|error| console.error(&error))?;
    let mut ended = Ok(());
    for (index, path) in arguments.jobs.iter().enumerate() {
        let result = told(run_job(path, arguments, &workshop, perf_file.as_mut()), console);
        // The first failure decides the exit code; the other jobs go on.
        ended = ended.and(result);
        if let Some(signal) = workshop.signals.received() {
            // Whatever the job at hand came to, those after it do not run.
            return ended.and(if index + 1 < arguments.jobs.len() { Err(128 + signal) } else { Ok(()) });
        }
    }
    ended
}

fn run_job(
    path: &Path,
    arguments: &RunArguments,
    workshop: &Workshop<'_>,
    perf_file: Option<&mut std::fs::File>,
) -> Result<()> {
    let console = workshop.console;
    let summary = workshop.with_job(path, arguments.dirty.clone(), |job, _| {
        if job.writer_info().target == STDOUT {
            if arguments.json {
                return Err(Error::Job(
                    "--json prints the summary to stdout, where this job prints its records: let the writer use a file"
                        .into(),
                ));
            }
            console.records_go_to_stdout();
        }
        for note in &job.plan().notes {
            console.note(&format!("{}: {note}", path.display()));
        }
        Ok(job.run())
    })?;
    console.note(summary::text(&summary).trim_end());
    if arguments.json {
        print_json(&summary, console)?;
    }
    let perf_written = match (perf_file, &arguments.perf) {
        (Some(file), Some(path)) => summary::write_perf(file, &summary, &|text| console.mask(text))
            .map_err(|error| failed_to(&format!("write the perf records to {}", path.display()), &error)),
        _ => Ok(()),
    };
    verdict(summary, workshop.signals.received()).and(perf_written)
}

/// The error, if any, that a job ended with.
fn verdict(summary: Summary, signal: Option<i32>) -> Result<()> {
    match (summary.outcome, signal) {
        (Outcome::Done, _) => Ok(()),
        (Outcome::Cancelled, Some(signal)) => Err(Error::Signal(signal)),
        (Outcome::Cancelled, None) => Err(Failure::new(Kind::Cancelled, "cancelled").into()),
        (Outcome::DirtyLimit(message), _) => Err(Error::DirtyLimit(message)),
        (Outcome::Failed(failure), _) => Err(failure.into()),
    }
}

fn check(jobs: &[PathBuf], plugin_path: &PluginPath, console: &Console) -> Ended {
    let workshop = Workshop::open(plugin_path, MEMORY_BYTES, console).map_err(|error| console.error(&error))?;
    let mut ended = Ok(());
    for path in jobs {
        let checked = workshop.with_job(path, None, |_, _| {
            print(console.result(&format!("{}: no error found\n", path.display())))?;
            Ok(())
        });
        ended = ended.and(told(checked, console));
    }
    ended
}

fn plan(path: &Path, json: bool, plugin_path: &PluginPath, console: &Console) -> Result<()> {
    let workshop = Workshop::open(plugin_path, MEMORY_BYTES, console)?;
    workshop.with_job(path, None, |job, file| {
        if json {
            return print_json(&listing::plan_json(&job, file)?, console);
        }
        print(console.result(&listing::plan(&job, file)?))?;
        Ok(())
    })
}

fn plugins(name: Option<&str>, plugin_path: &PluginPath, console: &Console) -> Result<()> {
    let workshop = Workshop::open(plugin_path, MEMORY_BYTES, console)?;
    let (plugins, problems) = workshop.loader.all();
    print(console.result(&listing::plugins(&plugins, &problems, name)?))?;
    Ok(())
}

/// `transship prepare`: the first of three steps, for tasks that run in other processes.
fn prepare(path: &Path, plugin_path: &PluginPath, console: &Console) -> Result<()> {
    let workshop = Workshop::open(plugin_path, MEMORY_BYTES, console)?;
    let prepared = workshop.with_job(path, None, |job, _| Ok(job.prepare_for_others()?))?;
    // Not masked: it holds no secret, and a split whose name happens to contain one must be found again.
    print(console.verbatim(&json_text(&prepared)?))?;
    Ok(())
}

/// `transship task`: the second step, once for each task.
fn run_task(path: &Path, prepared: &Path, number: u32, plugin_path: &PluginPath, console: &Console) -> Result<()> {
    let workshop = Workshop::open(plugin_path, MEMORY_BYTES, console)?;
    let prepared: Prepared = read_json(prepared)?;
    let task = prepared.tasks.iter().find(|task| task.number == number);
    let task =
        task.ok_or_else(|| Error::Job(format!("there is no task {number} among the {}", prepared.tasks.len())))?;
    let mut report = workshop.with_job(path, None, |job, _| Ok(job.run_task(&prepared, task)?))?;
    report.mask(&|text| console.mask(text));
    print(console.verbatim(&json_text(&report)?))?;
    match (report.failure, workshop.signals.received()) {
        (None, _) => Ok(()),
        (Some(failure), Some(signal)) if failure.is_echo() => Err(Error::Signal(signal)),
        (Some(failure), _) => Err(failure.into()),
    }
}

/// `transship commit`: the last step, with the reports of all tasks.
fn commit(
    path: &Path,
    prepared: &Path,
    reports: &[PathBuf],
    plugin_path: &PluginPath,
    console: &Console,
) -> Result<()> {
    let workshop = Workshop::open(plugin_path, MEMORY_BYTES, console)?;
    let prepared: Prepared = read_json(prepared)?;
    let reports = reports.iter().map(|path| read_json(path)).collect::<Result<Vec<TaskReport>>>()?;
    let summary = workshop.with_job(path, None, |job, _| job.finish_for_others(&prepared, reports))?;
    console.note(summary::text(&summary).trim_end());
    verdict(summary, workshop.signals.received())
}

/// Prints a result as JSON, with secrets masked inside its strings: masked as text it might be JSON no longer.
fn print_json(value: &impl serde::Serialize, console: &Console) -> Result<()> {
    let mut tree = serde_json::to_value(value).map_err(|error| failed_to("print the result", &error.into()))?;
    console.mask_tree(&mut tree);
    print(console.verbatim(&json_text(&tree)?))?;
    Ok(())
}

fn json_text(value: &impl serde::Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| failed_to("print the result", &error.into()))?;
    Ok(text + "\n")
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let text = std::fs::read(path).map_err(|error| Error::Job(format!("cannot read {}: {error}", path.display())))?;
    serde_json::from_slice(&text).map_err(|error| Error::Job(format!("{}: {error}", path.display())))
}

fn create(path: &Path) -> Result<std::fs::File> {
    std::fs::File::create(path).map_err(|error| Error::Job(format!("cannot write {}: {error}", path.display())))
}

/// What could not be printed is an error: a report that is cut off must not look like one.
fn print(printed: std::io::Result<()>) -> Result<()> {
    printed.map_err(|error| failed_to("print the result", &error))
}

/// The folder that a file lies in, where its path names one.
fn folder_of(file: &Path) -> Option<&Path> {
    file.parent().filter(|folder| !folder.as_os_str().is_empty())
}

fn failed_to(what: &str, error: &std::io::Error) -> Error {
    Failure::new(Kind::Io, format!("cannot {what}: {error}")).into()
}
