//! The job file as written: its shape, its places, nothing resolved. Not here: what it means for a run (`plan`), nor the
//! parameters of plugins (the plugins read those).

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use transship_plugin_api::Params;

use crate::error::{Error, Result};
use crate::secrets::mask_broken;

mod keys;
pub use keys::unknown_key_warnings;

/// A job file.
#[derive(Debug, Clone)]
pub struct JobFile {
    /// Where it was read from.
    pub path: PathBuf,
    /// Its file name without the ending.
    pub name: String,
    /// What to move, from where to where.
    pub content: Vec<Content>,
    /// How to move it.
    pub setting: Setting,
    /// The whole tree: it holds the secrets that must not be printed.
    pub tree: Value,
    /// What is odd about it, though not wrong.
    pub warnings: Vec<String>,
}

/// One line from a reader to a writer.
#[derive(Debug, Clone)]
pub struct Content {
    pub reader: Component,
    pub transformers: Vec<Component>,
    pub writer: Component,
}

/// A plugin by name, and its parameters.
#[derive(Clone)]
pub struct Component {
    /// Its name in the job file.
    pub name: String,
    /// The library to load it from, where the job file says so.
    pub library: Option<PathBuf>,
    /// What the plugin reads. It may hold secrets.
    pub parameter: Value,
    /// Where it stands in the job file: `job.content[0].reader`.
    pub place: String,
}

/// How to move: what a job file says, with DataX's keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Setting {
    pub speed: Speed,
    /// More dirty records than this fail the job.
    pub dirty_records: Option<u64>,
    /// A larger share of dirty records than this (0 to 1) fails the job. Not looked at where `dirty_records` is given.
    pub dirty_share: Option<f64>,
    pub transport: Transport,
    pub retry: Retry,
}

/// `job.setting.speed`, limits for the whole job. `None`: no limit given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Speed {
    pub channels: Option<u32>,
    pub bytes_per_second: Option<u64>,
    pub records_per_second: Option<u64>,
}

/// `core.transport.channel`, limits for each channel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transport {
    pub capacity_records: Option<u64>,
    pub capacity_bytes: Option<u64>,
    pub bytes_per_second: Option<u64>,
    pub records_per_second: Option<u64>,
}

/// `core.container.task.failOver`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retry {
    pub max_attempts: Option<u32>,
    pub pause_millis: Option<u64>,
}

impl JobFile {
    /// Reads a job file.
    ///
    /// # Errors
    /// [`Error::Job`], with the file, and line and column where it is not JSON, or the JSON path where a value is wrong.
    pub fn read(path: &Path) -> Result<JobFile> {
        let bytes = std::fs::read(path).map_err(|error| {
            let hint = if path.is_dir() { " (it is a folder)" } else { "" };
            Error::Job(format!("cannot read the job file {}{hint}: {error}", path.display()))
        })?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Error::Job(format!("{}: byte {at} is not UTF-8: save the job file in UTF-8", path.display()))
        })?;
        JobFile::parse(path, &text)
    }

    /// Reads the text of a job file; `path` is for messages and for the job's name.
    pub fn parse(path: &Path, text: &str) -> Result<JobFile> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let tree: Value = serde_json::from_str(text).map_err(|error| Error::Job(broken_json(path, text, &error)))?;
        let name = path.file_stem().map_or_else(|| "job".into(), |stem| stem.to_string_lossy().into_owned());
        let (content, setting) =
            read_tree(&tree).map_err(|error| Error::Job(format!("{}: {error}", path.display())))?;
        let mut warnings = unknown_key_warnings(&tree, "", &keys::KNOWN);
        if content.len() > 1 {
            warnings.push(format!("job.content has {} entries: only the first is run, as in DataX", content.len()));
        }
        Ok(JobFile { path: path.to_path_buf(), name, content, setting, tree, warnings })
    }
}

const FORM: &str = "is required: a job file has the form {\"job\": {\"content\": [{\"reader\": …, \"writer\": …}]}}";

type Parsed<T> = transship_plugin_api::Result<T>;

fn read_tree(tree: &Value) -> Parsed<(Vec<Content>, Setting)> {
    let root = Params::root(tree, "the job file")?;
    let job = root.object("job")?.ok_or_else(|| root.error("job", FORM))?;
    let content = job.objects("content")?.iter().map(read_content).collect::<Parsed<Vec<_>>>()?;
    if content.is_empty() {
        return Err(job.error("content", "is required: a list of {\"reader\": …, \"writer\": …}"));
    }
    Ok((content, read_setting(&job, root.object("core")?.as_ref())?))
}

