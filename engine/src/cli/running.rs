//! `transship run`: the jobs of all files, beside each other or one after another.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use transship_plugin_api::Kind;

use super::arguments::{Json, RunArguments};
use super::console::Console;
use super::events::Event;
use super::monitor::{EachSecond, Watched};
use super::workshop::{Made, Opened, Together, Workshop};
use super::{
    Ended, STDOUT, failed_to, folder_of, listing, metrics, perf, print_json, read_all, stages, summary, told, writable,
};
use crate::config::JobFile;
use crate::error::{Error, Failure, Result};
use crate::exposition::Door;
use crate::job::{Job, Outcome, Summary};
use crate::perf::now_micros;
use crate::perf::recorder::Recorder;

/// What a run writes to beside its targets.
struct Run<'a> {
    arguments: &'a RunArguments,
    workshop: &'a Workshop<'a>,
    summaries: Mutex<Summaries>,
}

/// Jobs of a file that run one after another.
struct Line<'j> {
    /// The place of the file on the command line.
    place: usize,
    file: &'j JobFile,
    /// Each with its number among all jobs of the run.
    jobs: Vec<(Job<'j>, usize)>,
}

/// What `--json` tells of a job when it has ended.
enum Told {
    Summary(serde_json::Value),
    /// Of a dry run.
    Plan(serde_json::Value),
    /// It did not begin.
    Nothing,
}

/// What is told of jobs as JSON, in the order of the command line, whichever job is done first.
#[derive(Default)]
struct Summaries {
    /// The number of the job that comes next.
    next: usize,
    /// Those that wait for others.
    waiting: BTreeMap<usize, Told>,
}

/// Runs the jobs of all files. The first failure, in the order of the command line, decides how it ended; the others go on.
pub(super) fn run(arguments: &RunArguments, console: &Console) -> Ended {
    if arguments.json == Some(Json::Events) {
        console.tell_events();
    }
    let open = || -> Result<_> {
        let mut workshop =
            Workshop::open(&arguments.plugin_path, arguments.options.clone(), arguments.memory, console)?;
        let door = arguments.metrics.as_ref().map(metrics::open).transpose()?;
        // Before anything runs: that a file cannot be written should not be found out after hours.
        for page in [&arguments.report, &arguments.trace].into_iter().flatten() {
            writable(page)?;
        }
        if let Some(path) = records_of(arguments) {
            workshop.record(writable(&path)?);
        }
        if let Some(folder) = arguments.dirty.as_deref().and_then(folder_of).filter(|folder| !folder.is_dir()) {
            return Err(Error::Job(format!("--dirty: there is no folder {}", folder.display())));
        }
        if arguments.drain {
            workshop.signals.drain_first();
        }
        Ok((workshop, door))
    };
    let (workshop, door) = open().map_err(|error| console.error(&error))?;
    let opened: Vec<Opened> = read_all(&arguments.jobs, &workshop).map_err(|error| console.error(&error))?;
    let together = Together { slots: arguments.slots.map(|slots| slots.get() as usize), in_order: arguments.in_order };
    workshop
        .with_jobs(&opened, None, arguments.dirty.as_deref(), together, |made, shared| {
            // How each file ended, in the order of the command line.
            let ended = made.iter().map(|_| Ok(())).collect();
            let run = Run { arguments, workshop: &workshop, summaries: Mutex::default() };
            run.all(made, ended, shared.contents, door)
        })
        .and(told(write_pages(arguments, workshop.recorder()), console))
}

/// Where perf records go: a report and a trace are made of them, and they lie beside it until the run has ended.
fn records_of(arguments: &RunArguments) -> Option<PathBuf> {
    let beside = arguments.report.as_ref().or(arguments.trace.as_ref()).map(|page| {
        let mut name = page.clone().into_os_string();
        name.push(".perf.jsonl");
        PathBuf::from(name)
    });
    arguments.perf.clone().or(beside)
}

