//! Tests of the boundary, in one process: plugins are taken by their init function, without a library, so that valgrind and
//! Miri can look on.
//!
//! | file | what it shows |
//! | --- | --- |
//! | `same` | a reader, a writer and a transformer behave behind the tables as they do without |
//! | `trouble` | errors and panics arrive as what they are and harm nobody else |
//! | `strict` | null pointers, missing functions, other versions, garbage: an error, never a crash |
//! | `malformed` | arrays and schemas that break the Arrow C data interface |
//! | `passing` | what is passed on untouched is only moved |
//! | `listings` | parts of a source, listed on other threads than their reader's |
//! | `lookups` | calls and answers of lookups, however they race |
//! | `lifetime` | release, cancel and hosts, in any order and from any thread |
//! | `bridge` | log records and panics of a plugin reach the host, in a process of its own |
//! | `layout` | the header and its mirror agree, as the C compiler sees it (needs `cc`) |
//! | `minimal` | the plugin in C, opened as a library (needs `cc` and the feature `host`) |

#[cfg(not(miri))]
mod bridge;
mod fixtures;
#[cfg(not(miri))]
mod layout;
mod lifetime;
mod listings;
mod lookups;
mod malformed;
#[cfg(all(feature = "host", not(miri)))]
mod minimal;
mod passing;
mod raw;
mod same;
mod strict;
mod trouble;
