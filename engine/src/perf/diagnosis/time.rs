//! What the time of a run was spent with: of each attempt by its phases, of all of them as parts of the whole.

use std::collections::HashMap;

use super::{Part, PartShare, between, seconds};
use crate::perf::recording::{PhaseLine, Recording};
use crate::perf::{PerfRecord, Phase, Side};

/// What one attempt, or several together, spent their time with, in seconds.
#[derive(Debug, Clone, Default)]
pub(super) struct Spent {
    phases: HashMap<Phase, f64>,
    /// Of the threads that read.
    pub(super) reader: CpuSeconds,
    /// Of the threads that write.
    pub(super) writer: CpuSeconds,
}

/// What threads had of the CPUs, in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CpuSeconds {
    pub(super) used: f64,
    /// They could have run.
    pub(super) waited: f64,
}

/// What a phase took.
pub(super) struct Took {
    phase: Phase,
    nanos: u64,
    cpu_nanos: Option<u64>,
    cpu_wait_nanos: Option<u64>,
}

impl From<(Phase, u64)> for Took {
    fn from((phase, nanos): (Phase, u64)) -> Took {
        Took { phase, nanos, cpu_nanos: None, cpu_wait_nanos: None }
    }
}

impl From<&PhaseLine> for Took {
    fn from(line: &PhaseLine) -> Took {
        let PhaseLine { phase, elapsed_nanos: nanos, cpu_nanos, cpu_wait_nanos, .. } = *line;
        Took { phase, nanos, cpu_nanos, cpu_wait_nanos }
    }
}

impl From<&PerfRecord> for Took {
    fn from(record: &PerfRecord) -> Took {
        let PerfRecord { phase, elapsed_nanos: nanos, cpu_nanos, cpu_wait_nanos, .. } = *record;
        Took { phase, nanos, cpu_nanos, cpu_wait_nanos }
    }
}

impl<T: Into<Took>> FromIterator<T> for Spent {
    /// Of phases, each as often as it took any time.
    fn from_iter<I: IntoIterator<Item = T>>(phases: I) -> Spent {
        let mut all = Spent::default();
        phases.into_iter().for_each(|took| all.add(&took.into()));
        all
    }
}

impl Spent {
    fn add(&mut self, took: &Took) {
        *self.phases.entry(took.phase).or_default() += seconds(took.nanos);
        let cpu = match took.phase.side() {
            // It has once more what its phases have.
            _ if took.phase == Phase::TaskTotal => return,
            Side::Job => return,
            Side::Reader => &mut self.reader,
            Side::Writer => &mut self.writer,
        };
        cpu.used += seconds(took.cpu_nanos.unwrap_or_default());
        cpu.waited += seconds(took.cpu_wait_nanos.unwrap_or_default());
    }

    pub(super) fn of(&self, phase: Phase) -> f64 {
        self.phases.get(&phase).copied().unwrap_or_default()
    }

    fn sum<const N: usize>(&self, phases: [Phase; N]) -> f64 {
        phases.map(|phase| self.of(phase)).iter().sum()
    }

    pub(super) fn reads(&self) -> bool {
        self.phases.contains_key(&Phase::ReadTaskInit)
    }

    pub(super) fn writes(&self) -> bool {
        self.phases.keys().any(|phase| phase.side() == Side::Writer)
    }

    fn transforms(&self) -> bool {
        self.phases.contains_key(&Phase::TransformerTime)
    }

    /// Opening splits: the first calls of a reader.
    pub(super) fn opening_source(&self) -> f64 {
        self.sum([Phase::ReadTaskInit, Phase::ReadTaskPrepare])
    }

    /// The other calls of the reader.
    pub(super) fn reading(&self) -> f64 {
        let waits = self.sum([Phase::WaitWriteTime, Phase::WaitLimitTime, Phase::WaitSlotTime]);
        let moving = (self.of(Phase::ReadTaskData) - waits - self.of(Phase::TransformerTime)).max(0.0);
        moving + self.sum([Phase::ReadTaskPost, Phase::ReadTaskDestroy])
    }

    pub(super) fn opening_target(&self) -> f64 {
        self.sum([Phase::WriteTaskInit, Phase::WriteTaskPrepare])
    }

    /// The other calls of the writer but the commit. In a lane the transformers stand before it.
    pub(super) fn writing(&self) -> f64 {
        let transforming = if self.reads() { 0.0 } else { self.of(Phase::TransformerTime) };
        let moving = (self.of(Phase::WriteTaskData) - self.of(Phase::WaitReadTime) - transforming).max(0.0);
        moving + self.of(Phase::WriteTaskDestroy)
    }

    /// The work of a reader's thread, whatever it waits for meanwhile but the other side. In a lane it is the transformers'.
    pub(super) fn at_source(&self) -> f64 {
        self.opening_source() + self.reading() + self.transforming()
    }

    /// The same of a writer's thread.
    pub(super) fn at_target(&self) -> f64 {
        self.opening_target() + self.writing() + self.of(Phase::WriteTaskPost)
    }

