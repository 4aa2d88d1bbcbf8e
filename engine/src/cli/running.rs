//! `transship run`: the jobs of all files, beside each other or one after another.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use transship_plugin_api::Kind;

use super::arguments::{Json, RunArguments};
use super::console::Console;
use super::events::Event;
use super::metrics::{self, Listening};
use super::monitor::{EachSecond, Watched};
use super::outputs::{Output, Outputs};
use super::workshop::{Made, Opened, Together, Workshop};
use super::{Ended, STDOUT, failed_to, folder_of, listing, perf, print, print_json, read_all, stages, summary, told};
use crate::config::JobFile;
use crate::error::{Error, Failure, Result};
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
        let listening = arguments.metrics.as_ref().map(metrics::open).transpose()?;
        workshop.write_beside(Outputs::of(arguments)?)?;
        if let Some(folder) = arguments.dirty.as_deref().and_then(folder_of).filter(|folder| !folder.is_dir()) {
            return Err(Error::Job(format!("--dirty: there is no folder {}", folder.display())));
        }
        if arguments.drain {
            workshop.signals.drain_first();
        }
        Ok((workshop, listening))
    };
    let (mut workshop, listening) = open().map_err(|error| console.error(&error))?;
    let opened: Vec<Opened> = read_all(&arguments.jobs, &workshop).map_err(|error| console.error(&error))?;
    let together = Together { slots: arguments.slots.map(|slots| slots.get() as usize), in_order: arguments.in_order };
    let ended = workshop.with_jobs(&opened, None, arguments.dirty.as_deref(), together, |made, shared| {
        // How each file ended, in the order of the command line.
        let ended = made.iter().map(|_| Ok(())).collect();
        let run = Run { arguments, workshop: &workshop, summaries: Mutex::default() };
        run.all(made, ended, shared.contents, listening)
    });
    let outputs = workshop.take_outputs();
    // What is missing of them is told, but the jobs are none the worse for it: who runs them again would move all a second time.
    if let (Some(error), Some(records)) = (workshop.recorder().and_then(Recorder::failure), &outputs.records) {
        console.alert(&format!("cannot write the perf records to {}: {error}", records.path.display()));
    }
    write_pages(outputs, workshop.recorder(), console);
    ended
}

/// Makes what is made of the records of the run, and tells what of it cannot be made.
fn write_pages(mut outputs: Outputs, recorder: Option<&Recorder>, console: &Console) {
    // Where nothing ran there is nothing to show.
    let Some(records) = outputs.records.as_mut().filter(|_| recorder.is_some_and(Recorder::has_lines)) else { return };
    if outputs.keeps_records {
        records.keep();
    }
    let failures = pages_of(&records.path, &mut outputs.report, &mut outputs.trace);
    failures.iter().for_each(|failure| console.alert(&failure.to_string()));
    if !failures.is_empty() && !outputs.keeps_records {
        // The run may have lasted for hours.
        records.keep();
        console.alert(&records.kept_text());
    }
}

/// Makes the page and the trace, each whatever became of the other; answers why one is missing.
fn pages_of(records: &Path, report: &mut Option<Output>, trace: &mut Option<Output>) -> Vec<Error> {
    if report.is_none() && trace.is_none() {
        return Vec::new();
    }
    let recordings = match perf::read(records) {
        Ok(recordings) => recordings,
        Err(error) => return vec![error],
    };
    let report = report.as_mut().map(|page| page.fill(|path| perf::write_report(path, &recordings, None)));
    let trace = trace.as_mut().map(|page| page.fill(|path| perf::write_trace(path, &recordings)));
    [report, trace].into_iter().flatten().filter_map(Result::err).collect()
}

impl Run<'_> {
    fn all(&self, made: Vec<Made<'_>>, mut ended: Vec<Ended>, at_once: usize, listening: Option<Listening>) -> Ended {
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
        let shown =
            jobs.map(|(job, _)| (job.progress(), job.title(), job.name(), job.identity().id.clone(), job.attempts()));
        let shown: Vec<_> = shown.collect();
        let watched = shown.iter().map(|(progress, title, name, run, attempts)| {
            let (run, attempts, each_second) = (Some(run.as_str()), Some(attempts.clone()), self.each_second());
            Watched { title, name, run, attempts, progress, each_second }
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
        metrics::serve(listening, &watched, self.console(), || self.workshop.watch_all(&watched, all_work));
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
        let printed = if self.arguments.json.is_some() { self.print_summary(number, &summary) } else { Ok(()) };
        verdict(summary, self.workshop.signals.received()).and(printed)
    }

    fn print_summary(&self, number: usize, summary: &Summary) -> Result<()> {
        // Whatever becomes of it, those after it are not to wait for it.
        let (told, failed) = match serde_json::to_value(summary) {
            Ok(json) => (Told::Summary(json), Ok(())),
            Err(error) => (Told::Nothing, Err(failed_to("print the summary", &error.into()))),
        };
        self.summaries().add(number, told, self.console()).and(failed)
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
            Told::Nothing => Ok(()),
            Told::Summary(summary) if console.tells_events() => {
                print(console.event(&Event::Summary { micros, summary }))
            }
            Told::Plan(plan) if console.tells_events() => print(console.event(&Event::Plan { micros, plan })),
            Told::Summary(tree) | Told::Plan(tree) => print_json(tree, console),
        }
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
