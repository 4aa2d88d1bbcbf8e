//! One job's life, with DataX's phases: init, prepare, split, schedule, commit, post, destroy; and abort from anywhere.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow_schema::SchemaRef;
use chrono::{DateTime, Utc};
use serde_json::Value;
use transship_plugin_api::{CommitClass, HostRef, Kind, Report, Run, WriterInfo};

use crate::calls::{Calls, Doing, Line as CallLine};
use crate::cancel::{Cancel, Drain};
use crate::channel::Budget;
use crate::config::JobFile;
use crate::dirty::Dirty;
use crate::error::{Failure, Result, Warning};
use crate::host::JobHost;
use crate::lanes::Lanes;
use crate::load::Loader;
use crate::openings::Openings;
use crate::perf::meter::Attempts;
use crate::perf::recorder::{Owner, Recorder};
use crate::perf::{Perf, Phase, Watch};
use crate::plan::{self, Machine, Plan, TaskSpec};
use crate::progress::Progress;
use crate::schedule::{self, Source};
use crate::slots::Slots;
use crate::splits::LOADERS;
use crate::targets::Targets;
use crate::task::{Counts, Cut, Line, TaskReport};
use crate::throttle::Throttle;
use crate::transform::Maker;

mod names;
mod parts;
mod processes;
mod record;
mod summary;

pub use summary::{Committed, Outcome, Summary};

use parts::{Facts, Parts};

/// What a job needs from its surroundings.
pub struct Surroundings<'a> {
    pub loader: &'a Loader,
    pub machine: Machine,
    pub targets: &'a Targets,
    /// The slots of the run…
    pub slots: &'a Slots,
    /// …and how many tasks are open.
    pub openings: &'a Openings,
    pub cancel: &'a Cancel,
    pub drain: &'a Drain,
    pub calls: &'a Calls,
    pub progress: &'a Progress,
    /// Writes perf records, if somebody wants them.
    pub recorder: Option<&'a Recorder>,
    /// The file for dirty records; `None`: named after job and run, in the current folder…
    pub dirty_file: Option<PathBuf>,
    /// …or in this one, where the current folder cannot be written.
    pub temporary_folder: PathBuf,
    /// The number that whoever starts the run calls it by.
    pub job_id: Option<i64>,
}

/// A job whose reader and writer are made and whose plan is known. Nothing was connected to yet.
pub struct Job<'a> {
    file: &'a JobFile,
    /// Which entry of `job.content` it is.
    content: usize,
    surroundings: &'a Surroundings<'a>,
    line: Line<'a>,
    calls: Arc<CallLine>,
    perf: Perf,
    started: DateTime<Utc>,
    moving: Duration,
    /// Whether the writer may have changed its target: before that there is nothing to abort.
    target_touched: bool,
    committed: Committed,
    facts: Facts,
}

impl<'a> Job<'a> {
    /// Loads the plugins and makes reader and writer of an entry of `job.content` that runs (DataX's `init`): nothing is connected
    /// to, nothing changed. What is odd about their parameters is added to `warnings`.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::error::Error::Refused) with all that is wrong with plugins and parameters.
    pub fn init(
        file: &'a JobFile,
        content: usize,
        surroundings: &'a Surroundings<'a>,
        warnings: &mut Vec<Warning>,
    ) -> Result<Job<'a>> {
        let watch = Watch::start();
        let entry = &file.content[content];
        let cancel = surroundings.cancel.child();
        let run = Run { id: uuid::Uuid::new_v4().to_string(), job: file.name.clone() };
        let calls_of_run = surroundings.calls.of(&run.id).masking(Arc::new(file.secrets()));
        let doing = Doing::default();
        let calls = calls_of_run.line_with(format!("job {}", file.name), &cancel, doing.clone());
        let host: HostRef = Arc::new(JobHost { cancel: cancel.clone(), doing: doing.clone() });
        let Parts { reader, writer, transformers, cut, facts } =
            parts::make(entry, file, surroundings.loader, &host, &calls, warnings)?;
        let writer_info = calls.call("info", || writer.info());

