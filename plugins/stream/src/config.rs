//! The parameters of both, checked: what a job may write, and what it means.

use std::path::PathBuf;

use serde_json::Value;
use transship_plugin_api::{ColumnFormats, DatePattern, Encoding, Error, Params, Result};

use crate::types::{Constant, TYPES, Type};
use crate::work::WorkConfig;

/// DataX's form of dates.
pub(crate) const DATE_FORMAT: &str = "yyyy-MM-dd HH:mm:ss";
/// Random texts are not longer than this: a column of a batch must stay far below 2 GiB.
const LONGEST_TEXT: i64 = 16 << 20;

/// What a `streamreader` is to make.
#[derive(Debug, Clone)]
pub(crate) struct ReaderConfig {
    pub(crate) columns: Vec<ColumnConfig>,
    /// Records of each split.
    pub(crate) records: u64,
    /// Records a second of each split; `None` as many as possible.
    pub(crate) rate: Option<f64>,
    /// What determines all random values; `None` another one in every run.
    pub(crate) seed: Option<u64>,
}

/// A column, and where its values come from.
#[derive(Debug, Clone)]
pub(crate) struct ColumnConfig {
    pub(crate) name: String,
    pub(crate) source: Source,
}

/// Where the values of a column come from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    Constant(Constant),
    /// `start`, `start + step`… over all splits.
    Sequence {
        start: i64,
        step: i64,
    },
    /// So many letters and digits.
    Text {
        shortest: u32,
        longest: u32,
    },
    Bytes {
        shortest: u32,
        longest: u32,
    },
    /// A whole number; both ends are included.
    Long {
        low: i64,
        high: i64,
    },
    /// A float; the high end is not included.
    Double {
        low: f64,
        high: f64,
    },
    /// True for all but the first so many of so many equally likely choices.
    Bool {
        untrue: u64,
        choices: u64,
    },
    /// A millisecond since 1970; both ends are included.
    Date {
        low: i64,
        high: i64,
        instants: bool,
    },
}

impl ReaderConfig {
    pub(crate) fn parse(parameter: &Value) -> Result<ReaderConfig> {
        let params = Params::new(parameter, "parameter")?;
        let columns = params.objects("column")?;
        if columns.is_empty() {
            return Err(params
                .error("column", "is required: a list of columns like {\"type\": \"LONG\", \"random\": \"1,100\"}"));
        }
        let encoding = ColumnFormats::read(&params)?.encoding();
        let columns = columns.iter().enumerate().map(|(index, column)| ColumnConfig::parse(column, index, encoding));
        let columns = columns.collect::<Result<_>>()?;
        let records = match params.whole("sliceRecordCount")? {
            None => return Err(params.error("sliceRecordCount", "is required: how many records each task makes")),
            Some(0) => return Err(params.error("sliceRecordCount", "must be 1 or more, not 0")),
            Some(records) => records,
        };
        Ok(ReaderConfig { columns, records, rate: rate(&params)?, seed: params.whole("seed")? })
    }
}

/// The `replay` object of a reader, if there is one. Nothing else says then what records there are.
pub(crate) fn replay(parameter: &Value) -> Result<Option<Params<'_>>> {
    let params = Params::new(parameter, "parameter")?;
    let replay = params.object("replay")?;
    let others = ["column", "sliceRecordCount", "rate", "seed"];
    match others.into_iter().find(|key| replay.is_some() && params.value(key).is_some()) {
        Some(other) => Err(params.error(other, "has no place beside replay, which says all about the records")),
        None => Ok(replay),
    }
}

fn rate(params: &Params<'_>) -> Result<Option<f64>> {
    let Some(text) = params.text("rate")?.filter(|text| !text.trim().is_empty()) else { return Ok(None) };
    match text.trim().parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(Some(rate)),
        _ => Err(params.error("rate", format_args!("must be a number of records a second above 0, not \"{text}\""))),
    }
}