/// What is made of the records of the run.
fn write_pages(arguments: &RunArguments, recorder: Option<&Recorder>) -> Result<()> {
    let (Some(records), Some(recorder)) = (records_of(arguments), recorder) else { return Ok(()) };
    let pages = [&arguments.report, &arguments.trace];
    if !recorder.has_lines() {
        // Where nothing ran there is nothing to show: the files that were made for it go, those that were there before stay.
        let all = pages.into_iter().flatten().chain([&records]);
        for file in all.filter(|file| std::fs::metadata(file).is_ok_and(|file| file.is_file() && file.len() == 0)) {
            let _ = std::fs::remove_file(file);
        }
        return Ok(());
    }
    if pages.iter().any(|page| page.is_some()) {
        let recordings = perf::read(&records)?;
        if let Some(page) = &arguments.report {
            perf::write_report(page, &recordings, None)?;
        }
        if let Some(page) = &arguments.trace {
            perf::write_trace(page, &recordings)?;
        }
    }
    if arguments.perf.is_none() {
        // The pages hold what was in it.
        let _ = std::fs::remove_file(records);
    }
    Ok(())
}

impl Run<'_> {
    fn all(&self, made: Vec<Made<'_>>, mut ended: Vec<Ended>, at_once: usize, door: Option<Door>) -> Ended {
        let mut lines = VecDeque::new();
        let mut numbers = 0..;
        for (place, Made { path, jobs }) in made.into_iter().enumerate() {
            match jobs.and_then(|(jobs, file)| self.may_run(path, &jobs).map(|()| (jobs, file))) {
                Err(error) => ended[place] = Err(self.console().error(&error)),
                Ok((jobs, file)) => {
                    // The jobs first: after the last of them no number is taken.
                    let jobs: Vec<_> = jobs.into_iter().zip(numbers.by_ref()).collect();
                    match file.setting.schedule.in_order {
                        true => lines.push_back(Line { place, file, jobs }),
                        false => lines.extend(jobs.into_iter().map(|job| Line { place, file, jobs: vec![job] })),
                    }
                }
            }
        }
        let jobs = lines.iter().flat_map(|line| &line.jobs);
        let shown: Vec<_> = jobs.map(|(job, _)| (job.progress(), job.title())).collect();
        let watched = shown.iter().map(|(progress, title)| {
            let each_second = self.each_second();
            Watched { title, progress, each_second }
        });
        let watched: Vec<Watched<'_>> = watched.collect();
        let threads = at_once.min(lines.len());
        let (lines, ended) = (Mutex::new(lines), Mutex::new(ended));
        let work = || {
            loop {
                let next = lines.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                let Some(Line { place, file, jobs }) = next else { return };
                for (job, number) in jobs {
                    let result = self.job(number, job, file);
                    let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
                    // Of the entries of a file the first that failed counts.
                    ended[place] = ended[place].and(result);
                }
            }
        };
        let all_work = || {
            std::thread::scope(|scope| {
                for number in 1..threads {
                    // Without another thread its jobs run on those that there are.
                    let _ = std::thread::Builder::new().name(format!("job-{number}")).spawn_scoped(scope, work);
                }
                work();
            });
        };
        metrics::serve(door, &watched, self.console(), || self.workshop.watch_all(&watched, all_work));
        ended.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect()
    }

    /// What is odd about the jobs of a file is told; what cannot go on is an error.
    fn may_run(&self, path: &Path, jobs: &[Job<'_>]) -> Result<()> {
        if jobs.iter().any(|job| job.writer_info().target == STDOUT) {
            if self.arguments.json.is_some() {
                let message =
                    "--json prints the summary to stdout, where this job prints its records: let the writer use a file";
                return Err(Error::Job(message.into()));
            }
            self.console().records_go_to_stdout();
        }
        for note in jobs.iter().flat_map(|job| &job.plan().notes) {
            self.console().warning(&format!("{}: {note}", path.display()));
        }
        Ok(())
    }

    fn job(&self, number: usize, job: Job<'_>, file: &JobFile) -> Ended {
        // Whatever the jobs at hand came to, those after them do not begin.
        if let Some(signal) = self.workshop.signals.received() {
            let _ = self.summaries().add(number, Told::Nothing, self.console());
            return Err(128 + signal);
        }
        let result =
            if file.setting.dry_run { self.dry_run(number, &job, file) } else { self.move_records(number, job) };
        told(result.map_err(|error| self.workshop.or_signal(error)), self.console())
    }

    /// `job.setting.dryRun`: shows what would be done.
    fn dry_run(&self, number: usize, job: &Job<'_>, file: &JobFile) -> Result<()> {
        if self.arguments.json.is_some() {
            let plan = listing::plan_json(job, file);
            self.summaries().add(
                number,
                plan.as_ref().map_or(Told::Nothing, |plan| Told::Plan(plan.clone())),
                self.console(),
            )?;
            plan?;
        } else {
            self.console().note(listing::plan(job, file)?.trim_end());
        }
        self.console().note("dry run (job.setting.dryRun): nothing was moved");
        Ok(())
    }

    fn move_records(&self, number: usize, job: Job<'_>) -> Result<()> {
        let summary = job.run();
        self.console().note(summary::text(&summary).trim_end());
        if self.arguments.json.is_some() {
            let json = serde_json::to_value(&summary).map_err(|error| failed_to("print the summary", &error.into()))?;
            self.summaries().add(number, Told::Summary(json), self.console())?;
        }
        verdict(summary, self.workshop.signals.received()).and(self.perf_written())
    }

    /// That perf records are missing is told, though the run itself is none the worse for it.
    fn perf_written(&self) -> Result<()> {
        match (self.workshop.recorder().and_then(Recorder::failure), records_of(self.arguments)) {
            (Some(error), Some(path)) => {
                Err(failed_to(&format!("write the perf records to {}", path.display()), &error))
            }
            _ => Ok(()),
        }
    }

    /// What to do each second with what the transformers of a job measure.
    fn each_second(&self) -> EachSecond<'_> {
        Box::new(move |stages| {
            if self.arguments.stats && !stages.is_empty() {
                self.console().note(&stages::line(stages));
            }
        })
    }

    fn summaries(&self) -> MutexGuard<'_, Summaries> {
        self.summaries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn console(&self) -> &Console {
        self.workshop.console
    }
}

