//! The parameters of a replay, checked.

use std::time::Duration;

use transship_plugin_api::{Params, Result};

/// What a replay is like.
#[derive(Debug, Clone)]
pub(crate) struct ReplayConfig {
    /// Events a second, those that come twice counted once.
    pub(crate) rate: f64,
    pub(crate) clients: u64,
    pub(crate) first_client: i64,
    /// The share of all events that the first client sends, beside what is its part of the others.
    pub(crate) hot_share: f64,
    /// The share of events that come twice.
    pub(crate) duplicates: f64,
    /// How much later they come again: from this to that.
    pub(crate) delay: (Duration, Duration),
    /// How many events there are, those that come twice counted once; `None`: there is no end.
    pub(crate) events: Option<u64>,
    /// What determines everything but the moments; `None` something else in every run.
    pub(crate) seed: Option<u64>,
    /// Whether events come at their times, rather than all at once.
    pub(crate) in_real_time: bool,
    /// How long an event may wait for others to travel with.
    pub(crate) linger: Duration,
}

/// For each client the number of its last event is remembered.
const MOST_CLIENTS: u64 = 100_000_000;

impl ReplayConfig {
    /// About how many events there are, those that come twice counted twice.
    pub(crate) fn deliveries(&self) -> Option<u64> {
        self.events.map(|events| events.saturating_add((events as f64 * self.duplicates) as u64))
    }

    /// Reads the `replay` object.
    pub(crate) fn parse(params: &Params<'_>) -> Result<ReplayConfig> {
        let rate = match params.number("rate")? {
            Some(rate) if !(1e-6..=1e9).contains(&rate) => {
                return Err(params.error("rate", format_args!("must be from 0.000001 to a billion, not {rate}")));
            }
            rate => rate.unwrap_or(1_000.0),
        };
        let clients = params.whole("clients")?.unwrap_or(100);
        if !(1..=MOST_CLIENTS).contains(&clients) {
            return Err(params.error("clients", format_args!("must be from 1 to {MOST_CLIENTS}, not {clients}")));
        }
        let first_client = params.integer("firstClient")?.unwrap_or(1_000);
        if first_client.checked_add(clients as i64 - 1).is_none() {
            return Err(params.error("firstClient", "leaves no room for the numbers of all clients in 64 bits"));
        }
        let events = match (params.whole("events")?, params.number("seconds")?) {
            (Some(_), Some(_)) => return Err(params.error("events", "and seconds both say how many there are")),
            (Some(events), None) => Some(events),
            (None, Some(seconds)) if seconds < 0.0 => {
                return Err(params.error("seconds", format_args!("must be a number from 0 on, not {seconds}")));
            }
            (None, Some(seconds)) => Some((seconds * rate).ceil() as u64),
            (None, None) => None,
        };
        Ok(ReplayConfig {
            rate,
            clients,
            first_client,
            hot_share: share(params, "hotShare", 0.0)?,
            duplicates: share(params, "duplicates", 0.01)?,
            delay: delay(params)?,
            events,
            seed: params.whole("seed")?,
            in_real_time: params.truth("realTime")?.unwrap_or(true),
            linger: params.length("linger")?.unwrap_or(Duration::from_millis(5)),
        })
    }
}

fn share(params: &Params<'_>, key: &str, default: f64) -> Result<f64> {
    match params.number(key)? {
        Some(share) if !(0.0..=1.0).contains(&share) => {
            Err(params.error(key, format_args!("must be a share from 0 to 1, not {share}")))
        }
        share => Ok(share.unwrap_or(default)),
    }
}

/// `["10 ms", "5 s"]`; a single length of time is both ends.
fn delay(params: &Params<'_>) -> Result<(Duration, Duration)> {
    let problem = "must be the shortest and the longest delay, like [\"10 ms\", \"5 s\"]";
    let lengths = params.texts("delay")?;
    let lengths: Option<Vec<Duration>> =
        lengths.iter().map(|text| transship_plugin_api::params::length_of_time(text)).collect();
    match lengths.as_deref() {
        Some([]) => Ok((Duration::from_millis(10), Duration::from_secs(5))),
        Some([always]) => Ok((*always, *always)),
        Some([shortest, longest]) if shortest <= longest => Ok((*shortest, *longest)),
        _ => Err(params.error("delay", problem)),
    }
}