impl ColumnConfig {
    fn parse(params: &Params<'_>, index: usize, encoding: Encoding) -> Result<ColumnConfig> {
        let name = present(params, "name")?.unwrap_or_else(|| format!("col{index}"));
        let r#type = match present(params, "type")? {
            None => Type::String,
            Some(_) => params.choice("type", TYPES)?.unwrap_or(Type::String),
        };
        let format = present(params, "dateFormat")?.unwrap_or_else(|| DATE_FORMAT.into());
        let pattern = DatePattern::parse(&format)
            .map_err(|error| params.error("dateFormat", format_args!("is wrong: {error}")))?;
        let source = Source::parse(params, r#type, &pattern, encoding)?;
        Ok(ColumnConfig { name, source })
    }
}

/// A text that is there and not blank.
fn present(params: &Params<'_>, key: &str) -> Result<Option<String>> {
    Ok(params.text(key)?.filter(|text| !text.trim().is_empty()))
}

impl Source {
    fn parse(params: &Params<'_>, r#type: Type, pattern: &DatePattern, encoding: Encoding) -> Result<Source> {
        let value = present(params, "value")?;
        let random = present(params, "random")?;
        let sequence = present(params, "sequence")?;
        if [&value, &random, &sequence].into_iter().flatten().count() > 1 {
            let used = if value.is_some() { "value" } else { "random" };
            log::warn!("{} is used; what else says where the column's values come from is not", params.path(used));
        }
        match (value, random, sequence) {
            (Some(text), _, _) => Constant::parse(&text, r#type, pattern, encoding)
                .map(Source::Constant)
                .map_err(|problem| params.error("value", problem)),
            (None, Some(text), _) => {
                Source::random(&text, r#type, pattern).map_err(|problem| params.error("random", problem))
            }
            (None, None, Some(text)) => {
                Source::sequence(&text, r#type).map_err(|problem| params.error("sequence", problem))
            }
            (None, None, None) => Err(params.error("value", "or random is required, and must not be blank")),
        }
    }

    fn random(text: &str, r#type: Type, pattern: &DatePattern) -> Result<Source, String> {
        let Some((low, high)) = text.rsplit_once(',').map(|(low, high)| (low.trim(), high.trim())) else {
            return Err(format!("is \"{text}\", but must be two ends with a comma between, like \"1,100\""));
        };
        if r#type == Type::Date {
            return Source::random_date(low, high, pattern);
        }
        let number = |text: &str| text.parse::<i64>().ok().filter(|number| *number >= 0);
        let (Some(low), Some(high)) = (number(low), number(high)) else {
            return Err(format!("is \"{text}\", but must be two whole numbers from 0 on"));
        };
        if low > high && r#type != Type::Bool {
            return Err(format!("is \"{text}\", but its first end must not be greater than its second"));
        }
        if high > LONGEST_TEXT && matches!(r#type, Type::String | Type::Bytes) {
            return Err(format!("is \"{text}\", but the most is {LONGEST_TEXT} letters"));
        }
        Ok(match r#type {
            Type::String => Source::Text { shortest: low as u32, longest: high as u32 },
            Type::Bytes => Source::Bytes { shortest: low as u32, longest: high as u32 },
            Type::Long => Source::Long { low, high },
            Type::Double => Source::Double { low: low as f64, high: high as f64 + 1.0 },
            // DataX's own rules, odd as they are: the first end is the weight of false.
            _ if low == high || low == 0 => Source::Bool { untrue: 0, choices: 1 },
            _ if high == 0 => Source::Bool { untrue: 1, choices: 1 },
            _ => Source::Bool { untrue: low as u64 + 1, choices: low as u64 + high as u64 + 1 },
        })
    }

    fn random_date(low: &str, high: &str, pattern: &DatePattern) -> Result<Source, String> {
        let millis = |text: &str| match pattern.parse_micros(text) {
            Some(micros) => Ok(micros.div_euclid(1_000)),
            None => Err(format!("has the end \"{text}\", which is no date of the form \"{}\"", pattern.text())),
        };
        let (first, last) = (millis(low)?, millis(high)?);
        if first > last {
            return Err(format!("begins with \"{low}\", which is after \"{high}\""));
        }
        Ok(Source::Date { low: first, high: last, instants: pattern.has_zone() })
    }

