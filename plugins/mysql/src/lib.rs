//! The `mysql` plugin: `mysqlreader` and `mysqlwriter`, for MySQL and MariaDB.

mod config;
mod reader;
mod writer;

mod geometry;
mod session;
mod table;
mod types;

use transship_plugin_api::Plugin;

transship_plugin_api::export_plugin!(
    Plugin::new("mysql", env!("CARGO_PKG_VERSION"))
        .urls(&["jdbc:mysql:", "jdbc:mariadb:", "mysql:", "mariadb:"])
        .reader(
            &["mysqlreader", "mysql", "mariadbreader", "mariadb", "rdbmsreader"],
            "Reads tables and queries of MySQL and MariaDB, a large table in several splits.",
            config::READER_PARAMETERS,
            reader::new,
        )
        .writer(
            &["mysqlwriter", "mysql", "mariadbwriter", "mariadb", "rdbmswriter"],
            "Writes into a table of MySQL or MariaDB, by LOAD DATA where the server allows it.",
            config::WRITER_PARAMETERS,
            writer::new,
        )
);