        let mut plan = plan::plan(&file.setting, surroundings.machine);
        let lanes = cut.and_then(|cut| lanes(&transformers[cut.order], cut, &writer_info, &mut plan)).map(Arc::new);
        if writer_info.commit == CommitClass::Atomic && plan.checkpoint.take().is_some() {
            plan.notes.push(
                "job.setting.checkpoint is ignored: this writer makes nothing visible before the whole job is done"
                    .into(),
            );
        }
        let share = Arc::new(surroundings.slots.share(entry.weight));
        surroundings.progress.shares_slots(&share);
        let channels = NonZeroUsize::new(plan.channels as usize).unwrap_or(NonZeroUsize::MIN);
        let opener = surroundings.openings.opener(plan::guaranteed(&file.setting), channels);
        let line = Line {
            reader: Mutex::new(reader),
            reader_name: entry.reader.name.clone(),
            writer: Mutex::new(writer),
            writer_name: entry.writer.name.clone(),
            transformers,
            cut,
            lanes,
            share,
            opener,
            queues: Arc::default(),
            attempts: Attempts::default(),
            target: surroundings.targets.gate(&writer_info),
            throttle: Throttle::new(plan.bytes_per_second, plan.records_per_second),
            budget: Budget::new(plan.memory_bytes),
            dirty: Arc::new(dirty(file, surroundings, &run, &plan)),
            calls: calls_of_run,
            doing,
            progress: surroundings.progress,
            recorder: surroundings.recorder,
            writer_info,
            drain: surroundings.drain.clone(),
            told_of_checkpoints: AtomicBool::new(false),
            cancel,
            plan,
            run,
        };
        line.progress.counts_dirty(line.dirty.kept());
        let mut perf = Perf::default();
        perf.end(Phase::JobInit, watch);
        Ok(Job {
            file,
            content,
            surroundings,
            line,
            calls,
            perf,
            started: Utc::now(),
            moving: Duration::ZERO,
            target_touched: false,
            committed: Committed::No,
            facts,
        })
    }

    /// How far it is.
    pub fn progress(&self) -> &'a Progress {
        self.line.progress
    }

    /// What its attempts at tasks are at.
    pub fn attempts(&self) -> Attempts {
        self.line.attempts.clone()
    }

    pub fn plan(&self) -> &Plan {
        &self.line.plan
    }

    pub fn writer_info(&self) -> &WriterInfo {
        &self.line.writer_info
    }

    /// The tasks that a run would have, at most so many of them, and whether there are more. Nothing is changed.
    ///
    /// # Errors
    /// When the reader cannot say.
    pub fn tasks(&self, most: usize) -> Result<(Vec<TaskSpec>, bool), Failure> {
        // With one loader the same source gives the same list.
        let source = Source::new(&self.line, self.content, NonZeroUsize::MIN);
        std::thread::scope(|scope| {
            let _loading = source.load(scope);
            let mut tasks = Vec::new();
            // One more than is wanted tells that there are more.
            while let Some(missing) = NonZeroUsize::new(most.saturating_add(1).saturating_sub(tasks.len())) {
                let batch = source.next_batch(missing)?;
                if batch.is_empty() {
                    break;
                }
                tasks.extend(batch);
            }
            let has_more = tasks.len() > most;
            tasks.truncate(most);
            Ok((tasks, has_more))
        })
    }

    /// What the writer will do to its target, a line each.
    pub fn statements(&self) -> Vec<String> {
        self.calls.call("plan", || self.line.writer().plan())
    }

    /// Runs the whole job.
    pub fn run(mut self) -> Summary {
        // It may have waited for its turn.
        self.started = Utc::now();
        self.line.progress.begin();
        record::begin(&self);
        let (recorder, dirty) = (self.line.recorder, self.line.dirty.clone());
        let summary = match self.line.seconds() {
            Some(seconds) => seconds.record_while(|| self.run_to_its_end()),
            None => self.run_to_its_end(),
        };
        if let Some(recorder) = recorder {
            record::end(recorder, &summary, &dirty);
        }
        summary
    }

    fn run_to_its_end(mut self) -> Summary {
        if let Err(failure) = self.prepare() {
            let outcome = self.complete(Some(failure), &[]);
            return self.summary(Vec::new(), outcome);
        }
        let watch = Watch::start();
        let (tasks, splitting) = {
            let loaders = self.file.setting.schedule.split_loaders;
            let loaders = loaders.and_then(|loaders| NonZeroUsize::new(loaders.get() as usize)).unwrap_or(LOADERS);
            let source = Source::new(&self.line, self.content, loaders);
            let adapts = self.file.setting.schedule.adaptive;
            (schedule::run(&self.line, &source, self.content, adapts), source.time())
        };
        self.moving = watch.elapsed();
        self.perf.add(Phase::JobSplit, watch, splitting, 0, 0);
        self.tell_of_phase();
        self.end(Phase::JobSchedule, watch);
        let outcome = self.complete(tasks.failure, &tasks.reports);
        self.summary(tasks.reports, outcome)
    }

    /// A phase of the job ends now.
    fn end(&mut self, phase: Phase, watch: Watch) {
        self.perf.end(phase, watch);
        self.tell_of_phase();
    }

    fn tell_of_phase(&self) {
        if let Some(recorder) = self.line.recorder {
            record::phase(recorder, self.line.owner(), &self.perf);
        }
    }

    /// The states that reader and writer prepared.
    fn prepare(&mut self) -> Result<(Value, Value), Failure> {
        let watch = Watch::start();
        let prepared = self.prepare_both();
        self.end(Phase::JobPrepare, watch);
        prepared
    }

    /// The reader first, then the writer, as in DataX.
    fn prepare_both(&mut self) -> Result<(Value, Value), Failure> {
        let reader_name = self.line.reader_name.clone();
        let reader_failed = |error| Failure::of(&error, &reader_name);
        let reader_state = self.calls.call("prepare", || self.line.reader().prepare()).map_err(reader_failed)?;
        let schema = self.calls.call("schema", || self.line.reader().schema()).map_err(reader_failed)?;
        let schema = schema.map(|schema| self.behind_transformers(schema)).transpose()?;
        if self.line.cancel.is_cancelled() {
            return Err(Failure::new(Kind::Cancelled, "cancelled"));
        }
        self.target_touched = true;
        let writer_state = self
            .calls
            .call("prepare", || self.line.writer().prepare(&self.line.run, schema))
            .map_err(|error| Failure::of(&error, &self.line.writer_name))?;
        Ok((reader_state, writer_state))
    }

    /// What arrives at the writer when the reader gives this.
    fn behind_transformers(&self, mut schema: SchemaRef) -> Result<SchemaRef, Failure> {
        let host: HostRef = Arc::new(JobHost { cancel: self.line.cancel.clone(), doing: Doing::default() });
        for maker in &self.line.transformers {
            let make = || maker.make(host.clone());
            let answer = self.calls.call("transform", || make().and_then(|mut transformer| transformer.schema(schema)));
            schema = answer.map_err(|error| self.refused_by(maker, &error))?;
        }
        Ok(schema)
    }

    /// Why a transformer does not take what the reader gives: with its place in the job file, where that is at fault.
    fn refused_by(&self, maker: &Maker<'_>, error: &transship_plugin_api::Error) -> Failure {
        let failure = Failure::of(error, maker.name());
        if !matches!(error.kind(), Kind::Config | Kind::Schema | Kind::Unsupported) {
            return failure;
        }
        let separator = if error.message().starts_with("parameter") { "." } else { ": " };
        let (_, message) = self.file.located(&format!("{}{separator}{}", maker.place(), error.message()));
        Failure { place: Vec::new(), message, ..failure }
    }

    /// Commits what the tasks wrote if all is well, otherwise aborts it. What is committed is not taken back.
    fn complete(&mut self, failure: Option<Failure>, reports: &[TaskReport]) -> Outcome {
        let writes = reports.iter().filter(|report| report.role.writes());
        let committed: Vec<Report> = writes.filter_map(|report| report.committed.clone()).collect();
        let objection = match failure {
            Some(failure) => Some(self.ended(failure, reports)),
            None => self.objection(reports),
        };
        let objection = match objection {
            None => self.commit(&committed).err().map(|failure| self.ended(failure, reports)),
            objection => objection,
        };
        if let Some(outcome) = objection {
            self.abort(&committed);
            return outcome;
        }
        match self.post() {
            Ok(()) => Outcome::Done,
            Err(failure) => self.ended(failure, reports),
        }
    }

    /// How a job with this failure ended.
    fn ended(&self, failure: Failure, reports: &[TaskReport]) -> Outcome {
        if failure.is_echo() { self.stopped(failure, reports) } else { Outcome::Failed(failure) }
    }

    /// Why work was given up, where nothing has failed.
    fn stopped(&self, echo: Failure, reports: &[TaskReport]) -> Outcome {
        let counts: Counts = reports.iter().flat_map(|report| [&report.counts, &report.aborted]).sum();
        let tripped = self.line.dirty.is_over().then(|| self.over_the_limit(&counts)).flatten();
        match tripped {
            Some(message) => Outcome::DirtyLimit { message },
            None if self.surroundings.cancel.is_cancelled() => Outcome::Cancelled,
            None => Outcome::Failed(echo),
        }
    }

    /// Why records that were all moved must not be committed.
    fn objection(&self, reports: &[TaskReport]) -> Option<Outcome> {
        let counts: Counts = reports.iter().map(|report| &report.counts).sum();
        if self.line.cancel.is_cancelled() {
            return Some(self.stopped(Failure::new(Kind::Cancelled, "cancelled"), reports));
        }
        // Each for itself: what one task has too many must not make up for what another has lost.
        if let Some(report) = reports.iter().find(|report| !report.counts.add_up()) {
            let message = format!("the records of task {} do not add up: {:?}", report.number, report.counts);
            return Some(Outcome::Failed(Failure::new(Kind::Internal, message)));
        }
        if counts.handed_on != counts.taken_on {
            let message = format!("{} records went into the lanes, and {} came out", counts.handed_on, counts.taken_on);
            return Some(Outcome::Failed(Failure::new(Kind::Internal, message)));
        }
        self.over_the_limit(&counts).map(|message| Outcome::DirtyLimit { message })
    }

    /// What to say where more records are dirty than the job allows.
    fn over_the_limit(&self, counts: &Counts) -> Option<String> {
        self.line.dirty.objection(counts.dirty(), counts.read)
    }

    fn commit(&mut self, reports: &[Report]) -> Result<(), Failure> {
        let watch = Watch::start();
        self.committed = Committed::Unknown;
        let result = self.calls.call("commit", || self.line.writer().commit(reports));
        if result.is_ok() {
            self.committed = Committed::Yes;
        }
        self.end(Phase::JobCommit, watch);
        result.map_err(|error| Failure::of(&error, &self.line.writer_name).within("commit"))
    }

    /// The writer first, then the reader, as in DataX.
    fn post(&mut self) -> Result<(), Failure> {
        let watch = Watch::start();
        let result = self
            .calls
            .call("post", || self.line.writer().post())
            .map_err(|error| Failure::of(&error, &self.line.writer_name))
            .and_then(|()| {
                let reader = &self.line.reader_name;
                self.calls.call("post", || self.line.reader().post()).map_err(|error| Failure::of(&error, reader))
            });
        self.end(Phase::JobPost, watch);
        result.map_err(|failure| failure.within("after the commit"))
    }

    fn abort(&self, reports: &[Report]) {
        if !self.target_touched {
            return;
        }
        if let Err(error) = self.calls.call("abort", || self.line.writer().abort(reports)) {
            log::warn!("{}: cannot clean up: {error}", self.line.writer_name);
        }
    }

    fn summary(self, tasks: Vec<TaskReport>, outcome: Outcome) -> Summary {
        let counts: Counts = tasks.iter().map(|report| &report.counts).sum();
        let aborted: Counts = tasks.iter().map(|report| &report.aborted).sum();
        let Job { file, content, surroundings, line, calls, mut perf, started, moving, committed, .. } = self;
        let mut summary = Summary {
            job: line.run.job.clone(),
            content,
            contents: file.running().len(),
            job_id: surroundings.job_id,
            run: line.run.id.clone(),
            reader: line.reader_name.clone(),
            writer: line.writer_name.clone(),
            started,
            ended: started,
            moving_seconds: moving.as_secs_f64(),
            commit_class: line.writer_info.commit,
            checkpoints: line.plan.checkpoint.is_some() && !line.told_of_checkpoints.load(Ordering::Relaxed),
            channels: line.plan.channels,
            standing: line.share.standing(),
            drained: outcome == Outcome::Done && line.drain.is_wished(),
            outcome,
            committed,
            counts,
            aborted,
            tasks,
            stages: line.metrics(true),
            perf: Perf::default(),
            first_dirty: line.dirty.first().map(String::from),
            dirty_file: line.dirty.file().filter(|_| counts.dirty() + aborted.dirty() > 0).map(PathBuf::from),
        };
        let watch = Watch::start();
        line.progress.whole(&summary.stages);
        line.progress.end();
        // The writer first, then the reader, as in DataX.
        let (reader, writer) = (into_inner(line.reader), into_inner(line.writer));
        calls.call("release", || drop(writer));
        calls.call("release", || drop(reader));
        perf.end(Phase::JobDestroy, watch);
        if let Some(recorder) = line.recorder {
            record::phase(recorder, Owner { run: &summary.run, job: &summary.job }, &perf);
        }
        summary.ended = Utc::now();
        summary.perf = perf;
        summary
    }
}

