//! A machine whose slots work through slices on a clock of its own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use super::super::Rules;
use super::super::turns::Turns;

pub(super) const SECOND: Duration = Duration::from_secs(1);

pub(super) struct Machine {
    pub(super) turns: Turns,
    pub(super) now: Duration,
    workers: Vec<Worker>,
    /// Slices that run: when each ends, and whose it is.
    ends: BinaryHeap<Reverse<(Duration, usize)>>,
    /// Who got a slice, in order, with when it began.
    pub(super) served: Vec<(usize, Duration)>,
    /// Contents that never leave their level, and when that begins.
    pinned: Vec<(usize, Duration)>,
}

struct Worker {
    contender: usize,
    content: usize,
    slice: Box<dyn FnMut() -> Duration>,
    left: Duration,
    has_served: Duration,
    finished: Option<Duration>,
    last: Duration,
    longest_gap: Duration,
}

impl Machine {
    pub(super) fn new(slots: usize, rules: Rules) -> Machine {
        Machine {
            turns: Turns::new(slots, rules),
            now: Duration::ZERO,
            workers: Vec::new(),
            ends: BinaryHeap::new(),
            served: Vec::new(),
            pinned: Vec::new(),
        }
    }

    /// Rules by which nobody is ever overdue.
    pub(super) fn without_gaps(quantum: Duration) -> Rules {
        Rules { quantum, longest_gap: Duration::MAX }
    }

    pub(super) fn content(&mut self) -> usize {
        self.turns.add_content(1)
    }

    /// Something to work on in slices of this length, that comes now.
    pub(super) fn work(&mut self, content: usize, slice: Duration, work: Duration) -> usize {
        self.varied_work(content, move || slice, work)
    }

    pub(super) fn varied_work(
        &mut self,
        content: usize,
        slice: impl FnMut() -> Duration + 'static,
        work: Duration,
    ) -> usize {
        let contender = self.turns.add_contender(content, self.now);
        self.turns.want(contender, self.now);
        self.workers.push(Worker {
            contender,
            content,
            slice: Box::new(slice),
            left: work,
            has_served: Duration::ZERO,
            finished: None,
            last: self.now,
            longest_gap: Duration::ZERO,
        });
        self.workers.len() - 1
    }

    /// Holds a content in the level of what it has used by now.
    pub(super) fn pin(&mut self, content: usize) {
        let used = self.turns.account(content).used;
        self.pinned.push((content, used));
    }

    /// Works until this time, or until nothing is left.
    pub(super) fn run_until(&mut self, end: Duration) {
        loop {
            self.start();
            let Some(Reverse((time, worker))) = self.ends.peek().copied().filter(|Reverse((time, _))| *time <= end)
            else {
                break;
            };
            self.ends.pop();
            self.now = time;
            self.end(worker);
        }
        self.now = self.now.max(end);
    }

    fn start(&mut self) {
        while let Some(contender) = self.turns.next(self.now) {
            let number = self.workers.iter().position(|worker| worker.contender == contender).unwrap();
            let worker = &mut self.workers[number];
            worker.longest_gap = worker.longest_gap.max(self.now - worker.last);
            let slice = (worker.slice)().min(worker.left);
            self.served.push((number, self.now));
            self.ends.push(Reverse((self.now + slice, number)));
        }
    }

    fn end(&mut self, number: usize) {
        let worker = &mut self.workers[number];
        let slice = self.now - self.served.iter().rev().find(|(served, _)| *served == number).unwrap().1;
        worker.has_served += slice;
        worker.left -= slice;
        worker.last = self.now;
        let (contender, content) = (worker.contender, worker.content);
        if let Some((_, used)) = self.pinned.iter().find(|(pinned, _)| *pinned == content) {
            self.turns.account(content).used = *used;
        }
        if self.workers[number].left.is_zero() {
            self.workers[number].finished = Some(self.now);
            self.turns.remove_contender(contender, self.now);
        } else {
            self.turns.pass_on(contender, self.now);
        }
    }

    pub(super) fn served(&self, worker: usize) -> Duration {
        self.workers[worker].has_served
    }

    pub(super) fn finished(&self, worker: usize) -> Option<Duration> {
        self.workers[worker].finished
    }

    pub(super) fn longest_gap(&self, worker: usize) -> Duration {
        self.workers[worker].longest_gap
    }

    /// The percentage that each content got of all that was served.
    pub(super) fn shares(&self, contents: &[usize]) -> Vec<f64> {
        let all: Duration = self.workers.iter().map(|worker| worker.has_served).sum();
        let of = |content: &usize| {
            let served =
                self.workers.iter().filter(|worker| worker.content == *content).map(|worker| worker.has_served);
            100.0 * served.sum::<Duration>().as_secs_f64() / all.as_secs_f64()
        };
        contents.iter().map(of).collect()
    }

    /// Who was served, a letter each.
    pub(super) fn letters(&self) -> String {
        self.served.iter().map(|(worker, _)| char::from(b'A' + *worker as u8)).collect()
    }
}