impl Summaries {
    /// Prints it once those before it are printed.
    fn add(&mut self, number: usize, told: Told, console: &Console) -> Result<()> {
        self.waiting.insert(number, told);
        while let Some(told) = self.waiting.remove(&self.next) {
            self.next += 1;
            told.print(console)?;
        }
        Ok(())
    }
}

impl Told {
    fn print(&self, console: &Console) -> Result<()> {
        let micros = now_micros();
        match self {
            Told::Nothing => {}
            Told::Summary(summary) if console.tells_events() => console.event(&Event::Summary { micros, summary }),
            Told::Plan(plan) if console.tells_events() => console.event(&Event::Plan { micros, plan }),
            Told::Summary(tree) | Told::Plan(tree) => print_json(tree, console)?,
        }
        Ok(())
    }
}

/// The error, if any, that a job ended with.
pub(super) fn verdict(summary: Summary, signal: Option<i32>) -> Result<()> {
    match (summary.outcome, signal) {
        (Outcome::Done, _) => Ok(()),
        (Outcome::Cancelled, Some(signal)) => Err(Error::Signal(signal)),
        (Outcome::Cancelled, None) => Err(Failure::new(Kind::Cancelled, "cancelled").into()),
        (Outcome::DirtyLimit { message }, _) => Err(Error::DirtyLimit(message)),
        (Outcome::Failed(failure), _) => Err(failure.into()),
    }
}
