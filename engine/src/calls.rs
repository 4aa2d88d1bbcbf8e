//! Which plugin call each thread is in, so that one that ignores the wish to end can be named.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::secrets::Secrets;

/// Every thread that calls plugins.
#[derive(Clone)]
pub struct Calls {
    epoch: Instant,
    /// Whose calls are looked at and made; `None`: everybody's.
    owner: Option<Arc<str>>,
    /// What must not be seen of what they do.
    secrets: Arc<Secrets>,
    lines: Arc<Mutex<Vec<Weak<Line>>>>,
    /// Why work was given up last: what a person must be told if the process ends without waiting.
    cause: Arc<Mutex<Option<String>>>,
}

/// What a thread waits for in a call, as far as the plugin has told: a statement, a request.
#[derive(Debug, Clone, Default)]
pub struct Doing(Arc<Mutex<Told>>);

/// What a plugin told last.
#[derive(Debug, Default)]
struct Told {
    what: String,
    at: Option<Instant>,
}

/// One thread's line of calls, one after another.
pub struct Line {
    doing: Doing,
    owner: Option<Arc<str>>,
    secrets: Arc<Secrets>,
    /// Who is called, for messages: `task 3 (orders.csv), txtfilereader`.
    who: String,
    /// The wish that its calls should heed.
    cancel: Cancel,
    epoch: Instant,
    /// 0: in no call; otherwise the position in `NAMES` and one.
    call: AtomicUsize,
    since_millis: AtomicU64,
}

/// A call that goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    pub who: String,
    pub call: &'static str,
    pub lasting: Duration,
    /// What the plugin said last that it does, on one line, without secrets; empty: it never did.
    pub doing: String,
    /// How long ago it said so, or the call began, if that is later.
    pub still: Duration,
}

const NAMES: [&str; 20] = [
    "init",
    "prepare",
    "attach",
    "schema",
    "splits",
    "listing",
    "open",
    "next",
    "ack",
    "post",
    "write",
    "mark",
    "flush",
    "checkpoint",
    "commit",
    "abort",
    "transform",
    "release",
    "plan",
    "info",
];

impl Calls {
    /// No thread as yet.
    pub fn new() -> Calls {
        Calls {
            epoch: Instant::now(),
            owner: None,
            secrets: Arc::default(),
            lines: Arc::default(),
            cause: Arc::default(),
        }
    }

    /// Those of one run among them.
    pub fn of(&self, owner: &str) -> Calls {
        Calls { owner: Some(owner.into()), ..self.clone() }
    }

    /// The same, of which nobody learns these secrets.
    pub fn masking(self, secrets: Arc<Secrets>) -> Calls {
        Calls { secrets, ..self }
    }

    /// A line for a thread that will call `who`, and should stop when `cancel` says so.
    pub fn line(&self, who: impl Into<String>, cancel: &Cancel) -> Arc<Line> {
        self.line_with(who, cancel, Doing::default())
    }

    /// The same for one that tells what it does.
    pub fn line_with(&self, who: impl Into<String>, cancel: &Cancel, doing: Doing) -> Arc<Line> {
        let line = Arc::new(Line {
            doing,
            owner: self.owner.clone(),
            secrets: self.secrets.clone(),
            who: who.into(),
            cancel: cancel.clone(),
            epoch: self.epoch,
            call: AtomicUsize::new(0),
            since_millis: AtomicU64::new(0),
        });
        let mut lines = self.lock();
        lines.retain(|line| line.strong_count() > 0);
        lines.push(Arc::downgrade(&line));
        line
    }

    /// The calls that are under way although their work is cancelled, the longest first.
    pub fn overdue(&self) -> Vec<Stuck> {
        self.under_way_of(|line| line.cancel.is_cancelled())
    }

    /// The calls that are under way, the longest first.
    pub fn under_way(&self) -> Vec<Stuck> {
        self.under_way_of(|_| true)
    }

    fn under_way_of(&self, is_wanted: impl Fn(&Line) -> bool) -> Vec<Stuck> {
        let now = self.epoch.elapsed().as_millis() as u64;
        let mut stuck: Vec<Stuck> = self
            .lock()
            .iter()
            .filter_map(Weak::upgrade)
            .filter(|line| self.owner.is_none() || line.owner == self.owner)
            .filter(|line| is_wanted(line))
            .filter_map(|line| {
                let call = *NAMES.get(line.call.load(Ordering::Relaxed).checked_sub(1)?)?;
                let lasting = Duration::from_millis(now.saturating_sub(line.since_millis.load(Ordering::Relaxed)));
                let told = line.doing.told();
                let doing = in_brief(&line.secrets.mask(&told.what));
                let still = told.at.map_or(lasting, |at| lasting.min(at.elapsed()));
                Some(Stuck { who: line.secrets.mask(&line.who), call, lasting, doing, still })
            })
            .collect();
        stuck.sort_by_key(|stuck| std::cmp::Reverse(stuck.lasting));
        stuck
    }

