//! The window of a `dedup`, shared by all tasks of a job: which keys came not long ago. Asking and remembering are one: of several
//! records with one key, whichever task they come in, exactly one is the first.

use std::collections::HashMap;
use std::sync::{Arc, Once};

use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use transship_plugin_api::Origin;

use super::ids::Ids;
use super::key::{Key, KeyHasher};
use super::keys::Keys;
use super::settings::Settings;
use crate::clock::Clock;
use crate::dirty::{Dirty, Watcher};
use crate::metrics::Figure;
use crate::sync::{Mutex, lock};
use crate::transform::step::AttemptId;

/// How many keys are looked for at once.
const FETCHED: usize = 64;

pub(in crate::transform) struct Window {
    setting: String,
    capacity_bytes: u64,
    forgets_failures: bool,
    clock: Arc<dyn Clock>,
    hasher: KeyHasher,
    state: Mutex<State>,
    watching: Once,
}

struct State {
    ids: Ids,
    /// The attempts that have begun, by the number that they are called by here. The first is nobody's.
    attempts: Vec<Attempt>,
    numbers: HashMap<AttemptId, u32>,
    /// The records of all attempts that were not abandoned.
    distinct: u64,
    duplicates: u64,
    /// Keys that were forgotten because their record was dirty.
    forgotten: u64,
}

#[derive(Debug, Default)]
struct Attempt {
    distinct: u64,
    duplicates: u64,
}

impl Window {
    pub(super) fn new(settings: &Settings, clock: Arc<dyn Clock>) -> Window {
        let window = match settings.window {
            Some(window) => humantime::format_duration(window).to_string(),
            None => "the whole run".into(),
        };
        let ids = Ids::new(settings.window, settings.capacity_bytes, settings.forget_on_failure);
        let state = State {
            ids,
            attempts: vec![Attempt::default()],
            numbers: HashMap::new(),
            distinct: 0,
            duplicates: 0,
            forgotten: 0,
        };
        Window {
            setting: format!("window {window}, at most {}", bytes_text(settings.capacity_bytes)),
            capacity_bytes: settings.capacity_bytes,
            forgets_failures: settings.forget_on_failure,
            clock,
            hasher: KeyHasher::default(),
            state: Mutex::new(state),
            watching: Once::new(),
        }
    }

    /// What keys are hashed with.
    pub(super) fn hasher(&self) -> KeyHasher {
        self.hasher.clone()
    }

    /// Notes an attempt, unless it is known; returns what it is called here.
    pub(super) fn begin(&self, id: AttemptId) -> u32 {
        let mut guard = lock(&self.state);
        let State { attempts, numbers, .. } = &mut *guard;
        *numbers.entry(id).or_insert_with(|| {
            attempts.push(Attempt::default());
            attempts.len() as u32 - 1
        })
    }

    /// Learns of dirty records, where it has to.
    pub(super) fn watch(self: &Arc<Self>, dirty: &Dirty) {
        if self.forgets_failures {
            self.watching.call_once(|| dirty.watch(self.clone()));
        }
    }

    /// Which of the records with these keys are to go on, and how many of the others are duplicates. The lock is taken once for all
    /// of them.
    pub(super) fn check(&self, attempt: u32, keys: &Keys, origin: &Origin) -> (BooleanBuffer, u64) {
        let mut kept = BooleanBufferBuilder::new(keys.keys.len());
        kept.append_n(keys.keys.len(), true);
        for (row, _) in &keys.malformed {
            kept.set_bit(*row, false);
        }
        let mut duplicates = 0;
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        // The time is asked for under the lock: it must not go back from one batch to the next.
        state.ids.turn_to(self.clock.now(), attempt);
        let mut row = 0;
        for some in keys.keys.chunks(FETCHED) {
            state.ids.fetch(some);
            for key in some {
                if key.is_mark() {
                    if *key == Key::TOO_LONG {
                        state.ids.refuse();
                    }
                } else if !state.ids.insert(key, &keys.long, origin.position(row)) {
                    kept.set_bit(row, false);
                    duplicates += 1;
                }
                row += 1;
            }
        }
        let distinct = (keys.keys.len() - keys.malformed.len()) as u64 - duplicates;
        state.distinct += distinct;
        state.duplicates += duplicates;
        let counts = &mut state.attempts[attempt as usize];
        counts.distinct += distinct;
        counts.duplicates += duplicates;
        drop(guard);
        (kept.finish(), duplicates)
    }

    /// Forgets what an attempt has brought: it has come to nothing.
    pub(super) fn abandon(&self, attempt: u32) {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        state.ids.forget_attempt(attempt);
        let counts = std::mem::take(&mut state.attempts[attempt as usize]);
        state.distinct -= counts.distinct;
        state.duplicates -= counts.duplicates;
    }

    /// How it is set, for people.
    pub(in crate::transform) fn setting(&self) -> String {
        self.setting.clone()
    }

    /// What it counts, and what it remembers now.
    pub(in crate::transform) fn figures(&self) -> Vec<Figure> {
        let mut state = lock(&self.state);
        // Keys leave without traffic: nobody's attempt lets the time pass.
        state.ids.turn_to(self.clock.now(), 0);
        let mut figures = vec![
            // Not counters: of an attempt that comes to nothing they are taken back.
            Figure::gauge("distinct", state.distinct),
            Figure::gauge("duplicates", state.duplicates),
            Figure::counter("evicted", state.ids.evicted()),
            Figure::gauge("remembered", state.ids.len() as u64),
            Figure::gauge("remembered bytes", state.ids.bytes()),
        ];
        if self.forgets_failures {
            figures.push(Figure::counter("forgotten", state.forgotten));
        }
        figures
    }

    /// What a person should know about how it went.
    pub(in crate::transform) fn remarks(&self) -> Vec<String> {
        let evicted = lock(&self.state).ids.evicted();
        if evicted == 0 {
            return Vec::new();
        }
        let keys = if evicted == 1 { "key was" } else { "keys were" };
        vec![format!(
            "{evicted} {keys} evicted before the window was over: duplicates of them may have come through; a larger capacity than \
             {} keeps them",
            bytes_text(self.capacity_bytes)
        )]
    }
}

impl Watcher for Window {
    fn dirty(&self, task: u32, attempt: u32, position: u64) {
        let id = AttemptId { task, attempt };
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        if let Some(number) = state.numbers.get(&id) {
            state.forgotten += state.ids.forget_position(*number, position);
        }
    }
}

/// A number of bytes in the largest unit that it is a whole number of.
fn bytes_text(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(shift, _)| bytes.is_multiple_of(1 << shift)) {
        Some((shift, unit)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} bytes"),
    }
}