    fn sequence(text: &str, r#type: Type) -> Result<Source, String> {
        if r#type != Type::Long {
            return Err("goes with the type LONG only".into());
        }
        let (start, step) = text.split_once(',').unwrap_or((text, "1"));
        match (start.trim().parse(), step.trim().parse()) {
            (Ok(start), Ok(step)) => Ok(Source::Sequence { start, step }),
            _ => Err(format!("is \"{text}\", but must be a start and a step, like \"1,1\"")),
        }
    }
}

/// What a `streamwriter` does with records.
#[derive(Debug, Clone)]
pub(crate) struct WriterConfig {
    pub(crate) sink: Sink,
    pub(crate) delimiter: String,
    /// How dates and bytes become text.
    pub(crate) formats: ColumnFormats,
    /// Sleep once a task has written so many records, and how many seconds.
    pub(crate) sleep: Option<(u64, u64)>,
    /// What is done with each record before that.
    pub(crate) work: Option<WorkConfig>,
}

/// Where records go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sink {
    /// To standard output.
    Print,
    /// Nowhere.
    Discard,
    /// To this file.
    File(PathBuf),
}

impl WriterConfig {
    pub(crate) fn parse(parameter: &Value) -> Result<WriterConfig> {
        let params = Params::new(parameter, "parameter")?;
        let work = params.object("work")?.map(|work| WorkConfig::parse(&work)).transpose()?;
        let print = params.truth("print")?.unwrap_or(work.is_none());
        let sink = match (present(&params, "path")?, present(&params, "fileName")?) {
            (Some(path), Some(name)) => Sink::File(absolute(&params, &path, &name)?),
            (None, None) if print => Sink::Print,
            (None, None) => Sink::Discard,
            (path, _) => {
                let (given, missing) = if path.is_some() { ("path", "fileName") } else { ("fileName", "path") };
                log::warn!("{} is ignored: a file needs {} as well", params.path(given), params.path(missing));
                if print { Sink::Print } else { Sink::Discard }
            }
        };
        if let Some(encoding) = present(&params, "encoding")?
            && !["utf-8", "utf8"].contains(&encoding.to_ascii_lowercase().as_str())
        {
            log::warn!("{} is ignored, as in DataX: output is always UTF-8, not {encoding}", params.path("encoding"));
        }
        let delimiter = params.text("fieldDelimiter")?.unwrap_or_else(|| "\t".into());
        let sleep = sleep(&params, matches!(sink, Sink::File(_)))?;
        Ok(WriterConfig { sink, delimiter, formats: ColumnFormats::read(&params)?, sleep, work })
    }
}

/// After how many records a task sleeps, and how many seconds. As in DataX it takes both, and a file.
fn sleep(params: &Params<'_>, to_file: bool) -> Result<Option<(u64, u64)>> {
    let (after, seconds) = ("recordNumBeforeSleep", "sleepTime");
    let above_zero = |key| Ok::<_, Error>(params.whole(key)?.filter(|number| *number > 0));
    let given = (above_zero(after)?, above_zero(seconds)?);
    let no_effect = |key, reason: &str| log::warn!("{} has no effect: {reason}", params.path(key));
    match given {
        (Some(records), Some(length)) if to_file => return Ok(Some((records, length))),
        (None, None) => {}
        (Some(_), None) if to_file => no_effect(after, "sleepTime does not say how long to sleep"),
        (None, Some(_)) if to_file => no_effect(seconds, "recordNumBeforeSleep does not say when to sleep"),
        (after_given, seconds_given) => {
            for key in after_given.map(|_| after).into_iter().chain(seconds_given.map(|_| seconds)) {
                no_effect(key, "only a task that writes a file sleeps (path and fileName)");
            }
        }
    }
    Ok(None)
}

fn absolute(params: &Params<'_>, path: &str, name: &str) -> Result<PathBuf> {
    let file = PathBuf::from(path).join(name);
    let file =
        std::path::absolute(&file).map_err(|error| params.error("path", format_args!("is \"{path}\": {error}")))?;
    match file.file_name() {
        Some(_) if !name.ends_with('/') => Ok(file),
        _ => Err(Error::config(format!("{} is \"{name}\", which is no file name", params.path("fileName")))),
    }
}