/// The lanes of a job that keeps records in order. With them nothing is tried again by itself: what has gone into the lanes cannot be
/// taken back.
fn lanes(order: &Maker<'_>, cut: Cut, writer: &WriterInfo, plan: &mut Plan) -> Option<Lanes> {
    let setting = order.order()?.clone();
    let channels = NonZeroUsize::new(plan.channels as usize).unwrap_or(NonZeroUsize::MIN);
    let mut count = setting.lanes.unwrap_or(channels);
    // Behind a merge there is one writer task, however many lanes there are.
    if let Some(most) = NonZeroUsize::new(writer.max_open_tasks as usize).filter(|_| cut.merge.is_none())
        && count > most
    {
        plan.notes.push(format!(
            "{}: {most} of {count} lanes run, for the target takes no more tasks at once; lanes that end in a \"merge\" could be more",
            order.place()
        ));
        count = most;
    }
    if plan.max_attempts > 1 {
        plan.notes.push("with \"order\" a failed task fails the job: only the whole of it can be tried again".into());
        plan.max_attempts = 1;
    }
    let bytes = NonZeroUsize::new(plan.capacity.bytes).unwrap_or(NonZeroUsize::MIN);
    let lanes = Lanes::new(setting, count, (plan.batch.records, plan.batch.bytes), bytes);
    Some(if cut.merge.is_some() { lanes.merging() } else { lanes })
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn dirty(file: &JobFile, surroundings: &Surroundings<'_>, run: &Run, plan: &Plan) -> Dirty {
    let places = match &surroundings.dirty_file {
        Some(file) => vec![file.clone()],
        None => {
            let name = PathBuf::from(format!("{}.{}.dirty.jsonl", run.job, run.id.get(..8).unwrap_or(&run.id)));
            vec![name.clone(), surroundings.temporary_folder.join(name)]
        }
    };
    let under_way = u64::from(plan.channels) * plan.batch.records as u64;
    Dirty::new(file.setting.dirty, under_way, places, file.secrets())
}
