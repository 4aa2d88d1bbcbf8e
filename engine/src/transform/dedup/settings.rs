//! What a job file says of `dedup`.

use std::time::Duration;

use transship_plugin_api::{Params, Result};

use super::super::key_columns::KeyColumns;
use crate::config::amounts;

const DEFAULT_WINDOW: Duration = Duration::from_secs(10);
const DEFAULT_CAPACITY: u64 = 64 << 20;
/// Room for less than some keys is a slip of the pen.
const SMALLEST_CAPACITY: u64 = 1 << 10;

#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub key: KeyColumns,
    /// How long a key is remembered; `None`: for the whole run.
    pub window: Option<Duration>,
    /// What the remembered keys may take.
    pub capacity_bytes: u64,
    /// Whether texts and bytes are UUIDs.
    pub uuids: bool,
    pub malformed: Malformed,
    pub nulls: Nulls,
    pub forget_on_failure: bool,
}

/// What becomes of a value that should be a UUID and is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Malformed {
    ComparedAsItIs,
    Dirty,
}

/// What a key with NULL in it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    /// Unlike any other, itself included.
    Distinct,
    /// A key like others, in which NULL is a value.
    Equal,
}

impl Settings {
    /// # Errors
    /// The parameter that is wrong, and what it may be.
    pub(super) fn read(params: &Params<'_>) -> Result<Settings> {
        let window = amounts::duration(params, "window")?.unwrap_or(DEFAULT_WINDOW);
        let capacity_bytes = amounts::bytes(params, "capacity")?.unwrap_or(DEFAULT_CAPACITY);
        if capacity_bytes < SMALLEST_CAPACITY {
            let problem = format!("is {capacity_bytes} bytes, but must be at least {SMALLEST_CAPACITY}");
            return Err(params.error("capacity", problem));
        }
        let malformed = [("text", Malformed::ComparedAsItIs), ("dirty", Malformed::Dirty)];
        let nulls = [("distinct", Nulls::Distinct), ("equal", Nulls::Equal)];
        Ok(Settings {
            key: KeyColumns::read(params)?,
            window: (!window.is_zero()).then_some(window),
            capacity_bytes,
            uuids: params.choice("type", &[("auto", false), ("uuid", true)])?.unwrap_or(false),
            malformed: params.choice("malformed", &malformed)?.unwrap_or(Malformed::ComparedAsItIs),
            nulls: params.choice("nulls", &nulls)?.unwrap_or(Nulls::Distinct),
            forget_on_failure: params.truth("forgetOnFailure")?.unwrap_or(false),
        })
    }
}