    /// Notes why work is given up.
    pub fn note_cause(&self, cause: impl ToString) {
        *self.cause.lock().unwrap_or_else(PoisonError::into_inner) = Some(cause.to_string());
    }

    /// Why work was given up last, if anything failed.
    pub fn cause(&self) -> Option<String> {
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<Line>>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// More letters of a statement nobody needs to know which it is…
const MOST_LETTERS: usize = 300;
/// …and more bytes, blanks included, nobody has to remember until then.
const MOST_BYTES: usize = 16 << 10;

impl Doing {
    /// It does this now.
    pub fn set(&self, what: &str) {
        let mut told = self.told();
        told.what.clear();
        told.what.push_str(&what[..what.floor_char_boundary(MOST_BYTES)]);
        told.at = Some(Instant::now());
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The beginning of a statement on one line, however it is written.
fn in_brief(statement: &str) -> String {
    let words = statement.split_whitespace().flat_map(|word| [" ", word]).skip(1);
    let mut letters = words.flat_map(str::chars);
    let mut brief: String = letters.by_ref().take(MOST_LETTERS).collect();
    if letters.next().is_some() {
        brief.push('…');
    }
    brief
}

impl Stuck {
    /// The call, and what is done in it: `next` (SELECT …).
    pub fn told(&self) -> String {
        let doing = if self.doing.is_empty() { String::new() } else { format!(" ({})", self.doing) };
        format!("`{}`{doing}", self.call)
    }
}

impl Default for Calls {
    fn default() -> Calls {
        Calls::new()
    }
}

impl Line {
    /// Makes a call and notes it for as long as it lasts.
    pub fn call<T>(&self, name: &'static str, call: impl FnOnce() -> T) -> T {
        let number =
            NAMES.iter().position(|known| std::ptr::eq(*known, name) || *known == name).map_or(0, |index| index + 1);
        debug_assert!(number > 0, "{name} is not among the names of calls, so nobody would watch it");
        self.since_millis.store(self.epoch.elapsed().as_millis() as u64, Ordering::Relaxed);
        self.call.store(number, Ordering::Relaxed);
        let answer = call();
        self.call.store(0, Ordering::Relaxed);
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_of_cancelled_work_are_overdue() {
        let calls = Calls::new();
        let (running, cancelled) = (Cancel::new(), Cancel::new());
        cancelled.cancel();
        let first = calls.line("task 1", &running);
        let second = calls.line("task 2", &cancelled);
        let between = calls.line("task 3", &cancelled);
        between.call("next", || ());
        let overdue = first.call("next", || second.call("write", || calls.overdue()));
        let named: Vec<_> = overdue.iter().map(|stuck| (stuck.who.as_str(), stuck.call)).collect();
        assert_eq!(named, [("task 2", "write")]);
        assert_eq!(first.call("next", || calls.under_way().len()), 1);
        assert_eq!(calls.overdue(), []);
    }

    #[test]
    fn what_is_done_in_a_call_is_told_on_one_line_and_not_at_any_length() {
        let (calls, doing) = (Calls::new(), Doing::default());
        let line = calls.line_with("task 1", &Cancel::new(), doing.clone());
        doing.set("select *\n  from t");
        line.call("next", || assert_eq!(calls.under_way()[0].told(), "`next` (select * from t)"));
        doing.set(&"x".repeat(1000));
        line.call("next", || assert_eq!(calls.under_way()[0].doing.chars().count(), MOST_LETTERS + 1));
        doing.set("");
        line.call("next", || assert_eq!(calls.under_way()[0].told(), "`next`"));
    }

    #[test]
    fn secrets_are_masked_before_a_statement_is_cut() {
        let mut secrets = Secrets::default();
        secrets.add_all(&["two  words".into(), "crosses the end".into()]);
        let (calls, doing) = (Calls::new().masking(Arc::new(secrets)), Doing::default());
        let line = calls.line_with("task 1 (two  words)", &Cancel::new(), doing.clone());
        let statement = |padding: usize| format!("two  words {} crosses the end of it", "x".repeat(padding));
        for padding in MOST_LETTERS - 30..MOST_LETTERS {
            doing.set(&statement(padding));
            let told = line.call("next", || calls.under_way().remove(0));
            assert_eq!(told.who, "task 1 (***)");
            assert!(told.doing.starts_with("*** xxx") && !told.doing.contains("cr"), "{padding}: {}", told.doing);
        }
    }

    #[test]
    fn the_calls_of_one_run_are_told_apart_from_those_of_others() {
        let calls = Calls::new();
        let mine = calls.of("mine").line("task 1", &Cancel::new());
        mine.call("next", || {
            assert_eq!((calls.of("mine").under_way().len(), calls.of("other").under_way().len()), (1, 0));
            assert_eq!(calls.under_way().len(), 1, "everybody's");
        });
    }
}
