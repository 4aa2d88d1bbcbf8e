//! `httpreader`, `httpwriter` and `httplookup`: JSON over HTTP, in and out.

mod client;
mod config;
mod lookup;
mod paging;
mod reader;
mod records;
mod render;
mod secret;
mod template;
#[cfg(test)]
mod tests;
mod types;
mod writer;

use std::sync::LazyLock;

use transship_plugin_api::{Parameter, Plugin, export_plugin};

/// What a reader knows: its own parameters, then those that all have in common.
static READER: LazyLock<Vec<Parameter>> = LazyLock::new(|| [config::READER, &client::PARAMETERS].concat());
static WRITER: LazyLock<Vec<Parameter>> = LazyLock::new(|| [config::WRITER, &client::PARAMETERS].concat());
/// A lookup leaves further attempts to the engine.
static LOOKUP: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
    let attempts = ["retries", "pause", "longestPause"];
    let common = client::PARAMETERS.into_iter().filter(|parameter| !attempts.contains(&parameter.name.as_ref()));
    config::LOOKUP.iter().cloned().chain(common).collect()
});

export_plugin!(
    Plugin::new("http", env!("CARGO_PKG_VERSION"))
        .reader(&["httpreader", "http"], "Reads records from JSON answers, page by page.", &READER, reader::new)
        .writer(
            &["httpwriter", "http"],
            "Sends records as JSON, many in a request or one in each.",
            &WRITER,
            writer::new
        )
        .lookup(
            &["httplookup", "http"],
            "Asks a service for what belongs to a key, many at once.",
            &LOOKUP,
            lookup::new
        )
);
