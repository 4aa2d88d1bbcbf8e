//! What a job file says of a `lookup` transformer. Not here: what the lookup itself takes (its plugin says).

use std::fmt;
use std::num::NonZeroUsize;
use std::time::Duration;

use serde_json::{Map, Value};
use transship_plugin_api::params::one_of;
use transship_plugin_api::plugin::Parameter;
use transship_plugin_api::{Error, Kind, Params, Result};

use crate::config::amounts::duration;
use crate::config::{COMMON, Component};
use crate::lookup::{Backoff, Options, Order, Retry, RetryOn};
use crate::transform::key_columns::{KEY, KeyColumns};

/// As many as Flink's asynchronous operator has.
const CAPACITY: usize = 100;
/// As long as Flink's lookup joins wait.
const TIMEOUT: Duration = Duration::from_secs(180);

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::required("lookup", "string or object", "what is asked: its name, or an object of name and parameter"),
    Parameter::required("lookup.name", "string", "the name of the lookup, as `transship plugins` lists it"),
    Parameter::optional("lookup.parameter", "object", "", "what the lookup takes"),
    Parameter::optional("lookup.path", "string", "", "the library that has it; else it is found by its name"),
    KEY,
    Parameter::optional(
        "columns",
        "list of strings or list of objects",
        "all",
        "the columns to take of what is found; one that is called like a column of the record replaces it, others are \
         appended. Left out: all, but those called like a column of the key",
    ),
    Parameter::required("columns[].name", "string", "a column of what is found"),
    Parameter::optional("columns[].as", "string", "", "what it is called in the record"),
    Parameter::optional(
        "mode",
        "\"ordered\", \"unordered\" or \"key\"",
        "ordered",
        "the order in which records leave: as they came, as their answers come, or as they came for each key",
    ),
    Parameter::optional(
        "capacity",
        "integer",
        "100",
        "how many records wait at once, those that are done and have to keep their place included",
    ),
    Parameter::optional(
        "timeout",
        "string or number",
        "3 min",
        "how long all attempts at a record may take together; 0: for ever",
    ),
    Parameter::optional("retry", "object", "", "whether and when a key is looked up again; left out: never"),
    Parameter::optional(
        "retry.strategy",
        "\"fixed\" or \"exponential\"",
        "exponential",
        "how the pauses between attempts grow",
    ),
    Parameter::optional("retry.max", "integer", "3", "how many attempts follow the first one"),
    Parameter::optional("retry.delay", "string or number", "100 ms", "the first pause; with \"fixed\" each"),
    Parameter::optional("retry.factor", "number", "2", "by what each pause is longer than the one before"),
    Parameter::optional("retry.cap", "string or number", "10 s", "the longest pause"),
    Parameter::optional(
        "retry.jitter",
        "number",
        "0",
        "by what share of itself, 0 to 1, a pause may be shorter, at random",
    ),
    Parameter::optional(
        "retry.on",
        "list of strings",
        "[\"retryable\"]",
        "what is tried again: \"retryable\" (errors of which the lookup says so), \"error\" (all), a kind of error (\"connect\", \
         \"io\"…), \"missing\" (nothing found)",
    ),
    Parameter::optional(
        "onFailure",
        "\"fail\", \"dirty\" or \"null\"",
        "fail",
        "a lookup that failed, or took too long: the task fails, the record is dirty, or the columns are NULL",
    ),
    Parameter::optional(
        "onMissing",
        "\"null\", \"drop\", \"dirty\" or \"fail\"",
        "null",
        "a key of which there is nothing: the columns are NULL, the record is dropped or dirty, or the task fails",
    ),
    Parameter::optional("batch", "object", "", "how keys go together into one call"),
    Parameter::optional("batch.size", "integer", "a quarter of capacity", "how many keys a call has at most"),
    Parameter::optional(
        "batch.linger",
        "string or number",
        "0",
        "how long a key waits for others before a smaller call is made",
    ),
    Parameter::optional(
        "cache",
        "object",
        "",
        "remembers what was found, for all tasks of the job; left out: nothing is remembered",
    ),
    Parameter::required("cache.entries", "integer", "how many keys it remembers; the least recently used leave first"),
    Parameter::optional(
        "cache.timeToLive",
        "string or number",
        "0",
        "how long what was found counts; 0: for the whole run",
    ),
    Parameter::optional("cache.missing", "boolean", "true", "whether it also remembers that there is nothing"),
];