    /// The transformers but lookups.
    fn transforming(&self) -> f64 {
        (self.of(Phase::TransformerTime) - self.of(Phase::LookupTime)).max(0.0)
    }
}

/// How long a run took, in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spans {
    /// Until records moved.
    pub(super) prepare: f64,
    pub(super) moving: f64,
    pub(super) commit: f64,
    /// After the commit.
    pub(super) post: f64,
    pub(super) wall: f64,
}

impl Spans {
    pub(super) fn of(recording: &Recording) -> Spans {
        let lines =
            |phase: Phase| recording.phases.iter().filter(move |line| line.task.is_none() && line.phase == phase);
        let has_ended = |phase: Phase| lines(phase).next().is_some();
        let job = |phase: Phase| lines(phase).map(|line| seconds(line.elapsed_nanos)).sum::<f64>();
        let mut spans = Spans {
            prepare: job(Phase::JobPrepare),
            moving: job(Phase::JobSchedule),
            commit: job(Phase::JobCommit),
            post: job(Phase::JobPost) + job(Phase::JobDestroy),
            wall: 0.0,
        };
        if recording.end.is_none() {
            // It goes on, or was killed: what the others leave of the time since it began is of the phase that had not ended.
            let lasted = between(recording.run.start_micros, recording.until());
            let rest = (lasted - spans.prepare - spans.moving - spans.commit - spans.post).max(0.0);
            let open = if !has_ended(Phase::JobPrepare) && recording.tasks.is_empty() {
                &mut spans.prepare
            } else if !has_ended(Phase::JobSchedule) {
                &mut spans.moving
            } else if !has_ended(Phase::JobCommit) {
                &mut spans.commit
            } else {
                &mut spans.post
            };
            *open += rest;
        }
        // The reader and the writer are made before the run begins.
        spans.prepare += job(Phase::JobInit);
        spans.wall = spans.prepare + spans.moving + spans.commit + spans.post;
        spans
    }
}

/// What the attempts spent, and where some had not ended when the recording did, what these had spent by its last second.
pub(super) fn all_spent(recording: &Recording, ended: &[Spent]) -> Vec<Spent> {
    let mut all = ended.to_vec();
    if let (None, Some(last)) = (&recording.end, recording.seconds.last()) {
        for open in [&last.open_readers_nanos, &last.open_writers_nanos] {
            all.push(open.iter().map(|(phase, nanos)| (*phase, *nanos)).collect());
        }
    }
    all
}

/// The parts of a run, the largest first.
pub(super) fn parts(all: &[Spent], spans: Spans) -> Vec<PartShare> {
    // Of the sides of tasks that were at work for so long in sum.
    let side = |is_of: fn(&Spent) -> bool, time: &dyn Fn(&Spent) -> f64| {
        let of_side = all.iter().filter(|spent| is_of(spent));
        let (total, part) =
            of_side.fold((0.0, 0.0), |(total, part), spent| (total + spent.of(Phase::TaskTotal), part + time(spent)));
        if total > 0.0 { part / total * spans.moving } else { 0.0 }
    };
    let wait = |is_of: fn(&Spent) -> bool, phase: Phase| side(is_of, &|spent| spent.of(phase));
    // Of the side that starves more: the other waits for it meanwhile.
    let cpu =
        f64::max(side(Spent::reads, &|spent| spent.reader.waited), side(Spent::writes, &|spent| spent.writer.waited));
    let parts = [
        (Part::OpenSource, side(Spent::reads, &Spent::opening_source)),
        (Part::Reader, side(Spent::reads, &Spent::reading)),
        (Part::Transformers, side(Spent::transforms, &Spent::transforming)),
        (Part::Lookup, wait(Spent::transforms, Phase::LookupTime)),
        (Part::OpenTarget, side(Spent::writes, &Spent::opening_target)),
        (Part::Writer, side(Spent::writes, &Spent::writing)),
        (Part::Commit, spans.commit + wait(Spent::writes, Phase::WriteTaskPost)),
        (Part::Prepare, spans.prepare),
        (Part::Post, spans.post),
        (Part::SpeedLimit, wait(Spent::reads, Phase::WaitLimitTime)),
        (Part::Slots, wait(Spent::reads, Phase::WaitSlotTime)),
        (Part::Turn, wait(Spent::writes, Phase::WaitTurnTime)),
        (Part::WaitForReader, wait(Spent::writes, Phase::WaitReadTime)),
        (Part::WaitForWriter, wait(Spent::reads, Phase::WaitWriteTime)),
        (Part::Cpu, cpu),
    ];
    let mut shares: Vec<PartShare> = parts
        .into_iter()
        .filter(|(_, seconds)| *seconds > 0.0)
        .map(|(part, seconds)| PartShare { part, seconds, share: seconds / spans.wall.max(1e-9) })
        .collect();
    shares.sort_by(|left, right| right.share.total_cmp(&left.share));
    shares
}
