//! What all tasks of a job share of a lookup: the plugin's object, prepared once, the cache, and what was counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use arrow_schema::SchemaRef;
use transship_plugin_api::{Error, HostRef, Lookup, Result};

use super::parameters::CacheSettings;
use crate::clock::Clock;
use crate::latency::Histogram;
use crate::lookup::{Cache, Counters};
use crate::metrics::{Figure, Latency};

/// Makes the plugin's lookup.
type New = Box<dyn Fn() -> Result<Box<dyn Lookup>> + Send + Sync>;

/// One lookup of a job.
pub struct SharedLookup {
    name: String,
    new: New,
    /// The job's: whether the whole job is given up.
    host: HostRef,
    clock: Arc<dyn Clock>,
    prepared: Mutex<Option<Arc<Prepared>>>,
    cache: Mutex<Option<Cache>>,
    counted: Counted,
    answers: Mutex<Answers>,
    /// How it is asked, in a few words.
    setting: OnceLock<String>,
}

/// A lookup that may be asked.
pub(super) struct Prepared {
    pub lookup: Box<dyn Lookup>,
    /// The columns of its keys…
    pub keys: SchemaRef,
    /// …and of what it finds.
    pub columns: SchemaRef,
}

/// Sums over all tasks.
#[derive(Default)]
struct Counted {
    in_flight: AtomicU64,
    calls: AtomicU64,
    keys: AtomicU64,
    retries: AtomicU64,
    timeouts: AtomicU64,
    failures: AtomicU64,
    late: AtomicU64,
    shared: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// How long calls took that were answered.
#[derive(Default)]
struct Answers {
    /// Since somebody asked last.
    lately: Histogram,
    /// Up to then.
    before: Histogram,
}

impl SharedLookup {
    /// The lookup that `new` makes. `host` is the job's.
    pub fn new(
        name: impl Into<String>,
        host: HostRef,
        clock: Arc<dyn Clock>,
        new: impl Fn() -> Result<Box<dyn Lookup>> + Send + Sync + 'static,
    ) -> SharedLookup {
        SharedLookup {
            name: name.into(),
            new: Box::new(new),
            host,
            clock,
            prepared: Mutex::default(),
            cache: Mutex::default(),
            counted: Counted::default(),
            answers: Mutex::default(),
            setting: OnceLock::new(),
        }
    }

    /// Notes how it is asked: it is the same for all tasks.
    pub(super) fn describe(&self, setting: String) {
        self.setting.get_or_init(|| format!("{}, {setting}", self.name));
    }

    /// How it is asked, in a few words.
    pub fn setting(&self) -> String {
        self.setting.get().cloned().unwrap_or_default()
    }

    /// Its name in the job file.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn now(&self) -> Duration {
        self.clock.now()
    }

    /// Whether it can be made at all.
    pub fn try_out(&self) -> Result<()> {
        (self.new)().map(drop)
    }

    /// Prepares it for these keys; all but the first to ask get what the first got.
    pub(super) fn prepared(&self, keys: &SchemaRef) -> Result<Arc<Prepared>> {
        let mut slot = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(prepared) = &*slot {
            check_same(&prepared.keys, keys)?;
            return Ok(prepared.clone());
        }
        let mut lookup = (self.new)()?;
        let columns = lookup.prepare(keys.clone()).map_err(|error| error.context(&self.name))?;
        let prepared = Arc::new(Prepared { lookup, keys: keys.clone(), columns });
        *slot = Some(prepared.clone());
        Ok(prepared)
    }

