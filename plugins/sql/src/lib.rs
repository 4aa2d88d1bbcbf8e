//! What relational plugins share: a plugin adds its client library and its types, and calls these functions.
//!
//! Nothing here opens a connection. Where a database has to be asked, the plugin passes a closure that runs a statement.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`parameters`] | reads DataX's relational parameters, and describes them for `transship plugins` |
//! | [`jdbc`] | takes `jdbc:` URLs apart: hosts, database, user, properties |
//! | [`password`] | a password that no message shows |
//! | [`dialect`] | how the databases differ: quoting, literals, comparing rows |
//! | [`names`] | names of tables and columns: quoting, ranges like `t[0-3]`, names told from expressions |
//! | [`select`] | the text of the query that reads a split |
//! | [`split`] | cuts a table into ranges that hold every row exactly once |
//! | [`write`](mod@write) | write modes and their statements, `create table`, finding the bad rows of a batch |
//! | [`retry`] | when to try again after a deadlock, a lock time-out or a lost connection |
//! | `tls` | encrypted connections: whom to trust, and who we are; with the feature `tls` |

#![warn(missing_docs)]

pub mod dialect;
pub mod jdbc;
pub mod names;
pub mod parameters;
pub mod password;
pub mod retry;
pub mod select;
pub mod split;
#[cfg(feature = "tls")]
pub mod tls;
pub mod write;

pub use dialect::{Dialect, MySql, Postgres, Sqlite};
pub use jdbc::Url;
pub use password::Password;