fn read_content(content: &Params<'_>) -> Parsed<Content> {
    let part = |key: &str| -> Parsed<Component> {
        let component = content.object(key)?.ok_or_else(|| content.error(key, "is required"))?;
        read_component(&component, content.path(key))
    };
    let reader = part("reader")?;
    let writer = part("writer")?;
    let transformers = content
        .objects("transformer")?
        .iter()
        .enumerate()
        .map(|(index, transformer)| read_component(transformer, format!("{}[{index}]", content.path("transformer"))))
        .collect::<Parsed<Vec<_>>>()?;
    Ok(Content { reader, transformers, writer })
}

fn read_component(component: &Params<'_>, place: String) -> Parsed<Component> {
    let parameter = match component.object("parameter")? {
        Some(_) => component.value("parameter").cloned().unwrap_or_default(),
        None => Value::Object(serde_json::Map::new()),
    };
    Ok(Component {
        name: component.required_text("name")?.trim().to_string(),
        library: component.text("path")?.map(PathBuf::from),
        parameter,
        place,
    })
}

fn read_setting(job: &Params<'_>, core: Option<&Params<'_>>) -> Parsed<Setting> {
    let mut setting = Setting::default();
    if let Some(written) = job.object("setting")? {
        if let Some(speed) = written.object("speed")? {
            setting.speed = Speed {
                channels: limit(&speed, "channel")?.map(|channels| u32::try_from(channels).unwrap_or(u32::MAX)),
                bytes_per_second: limit(&speed, "byte")?,
                records_per_second: limit(&speed, "record")?,
            };
        }
        if let Some(error_limit) = written.object("errorLimit")? {
            setting.dirty_records = error_limit.integer("record")?.and_then(|records| u64::try_from(records).ok());
            setting.dirty_share = share(&error_limit)?;
        }
    }
    let Some(core) = core else { return Ok(setting) };
    if let Some(channel) = inside(core, &["transport", "channel"])? {
        setting.transport.capacity_records = limit(&channel, "capacity")?;
        setting.transport.capacity_bytes = limit(&channel, "byteCapacity")?;
        if let Some(speed) = channel.object("speed")? {
            setting.transport.bytes_per_second = limit(&speed, "byte")?;
            setting.transport.records_per_second = limit(&speed, "record")?;
        }
    }
    if let Some(retry) = inside(core, &["container", "task", "failOver"])? {
        setting.retry.max_attempts =
            limit(&retry, "maxRetryTimes")?.map(|times| u32::try_from(times).unwrap_or(u32::MAX));
        setting.retry.pause_millis =
            retry.integer("retryIntervalInMsec")?.and_then(|millis| u64::try_from(millis).ok());
    }
    Ok(setting)
}

/// A limit as DataX writes it: 0 and negative numbers mean that there is none.
fn limit(params: &Params<'_>, key: &str) -> Parsed<Option<u64>> {
    Ok(params.integer(key)?.and_then(|limit| u64::try_from(limit).ok()).filter(|limit| *limit > 0))
}

fn share(error_limit: &Params<'_>) -> Parsed<Option<f64>> {
    match error_limit.number("percentage")? {
        Some(share) if !(0.0..=1.0).contains(&share) => Err(error_limit
            .error("percentage", format_args!("is {share}, but must lie between 0 and 1 (0.02 is two percent)"))),
        share => Ok(share),
    }
}

fn inside<'a>(params: &Params<'a>, keys: &[&str]) -> Parsed<Option<Params<'a>>> {
    let mut found = params.clone();
    for key in keys {
        match found.object(key)? {
            Some(object) => found = object,
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

impl fmt::Debug for Component {
    /// Without the parameters: they may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Component").field("name", &self.name).field("place", &self.place).finish_non_exhaustive()
    }
}

/// `file:line:column: what is wrong`, then the line and a caret below the place.
fn broken_json(path: &Path, text: &str, error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let what = error.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    let source = mask_broken(text).lines().nth(line.saturating_sub(1)).unwrap_or_default().replace('\t', " ");
    // serde_json counts bytes; a person counts characters.
    let column = source.char_indices().take_while(|(byte, _)| byte + 1 < column).count() + 1;
    // A very long line is cut to the surroundings of the place.
    let from = column.saturating_sub(60);
    let shown: String = source.chars().skip(from).take(100).collect();
    let caret = " ".repeat(column - 1 - from.min(column - 1));
    format!("{}:{line}:{column}: the job file is not JSON: {what}\n  {shown}\n  {caret}^", path.display())
}

#[cfg(test)]
mod tests;
