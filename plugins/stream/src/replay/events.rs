//! Which events a replay has and when each is due, counted from its beginning. There is no clock in here: the same seed
//! makes the same events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use super::config::ReplayConfig;
use crate::random::Random;

/// An event on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    /// When it is due, in nanoseconds from the beginning. It stands first: events are compared by it.
    pub(crate) due: u64,
    /// When it was made: the second time as the first.
    pub(crate) created: u64,
    pub(crate) sequence: i64,
    pub(crate) client: i64,
    pub(crate) id: [u8; 16],
}

/// All events, in the order in which they are due. There is a tick in every period; each makes an event, after a delay of less
/// than a period. Some events come a second time, later.
#[derive(Debug)]
pub(crate) struct Events {
    period: f64,
    clients: u64,
    first_client: i64,
    hot_share: f64,
    duplicates: f64,
    shortest: u64,
    delays: u64,
    /// How many ticks are to come; `None`: they never end.
    left: Option<u64>,
    tick: u64,
    draws: Draws,
    /// How many events each client has sent.
    sent: Vec<i64>,
    /// The next event that comes for the first time.
    fresh: Option<Event>,
    /// Those that come again.
    again: BinaryHeap<Reverse<Event>>,
}

/// A sequence of random numbers for each purpose.
#[derive(Debug)]
struct Draws {
    jitter: Random,
    client: Random,
    is_hot: Random,
    id: Random,
    comes_twice: Random,
    delay: Random,
}

impl Events {
    pub(crate) fn new(config: &ReplayConfig, seed: u64) -> Events {
        let draw = |purpose| Random::new(seed, &[purpose]);
        let nanos = |length: Duration| u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        let (shortest, longest) = (nanos(config.delay.0), nanos(config.delay.1));
        let mut events = Events {
            period: 1e9 / config.rate,
            clients: config.clients,
            first_client: config.first_client,
            hot_share: config.hot_share,
            duplicates: config.duplicates,
            shortest,
            delays: (longest - shortest).saturating_add(1),
            left: config.events,
            tick: 0,
            draws: Draws {
                jitter: draw(0),
                client: draw(1),
                is_hot: draw(2),
                id: draw(3),
                comes_twice: draw(4),
                delay: draw(5),
            },
            sent: vec![0; config.clients as usize],
            fresh: None,
            again: BinaryHeap::new(),
        };
        events.fresh = events.make();
        events
    }

    /// When the next event is due; `None`: there is none.
    pub(crate) fn next_due(&self) -> Option<u64> {
        let again = self.again.peek().map(|Reverse(event)| event.due);
        let fresh = self.fresh.as_ref().map(|event| event.due);
        fresh.into_iter().chain(again).min()
    }

    /// The next event, should it be due by then.
    pub(crate) fn next_by(&mut self, moment: u64) -> Option<Event> {
        let again = self.again.peek().map(|Reverse(event)| event.due);
        match (&self.fresh, again) {
            (Some(fresh), again) if again.is_none_or(|again| fresh.due <= again) => {
                if fresh.due > moment {
                    return None;
                }
                let next = self.make();
                std::mem::replace(&mut self.fresh, next)
            }
            (_, Some(again)) if again <= moment => self.again.pop().map(|Reverse(event)| event),
            _ => None,
        }
    }

    /// The event of the next tick.
    fn make(&mut self) -> Option<Event> {
        match &mut self.left {
            Some(0) => return None,
            Some(left) => *left -= 1,
            None => {}
        }
        let due = ((self.tick as f64 + self.draws.jitter.fraction()) * self.period) as u64;
        self.tick += 1;
        let client = self.draws.client.below(self.clients);
        let is_hot = self.hot_share > 0.0 && self.draws.is_hot.fraction() < self.hot_share;
        let client = if is_hot { 0 } else { client };
        let sent = &mut self.sent[client as usize];
        let sequence = *sent;
        *sent += 1;
        let client = self.first_client + client as i64;
        let event = Event { due, created: due, sequence, client, id: random_uuid(&mut self.draws.id) };
        if self.duplicates > 0.0 && self.draws.comes_twice.fraction() < self.duplicates {
            let delay = self.shortest + self.draws.delay.below(self.delays);
            self.again.push(Reverse(Event { due: due.saturating_add(delay), ..event }));
        }
        Some(event)
    }
}

/// A UUID of version 4: all random but for six bits that say so.
fn random_uuid(random: &mut Random) -> [u8; 16] {
    const VERSION_4: u128 = 4 << 76;
    const VARIANT: u128 = 0b10 << 62;
    let bits = (random.next() as u128) << 64 | random.next() as u128;
    ((bits & !(0xf << 76) & !(0b11 << 62)) | VERSION_4 | VARIANT).to_be_bytes()
}