/// A `lookup` transformer as the job file wants it.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub key: KeyColumns,
    /// `None`: all.
    pub columns: Option<Vec<Wanted>>,
    pub options: Options,
    pub on_failure: OnFailure,
    pub on_missing: OnMissing,
    pub cache: Option<CacheSettings>,
}

/// A column of what is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Where the job file names it.
    pub path: String,
    pub name: String,
    /// What it is called in the record.
    pub called: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnFailure {
    Fail,
    Dirty,
    Null,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnMissing {
    Null,
    Drop,
    Dirty,
    Fail,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CacheSettings {
    pub entries: NonZeroUsize,
    pub time_to_live: Option<Duration>,
    pub missing: bool,
}

impl Settings {
    pub(super) fn read(parameter: &Value) -> Result<Settings> {
        let params = Params::new(parameter, "parameter")?;
        let capacity = at_least_one(&params, "capacity")?.unwrap_or(CAPACITY);
        let timeout = duration(&params, "timeout")?.unwrap_or(TIMEOUT);
        let order = params
            .choice("mode", &[("ordered", Order::Ordered), ("unordered", Order::Unordered), ("key", Order::Key)])?;
        let (call_size, linger) = match params.object("batch")? {
            None => (None, None),
            Some(batch) => (at_least_one(&batch, "size")?, duration(&batch, "linger")?),
        };
        let retry = params.object("retry")?.map(|retry| read_retry(&retry)).transpose()?;
        if retry.is_some() && timeout.is_zero() {
            return Err(
                params.error("timeout", "is 0, but with retry it must end at some time: give it a length of time")
            );
        }
        let on_failure = params.choice(
            "onFailure",
            &[("fail", OnFailure::Fail), ("dirty", OnFailure::Dirty), ("null", OnFailure::Null)],
        )?;
        let on_missing = params.choice(
            "onMissing",
            &[
                ("null", OnMissing::Null),
                ("drop", OnMissing::Drop),
                ("dirty", OnMissing::Dirty),
                ("fail", OnMissing::Fail),
            ],
        )?;
        Ok(Settings {
            key: KeyColumns::read(&params)?,
            columns: read_columns(&params)?,
            options: Options {
                order: order.unwrap_or(Order::Ordered),
                capacity,
                timeout: Some(timeout).filter(|timeout| !timeout.is_zero()),
                retry,
                call_size: call_size.unwrap_or(capacity.div_ceil(4)).min(capacity),
                linger: linger.unwrap_or_default(),
            },
            on_failure: on_failure.unwrap_or(OnFailure::Fail),
            on_missing: on_missing.unwrap_or(OnMissing::Null),
            cache: params.object("cache")?.map(|cache| read_cache(&cache)).transpose()?,
        })
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { order, capacity, timeout, .. } = &self.options;
        let order = match order {
            Order::Ordered => "ordered",
            Order::Unordered => "unordered",
            Order::Key => "ordered by key",
        };
        write!(f, "{order}, capacity {capacity}, ")?;
        match timeout {
            Some(timeout) => write!(f, "time-out {}", humantime::format_duration(*timeout)),
            None => write!(f, "no time-out"),
        }
    }
}

/// The lookup that a `lookup` transformer asks, as a component of its own: its name, its library, its parameters.
pub fn asked(transformer: &Component) -> Result<Component> {
    let params = Params::new(&transformer.parameter, "parameter")?;
    let nothing = || Value::Object(Map::new());
    let place = format!("{}.parameter.lookup", transformer.place);
    let (name, library, mut parameter) = match params.value("lookup") {
        Some(Value::Object(_)) => {
            let asked = params.object("lookup")?;
            let Some(asked) = asked else { return Err(params.error("lookup", "is required")) };
            asked.object("parameter")?;
            let library = asked.text("path")?.filter(|path| !path.trim().is_empty());
            (asked.required_text("name")?, library, asked.value("parameter").cloned().unwrap_or_else(nothing))
        }
        _ => (params.required_text("lookup")?, None, nothing()),
    };
    if let (Value::Object(parameters), Some(common)) = (&mut parameter, transformer.parameter.get(COMMON)) {
        parameters.entry(COMMON).or_insert_with(|| common.clone());
    }
    Ok(Component { name: name.trim().to_string(), library: library.map(Into::into), parameter, place })
}

fn read_columns(params: &Params<'_>) -> Result<Option<Vec<Wanted>>> {
    let Some(Value::Array(items)) = params.value("columns") else {
        return match params.texts("columns")? {
            none if none.is_empty() => Ok(None),
            names => Ok(Some(names.into_iter().map(|name| Wanted::same(params.path("columns"), name)).collect())),
        };
    };
    let mut columns: Vec<Wanted> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let path = format!("{}[{index}]", params.path("columns"));
        let wanted = match item {
            Value::String(name) => Wanted::same(path, name.clone()),
            item => {
                let column = Params::new(item, path.clone())?;
                let name = column.required_text("name")?;
                let called = column.text("as")?.filter(|called| !called.trim().is_empty());
                Wanted { path, called: called.unwrap_or_else(|| name.clone()), name }
            }
        };
        if columns.iter().any(|other| other.called == wanted.called) {
            let Wanted { path, called, .. } = wanted;
            return Err(Error::config(format!("{path} is called \"{called}\", and so is a column before it")));
        }
        columns.push(wanted);
    }
    Ok(Some(columns))
}

impl Wanted {
    fn same(path: String, name: String) -> Wanted {
        Wanted { path, called: name.clone(), name }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strategy {
    Fixed,
    Exponential,
}

fn read_retry(params: &Params<'_>) -> Result<Retry> {
    let most = at_least_one(params, "max")?.unwrap_or(3);
    let first = duration(params, "delay")?.unwrap_or(Duration::from_millis(100));
    if first.is_zero() {
        return Err(params.error("delay", "is 0: a pause between attempts has some length"));
    }
    let factor = params.number("factor")?.unwrap_or(2.0);
    if factor < 1.0 {
        return Err(params.error("factor", format_args!("is {factor}, but pauses must not become shorter: 1 or more")));
    }
    let jitter = params.number("jitter")?.unwrap_or(0.0);
    if !(0.0..=1.0).contains(&jitter) {
        return Err(params.error("jitter", format_args!("is {jitter}, but must be from 0 to 1")));
    }
    let cap = duration(params, "cap")?.unwrap_or(Duration::from_secs(10)).max(first);
    let strategy = params.choice("strategy", &[("fixed", Strategy::Fixed), ("exponential", Strategy::Exponential)])?;
    let backoff = match strategy {
        Some(Strategy::Fixed) => Backoff::Fixed(first),
        Some(Strategy::Exponential) | None => Backoff::Exponential { first, factor, cap },
    };
    Ok(Retry { most: u32::try_from(most).unwrap_or(u32::MAX), backoff, jitter, on: read_retry_on(params)? })
}

const KINDS: [Kind; 8] = [
    Kind::Config,
    Kind::Connect,
    Kind::Io,
    Kind::Schema,
    Kind::Data,
    Kind::Unsupported,
    Kind::Cancelled,
    Kind::Internal,
];

fn read_retry_on(params: &Params<'_>) -> Result<RetryOn> {
    let words = params.texts("on")?;
    let mut on = RetryOn { retryable: words.is_empty(), ..RetryOn::default() };
    for word in words {
        match word.trim().to_ascii_lowercase().as_str() {
            "retryable" => on.retryable = true,
            "error" => on.errors = true,
            "missing" => on.missing = true,
            other => match KINDS.into_iter().find(|kind| kind.word() == other) {
                Some(kind) => on.kinds.push(kind),
                None => {
                    let known = ["retryable", "error", "missing"].into_iter().chain(KINDS.map(Kind::word));
                    return Err(params.error("on", format_args!("has \"{word}\", but takes {}", one_of(known))));
                }
            },
        }
    }
    Ok(on)
}

fn read_cache(params: &Params<'_>) -> Result<CacheSettings> {
    let entries = at_least_one(params, "entries")?.and_then(NonZeroUsize::new);
    Ok(CacheSettings {
        entries: entries.ok_or_else(|| params.error("entries", "is required: how many keys it remembers"))?,
        time_to_live: duration(params, "timeToLive")?.filter(|time| !time.is_zero()),
        missing: params.truth("missing")?.unwrap_or(true),
    })
}

fn at_least_one(params: &Params<'_>, key: &str) -> Result<Option<usize>> {
    match params.whole(key)? {
        Some(0) => Err(params.error(key, "is 0, but must be 1 or more")),
        number => Ok(number.map(|number| usize::try_from(number).unwrap_or(usize::MAX))),
    }
}
