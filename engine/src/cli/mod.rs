//! The command line. Only here is anything printed: results to stdout, everything about the run to stderr, so that records
//! which a plugin prints stay apart.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::error::{Error, Failure, Result};
use crate::figures;
use crate::plan::{MEMORY_BYTES, Prepared};
use crate::task::TaskReport;
use clap::Parser;
use transship_plugin_api::Kind;

mod arguments;
mod console;
mod events;
mod forecast;
mod lately;
mod listing;
mod metrics;
mod monitor;
mod outputs;
mod perf;
mod running;
mod signals;
mod stages;
mod stillness;
mod summary;
mod view;
mod workshop;

use arguments::{Arguments, Command, JobOptions, PluginPath};
use console::Console;
use workshop::{Made, Opened, Together, Workshop};

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
        Command::Run(run) => running::run(&run, &console),
        Command::Check { jobs, options, plugin_path } => check(&jobs, options, &plugin_path, &console),
        Command::Plan { job, json, options, plugin_path } => {
            told(plan(&job, json, options, &plugin_path, &console), &console)
        }
        Command::Perf(arguments) => told(perf::show(&arguments, &console), &console),
        Command::Plugins { name, plugin_path } => told(plugins(name.as_deref(), &plugin_path, &console), &console),
        Command::Schema { plugin_path } => told(schema(&plugin_path, &console), &console),
        Command::Prepare { job, content, options, plugin_path } => {
            told(prepare(&job, content, options, &plugin_path, &console), &console)
        }
        Command::Task { job, prepared, task, options, plugin_path } => {
            told(run_task(&job, &prepared, task, options, &plugin_path, &console), &console)
        }
        Command::Commit { job, prepared, reports, options, plugin_path } => {
            told(commit(&job, &prepared, &reports, options, &plugin_path, &console), &console)
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

/// Prints an error and turns it into an exit code.
fn told(result: Result<()>, console: &Console) -> Ended {
    result.map_err(|error| console.error(&error))
}

/// Reads all job files before anything runs: what is wrong with the last is told before the first has run for hours.
fn read_all(paths: &[PathBuf], workshop: &Workshop<'_>) -> Result<Vec<Opened>> {
    if paths.iter().filter(|path| *path == Path::new("-")).count() > 1 {
        return Err(Error::Job("- stands for standard input, which can be read only once".into()));
    }
    Ok(paths.iter().map(|path| workshop.read(path)).collect())
}

fn check(jobs: &[PathBuf], options: JobOptions, plugin_path: &PluginPath, console: &Console) -> Ended {
    let open = || Workshop::open(plugin_path, options, MEMORY_BYTES, console);
    let workshop = open().map_err(|error| console.error(&error))?;
    let opened = read_all(jobs, &workshop).map_err(|error| console.error(&error))?;
    workshop.with_jobs(&opened, None, None, Together::default(), |made, _| {
        let mut ended = Ok(());
        for Made { path, jobs } in made {
            let verdict = match &jobs {
                Ok(_) => "no error found".to_string(),
                Err(Error::Refused(problems)) if problems.len() > 1 => format!("{} errors", problems.len()),
                Err(_) => "1 error".into(),
            };
            ended = ended.and(told(jobs.map(drop), console));
            ended = ended.and(told(print(console.result(&format!("{}: {verdict}\n", path.display()))), console));
        }
        ended
    })
}

fn plan(path: &Path, json: bool, options: JobOptions, plugin_path: &PluginPath, console: &Console) -> Result<()> {
    let workshop = Workshop::open(plugin_path, options, MEMORY_BYTES, console)?;
    workshop.with_jobs(&[workshop.read(path)], None, None, Together::default(), |made, _| {
        for made in made {
            let (jobs, file) = made.jobs?;
            for job in &jobs {
                let print_plan = || match json {
                    true => print_json(&listing::plan_json(job, file)?, console),
                    false => print(console.result(&listing::plan(job, file)?)),
                };
                workshop.watch(job.progress(), print_plan).map_err(|error| workshop.or_signal(error))?;
            }
        }
        Ok(())
    })
}

fn plugins(name: Option<&str>, plugin_path: &PluginPath, console: &Console) -> Result<()> {
    let workshop = Workshop::open(plugin_path, JobOptions::default(), MEMORY_BYTES, console)?;
    let (plugins, problems) = workshop.loader.all();
    print(console.result(&listing::plugins(&plugins, &problems, name)?))
}

fn schema(plugin_path: &PluginPath, console: &Console) -> Result<()> {
    let workshop = Workshop::open(plugin_path, JobOptions::default(), MEMORY_BYTES, console)?;
    let (plugins, problems) = workshop.loader.all();
    for problem in problems {
        console.warning(&format!("left out: {problem}"));
    }
    print(console.result(&json_text(&listing::schema(&plugins))?))
}

/// `transship prepare`: the first of three steps, for tasks that run in other processes.
fn prepare(
    path: &Path,
    content: usize,
    options: JobOptions,
    plugin_path: &PluginPath,
    console: &Console,
) -> Result<()> {
    let workshop = Workshop::open(plugin_path, options, MEMORY_BYTES, console)?;
    let mut prepared = workshop.with_job(path, content, |job| Ok(job.prepare_for_others()?))?;
    // Labels are for people; the rest is not masked, since a split whose name happens to contain a secret must be found again.
    for task in &mut prepared.tasks {
        task.split.label = console.mask(&task.split.label);
    }
    print(console.verbatim(&json_text(&prepared)?))
}

/// `transship task`: the second step, once for each task.
fn run_task(
    path: &Path,
    prepared: &Path,
    number: u32,
    options: JobOptions,
    plugin_path: &PluginPath,
    console: &Console,
) -> Result<()> {
    let workshop = Workshop::open(plugin_path, options, MEMORY_BYTES, console)?;
    let prepared: Prepared = read_json(prepared)?;
    let task = prepared.tasks.iter().find(|task| task.number == number);
    let task =
        task.ok_or_else(|| Error::Job(format!("there is no task {number} among the {}", prepared.tasks.len())))?;
    let mut report = workshop.with_job(path, prepared.content, |job| Ok(job.run_task(&prepared, task)?))?;
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
    options: JobOptions,
    plugin_path: &PluginPath,
    console: &Console,
) -> Result<()> {
    let workshop = Workshop::open(plugin_path, options, MEMORY_BYTES, console)?;
    let prepared: Prepared = read_json(prepared)?;
    let reports = reports.iter().map(|path| read_json(path)).collect::<Result<Vec<TaskReport>>>()?;
    let summary = workshop.with_job(path, prepared.content, |job| job.finish_for_others(&prepared, reports))?;
    console.note(summary::text(&summary).trim_end());
    running::verdict(summary, workshop.signals.received())
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