    /// Works on the cache, if there is one.
    pub(super) fn with_cache<T>(&self, work: impl FnOnce(&mut Cache) -> T) -> Option<T> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let cache = cache.as_mut()?;
        let result = work(cache);
        let (hits, misses) = cache.hits_and_misses();
        self.counted.hits.store(hits, Ordering::Relaxed);
        self.counted.misses.store(misses, Ordering::Relaxed);
        Some(result)
    }

    /// Makes the cache, unless it is there.
    pub(super) fn keep_cache(&self, settings: CacheSettings) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.get_or_insert_with(|| Cache::new(settings.entries, settings.time_to_live, settings.missing));
    }

    /// Tells the lookup that calls need no answer, if that holds for the whole job.
    pub(super) fn cancel_with_job(&self) {
        if !self.host.is_cancelled() {
            return;
        }
        // Whoever prepares it holds the lock, and is asked by nobody yet.
        let prepared = self.prepared.try_lock().ok().and_then(|prepared| prepared.clone());
        if let Some(prepared) = prepared {
            prepared.lookup.cancel();
        }
    }

    /// Adds what a task has counted since it last did.
    pub(super) fn count(&self, before: &Counters, now: &Counters) {
        let pairs = [
            (&self.counted.calls, before.calls, now.calls),
            (&self.counted.keys, before.keys, now.keys),
            (&self.counted.retries, before.retries, now.retries),
            (&self.counted.timeouts, before.timeouts, now.timeouts),
            (&self.counted.failures, before.failures, now.failures),
            (&self.counted.late, before.late, now.late),
            (&self.counted.shared, before.shared, now.shared),
        ];
        for (sum, before, now) in pairs {
            if now > before {
                sum.fetch_add(now - before, Ordering::Relaxed);
            }
        }
    }

    /// So many keys of a task are in flight now, where there were so many before.
    pub(super) fn in_flight(&self, before: usize, now: usize) {
        if now >= before {
            self.counted.in_flight.fetch_add((now - before) as u64, Ordering::Relaxed);
        } else {
            self.counted.in_flight.fetch_sub((before - now) as u64, Ordering::Relaxed);
        }
    }

    /// Adds how long calls of a task took.
    pub(super) fn add_answers(&self, answers: &Histogram) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).lately.add(answers);
    }

    /// How long calls took that were answered: since somebody asked last, or (`ever`) in the whole job.
    pub fn latencies(&self, ever: bool) -> Vec<Latency> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let lately = std::mem::take(&mut answers.lately);
        answers.before.add(&lately);
        vec![Latency::of("answer", &lately, &answers.before, ever)]
    }

    /// What all tasks have counted together.
    pub fn figures(&self) -> Vec<Figure> {
        let counted = &self.counted;
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut figures = vec![
            Figure::gauge("in flight", value(&counted.in_flight)),
            Figure::counter("calls", value(&counted.calls)),
            Figure::counter("keys", value(&counted.keys)),
            Figure::counter("retries", value(&counted.retries)),
            Figure::counter("time-outs", value(&counted.timeouts)),
            Figure::counter("failures", value(&counted.failures)),
            Figure::counter("late answers", value(&counted.late)),
        ];
        if self.with_cache(|_| ()).is_some() {
            figures.push(Figure::counter("cache hits", value(&counted.hits)));
            figures.push(Figure::counter("cache misses", value(&counted.misses)));
            figures.push(Figure::counter("shared answers", value(&counted.shared)));
        }
        figures
    }

    /// What a person should know of how it went.
    pub fn remarks(&self) -> Vec<String> {
        match self.counted.failures.load(Ordering::Relaxed) {
            0 => Vec::new(),
            failures => vec![format!("{failures} lookups of {} failed for good", self.name)],
        }
    }
}

/// Another split may have columns of other types.
fn check_same(told: &SchemaRef, keys: &SchemaRef) -> Result<()> {
    let same = told.fields().iter().zip(keys.fields()).all(|(told, key)| told.data_type() == key.data_type());
    if same && told.fields().len() == keys.fields().len() {
        return Ok(());
    }
    let types = |schema: &SchemaRef| {
        let types: Vec<String> =
            schema.fields().iter().map(|field| format!("{} {}", field.name(), field.data_type())).collect();
        types.join(", ")
    };
    Err(Error::schema(format!("the key columns are ({}) here, but ({}) elsewhere", types(keys), types(told))))
}
