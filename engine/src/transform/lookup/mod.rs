//! The `lookup` transformer: asks a plugin's lookup for rows by key, many at once, and puts what is found into the records.
//! What waits for what, and for how long, is decided in `crate::lookup`; here are the records, their columns, and the plugin.

mod answer;
mod assemble;
mod columns;
mod parameters;
mod shared;
mod step;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::Value;
use transship_plugin_api::plugin::Component;
use transship_plugin_api::{Error, HostRef, Result};

pub use parameters::asked;
pub use shared::SharedLookup;

use super::step::Step;
use parameters::Settings;
use step::LookupStep;

/// Its name in job files.
pub(super) const NAME: &str = "lookup";

/// What it says of itself.
pub(super) fn component() -> Component {
    Component {
        names: vec![NAME.into()],
        about: "asks another system for rows by the record's key, many at once, and puts what is found into the record"
            .into(),
        parameters: parameters::PARAMETERS.to_vec(),
    }
}

/// Makes one from its `parameter` object.
///
/// # Errors
/// `Config` where its parameters are wrong.
pub(super) fn make(parameter: &Value, shared: Option<&Arc<SharedLookup>>, host: HostRef) -> Result<Box<dyn Step>> {
    let settings = Settings::read(parameter)?;
    let Some(shared) = shared else { return Err(Error::internal("a lookup transformer has nothing to ask")) };
    shared.describe(settings.to_string());
    Ok(Box::new(LookupStep::new(settings, shared.clone(), host)))
}
