//! The plugin `file`: reads and writes delimited text files (`txtfilereader`, `txtfilewriter`).

mod config;
mod reader;
mod writer;

mod bytes;
mod columns;
mod compression;
mod copy;
mod csv;
mod dialect;
mod dirt;
mod encoding;
mod find;
mod format;
mod layout;
mod output;
mod render;
mod source;
mod split;
mod types;

use transship_plugin_api::{Plugin, export_plugin};

/// What the library offers.
fn plugin() -> Plugin {
    Plugin::new("file", env!("CARGO_PKG_VERSION"))
        .reader(
            &["txtfilereader", "filereader", "csvreader", "file", "csv"],
            "Reads delimited text files: packed or not, in any encoding, large ones in ranges.",
            config::READER_PARAMETERS,
            reader::new,
        )
        .writer(
            &["txtfilewriter", "filewriter", "csvwriter", "file", "csv"],
            "Writes delimited text files, which appear all at once when the job commits.",
            config::WRITER_PARAMETERS,
            writer::new,
        )
}

export_plugin!(plugin());

#[cfg(test)]
mod tests;
