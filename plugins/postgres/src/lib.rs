//! The `postgres` plugin: `postgresqlreader` and `postgresqlwriter`.

mod config;
mod reader;
mod writer;

mod binary;
mod place;
mod session;
mod table;
mod text;
mod types;

use transship_plugin_api::Plugin;

transship_plugin_api::export_plugin!(
    Plugin::new("postgres", env!("CARGO_PKG_VERSION"))
        .urls(&["jdbc:postgresql:", "jdbc:postgres:", "postgresql:", "postgres:"])
        .reader(
            &["postgresqlreader", "postgresql", "postgresreader", "postgres", "pgreader", "rdbmsreader"],
            "Reads tables and queries of a PostgreSQL database, all tasks at one moment.",
            config::READER_PARAMETERS,
            reader::new,
        )
        .writer(
            &["postgresqlwriter", "postgresql", "postgreswriter", "postgres", "pgwriter", "rdbmswriter"],
            "Writes into a table of a PostgreSQL database by COPY, one transaction per task.",
            config::WRITER_PARAMETERS,
            writer::new,
        )
);
