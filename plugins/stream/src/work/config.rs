//! The parameters of a service that takes its time.

use std::time::Duration;

use transship_plugin_api::{Params, Result};

/// How long the service takes, and what it watches.
#[derive(Debug, Clone)]
pub(crate) struct WorkConfig {
    pub(crate) mean: Duration,
    pub(crate) deviation: Duration,
    /// What determines the times; `None` others in every run.
    pub(crate) seed: Option<u64>,
    pub(crate) order: Option<OrderConfig>,
}

/// The columns by which the order of records is watched.
#[derive(Debug, Clone)]
pub(crate) struct OrderConfig {
    pub(crate) key: String,
    pub(crate) sequence: String,
}

/// A record takes no longer than this.
const LONGEST: Duration = Duration::from_secs(86_400);

impl WorkConfig {
    /// Reads the `work` object.
    pub(crate) fn parse(params: &Params<'_>) -> Result<WorkConfig> {
        let length = |key| match params.length(key)? {
            Some(length) if length > LONGEST => Err(params.error(key, "must not be longer than a day")),
            length => Ok(length.unwrap_or_default()),
        };
        let order = match params.object("order")? {
            Some(order) => {
                Some(OrderConfig { key: order.required_text("key")?, sequence: order.required_text("sequence")? })
            }
            None => None,
        };
        Ok(WorkConfig { mean: length("mean")?, deviation: length("deviation")?, seed: params.whole("seed")?, order })
    }
}
