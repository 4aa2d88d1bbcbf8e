//! The descriptions of shared parameters, for the tables that `transship plugins NAME` prints. A plugin puts those that it
//! takes into its own tables, beside its own.

use transship_plugin_api::Parameter;

/// `username`, needed.
pub const USERNAME: Parameter = Parameter::required("username", "string", "the user; it may also stand in the URL");
/// `password`, needed.
pub const PASSWORD: Parameter = Parameter::required("password", "string", "the password; it may also stand in the URL");
/// `session`.
pub const SESSION: Parameter =
    Parameter::optional("session", "list of strings", "[]", "statements to run first on each connection");
/// `jdbcUrl` outside of `connection`.
pub const SHORT_URL: Parameter = Parameter::optional(
    "jdbcUrl",
    "string or list of strings",
    "",
    "the database: the short form of connection, with table or querySql beside it",
);

/// Parameters of readers.
pub mod reader {
    use super::Parameter;

    /// `connection`, where there is a short form.
    pub const CONNECTION: Parameter =
        Parameter::optional("connection", "list of objects", "", "databases, each with tables or with queries");
    /// `connection[].jdbcUrl`.
    pub const URL: Parameter = Parameter::required(
        "connection[].jdbcUrl",
        "string or list of strings",
        "where the database is; of several, the first that answers is read",
    );
    /// `connection[].table`.
    pub const TABLE: Parameter = Parameter::optional(
        "connection[].table",
        "string or list of strings",
        "",
        "tables; t[0-3] stands for t0, t1, t2 and t3",
    );
    /// `connection[].querySql`.
    pub const QUERY: Parameter = Parameter::optional(
        "connection[].querySql",
        "string or list of strings",
        "",
        "queries, read instead of tables, each as one split",
    );
    /// `connection[].maxConnections`.
    pub const MAX_CONNECTIONS: Parameter = Parameter::optional(
        "connection[].maxConnections",
        "integer",
        "no limit",
        "how many tasks may read from there at once, over all contents and jobs of the run",
    );
    /// `maxConnections` outside of `connection`.
    pub const SHORT_MAX_CONNECTIONS: Parameter =
        Parameter::optional("maxConnections", "integer", "no limit", "the same, in the short form");
    /// `table` outside of `connection`.
    pub const SHORT_TABLE: Parameter =
        Parameter::optional("table", "string or list of strings", "", "the tables to read, in the short form");
    /// `querySql` outside of `connection`.
    pub const SHORT_QUERY: Parameter =
        Parameter::optional("querySql", "string or list of strings", "", "the queries to read, in the short form");
    /// `column`. It is needed for tables, not for queries.
    pub const COLUMN: Parameter = Parameter::optional(
        "column",
        "string or list of strings",
        "",
        "column names, constants and SQL expressions; [\"*\"] for all; needed for tables",
    );
    /// `where`.
    pub const WHERE: Parameter =
        Parameter::optional("where", "string", "", "a condition that rows of the tables must meet");
    /// `splitPk`.
    pub const SPLIT_PK: Parameter =
        Parameter::optional("splitPk", "string", "", "the column by whose ranges a table is split");
    /// `splitFactor`.
    pub const SPLIT_FACTOR: Parameter =
        Parameter::optional("splitFactor", "integer", "5", "splits per channel, where there is one table");
    /// `preSql`.
    pub const PROBES: Parameter = Parameter::optional(
        "preSql",
        "list of strings",
        "[]",
        "questions: a database where one does not yield 0 is passed over",
    );
}

/// Parameters of writers.
pub mod writer {
    use super::Parameter;

    /// `connection`, where there is a short form.
    pub const CONNECTION: Parameter =
        Parameter::optional("connection", "list of objects", "", "the database and the table: a list of one");
    /// `connection[].jdbcUrl`.
    pub const URL: Parameter =
        Parameter::required("connection[].jdbcUrl", "string or list of strings", "where the database is");
    /// `connection[].table`.
    pub const TABLE: Parameter =
        Parameter::required("connection[].table", "string or list of strings", "the table to write into");
    /// `connection[].maxConnections`.
    pub const MAX_CONNECTIONS: Parameter = Parameter::optional(
        "connection[].maxConnections",
        "integer",
        "no limit",
        "how many tasks may write there at once",
    );
    /// `maxConnections` outside of `connection`.
    pub const SHORT_MAX_CONNECTIONS: Parameter =
        Parameter::optional("maxConnections", "integer", "no limit", "the same, in the short form");
    /// `table` outside of `connection`.
    pub const SHORT_TABLE: Parameter =
        Parameter::optional("table", "string or list of strings", "", "the table to write into, in the short form");
    /// `column`.
    pub const COLUMN: Parameter = Parameter::optional(
        "column",
        "string or list of strings",
        "with createTable, the reader's columns",
        "the table's columns that take the record's columns, in the same order; [\"*\"]: all of the table",
    );
    /// `columnMapping`.
    pub const COLUMN_MAPPING: Parameter = Parameter::optional(
        "columnMapping",
        "\"position\" or \"name\"",
        "position",
        "which column takes which of the record's: the one in its place, as in DataX, or the one of its name",
    );
    /// `createTable`.
    pub const CREATE_TABLE: Parameter = Parameter::optional(
        "createTable",
        "boolean",
        "false",
        "create the table from the reader's schema if it is not there",
    );
    /// `writeMode`.
    pub const WRITE_MODE: Parameter = Parameter::optional(
        "writeMode",
        "string",
        "insert",
        "insert, insert ignore, replace, update (by the primary key) or update (column, …)",
    );
    /// `preSql`.
    pub const PRE_SQL: Parameter =
        Parameter::optional("preSql", "list of strings", "[]", "statements to run before; @table is the table");
    /// `postSql`.
    pub const POST_SQL: Parameter = Parameter::optional(
        "postSql",
        "list of strings",
        "[]",
        "statements to run after the last record; @table is the table",
    );
    /// `batchSize`.
    pub const BATCH_SIZE: Parameter =
        Parameter::optional("batchSize", "integer", "2048", "records to write at once, at most");
    /// `batchByteSize`.
    pub const BATCH_BYTE_SIZE: Parameter =
        Parameter::optional("batchByteSize", "integer", "33554432", "bytes to write at once, about");
    /// `emptyAsNull`.
    pub const EMPTY_AS_NULL: Parameter =
        Parameter::optional("emptyAsNull", "boolean", "true", "an empty text for a number column becomes NULL");
}
