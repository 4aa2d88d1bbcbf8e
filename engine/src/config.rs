//! The job file: read in DataX's dialect, its variables put in, its shape checked, nothing resolved. Not here: what it means for
//! a run (`plan`), nor the parameters of plugins (the plugins read those).

use std::fmt;
use std::io::Read as _;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use encoding_rs::Encoding;
use serde_json::Value;
use transship_plugin_api::Params;

use crate::error::{Findings, Problem};
use crate::json::{self, Document, Origin};
use crate::secrets::Secrets;

pub mod amounts;
mod datax_only;
mod job_keys;
mod keys;
mod reading;
mod settings;
mod source;
mod unset;
mod variables;

pub use job_keys::JOB_KEYS;
pub use keys::{UnknownKey, unknown_keys};
use reading::Notes;
pub use settings::{DirtyLimit, Retry, Schedule, Setting, Speed, Transport};
pub use source::Source;
pub use variables::Variables;

/// A job file.
pub struct JobFile {
    /// Where it was read from; `-`: standard input.
    pub path: PathBuf,
    /// Its file name without the ending.
    pub name: String,
    /// What to move, from where to where.
    pub content: Vec<Content>,
    /// How to move it.
    pub setting: Setting,
    /// The whole tree: it holds the secrets that must not be printed.
    pub tree: Value,
    /// What `${env:…}` and `${file:…}` gave: secrets too.
    pub fetched: Vec<String>,
    source: Source,
    document: Document,
}

/// One line from a reader to a writer.
#[derive(Debug, Clone)]
pub struct Content {
    pub reader: Component,
    pub transformers: Vec<Component>,
    pub writer: Component,
    /// Of two contents that have used about as much time one of twice the weight gets twice as much.
    pub weight: u32,
}

/// A plugin by name, and its parameters.
#[derive(Clone, Default)]
pub struct Component {
    /// Its name in the job file; empty where there is none, or no parameters are: either makes the file a refused one.
    pub name: String,
    /// The library to load it from, where the job file says so.
    pub library: Option<PathBuf>,
    /// What the plugin reads: its own parameters, and the job's `common` settings. It may hold secrets.
    pub parameter: Value,
    /// Where it stands in the job file: `job.content[0].reader`.
    pub place: String,
}

/// How job files are read.
pub struct Reading<'a> {
    pub variables: &'a Variables,
    /// The encoding of the file; `None`: UTF-8, or what its byte-order mark says.
    pub encoding: Option<&'static Encoding>,
    /// What stands behind `${env:…}` and `${file:…}`, or why it cannot be had.
    pub fetch: &'a dyn Fn(Origin<'_>) -> Result<String, String>,
    /// Whether all entries of `job.content` run, whatever the file says.
    pub all_contents: bool,
}

/// How a file begins that is packed with gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The key under which plugins find the job's `common` settings among their parameters.
pub const COMMON: &str = "common";

impl JobFile {
    /// What of it must not be seen.
    pub fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        secrets.learn(&self.tree);
        secrets.add_all(&self.fetched);
        secrets
    }

    /// Reads a job file; the path `-` is standard input. What is wrong with it and what is odd about it goes to `findings`, with
    /// file, line and column. There is no job file where it cannot be read as JSON; where it can, it is there even if it is
    /// refused, so that what is wrong with its plugins can be told as well.
    pub fn read(path: &Path, reading: &Reading<'_>, findings: &mut Findings) -> Option<JobFile> {
        let bytes = if path == Path::new("-") {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        } else {
            std::fs::read(path)
        };
        match bytes {
            Ok(bytes) => {
                if bytes.starts_with(&GZIP) {
                    let message = format!(
                        "{}:1:1: the job file is packed with gzip: unpack it, or pipe it: gunzip -c FILE | transship run -",
                        path.display()
                    );
                    findings.problems.push(Problem::wrong((0, message)));
                    return None;
                }
                let (text, warning) = Source::decode(path, &bytes, reading.encoding);
                findings.warnings.extend(warning.map(|warning| (0, warning).into()));
                JobFile::parse(path, text, reading, findings)
            }
            Err(error) => {
                let hint = match path.to_string_lossy().to_ascii_lowercase() {
                    url if url.starts_with("http://") || url.starts_with("https://") => {
                        " (job files are not fetched: curl -sf URL | transship run -)"
                    }
                    _ if path.is_dir() => " (it is a folder)",
                    _ => "",
                };
                let message = format!("cannot read the job file {}{hint}: {error}", path.display());
                findings.problems.push(Problem::wrong((0, message)));
                None
            }
        }
    }

    /// The same for a text that was read already; `path` is for messages and for the job's name.
    pub fn parse(path: &Path, text: String, reading: &Reading<'_>, findings: &mut Findings) -> Option<JobFile> {
        let source = Source::new(path, text, reading.variables);
        let mut unavailable = false;
        let mut fetch = |origin: Origin<'_>| (reading.fetch)(origin).inspect_err(|_| unavailable = true);
        let parsed = json::parse(source.text(), &mut fetch);
        let document = match parsed {
            Ok(document) => document,
            Err(broken) => {
                let what = if unavailable { broken.message.clone() } else { unset::what_is_broken(&source, &broken) };
                let message = format!("{}: {what}\n{}", source.place(broken.at), source.excerpt(broken.at));
                findings.problems.push(Problem::wrong((broken.at, message)));
                return None;
            }
        };
        for note in &document.notes {
            findings.warnings.push((note.at, format!("{}: {}", source.place(note.at), note.message)).into());
        }
        findings.warnings.extend(unset::warnings(&source, &document));
        let tree = document.value();
        let mut notes = Notes { source: &source, document: &document, findings };
        let (content, setting) = read_tree(&tree, reading.all_contents, &mut notes);
        for unknown in unknown_keys(&tree, "", &keys::job_keys()) {
            let advice = if unknown.is_beside_a_plugins_name() {
                "; what a plugin takes stands inside \"parameter\""
            } else {
                ""
            };
            notes.warn_at(&unknown.path, &format!("{}{advice}", unknown.message));
        }
        findings.sort();
        let name = match path.file_stem() {
            Some(stem) if path != Path::new("-") => stem.to_string_lossy().into_owned(),
            _ => "stdin".into(),
        };
        let fetched = document.secrets.clone();
        Some(JobFile { path: path.to_path_buf(), name, content, setting, tree, fetched, source, document })
    }

    /// Whether some of its values are encrypted with DataX's keys.
    pub fn is_encrypted(&self) -> bool {
        let job = self.tree.get("job").and_then(|job| Params::new(job, "job").ok());
        job.is_some_and(|job| datax_only::is_encrypted(&job))
    }

    /// The entries of `job.content` that run.
    pub fn running(&self) -> &[Content] {
        match &self.content[..] {
            [first, ..] if !self.setting.all_contents => std::slice::from_ref(first),
            all => all,
        }
    }

    /// A message that begins with a JSON path, with file, line and column of what the path leads to in front; and where in the text
    /// that is.
    pub fn located(&self, message: &str) -> (usize, String) {
        reading::located(&self.source, &self.document, message)
    }

    /// A message about what a JSON path leads to, with its place in front; and where in the text that is.
    pub fn located_at(&self, path: &str, message: &str) -> (usize, String) {
        reading::located_at(&self.source, &self.document, path, message)
    }
}

/// A heavier content would leave nothing to the others.
const MOST_WEIGHT: u32 = 1000;

const FORM: &str = "is required: a job file has the form {\"job\": {\"content\": [{\"reader\": …, \"writer\": …}]}}";

fn read_tree(tree: &Value, all_contents: bool, notes: &mut Notes<'_>) -> (Vec<Content>, Setting) {
    let Some(root) = notes.kept(Params::root(tree, "the job file").map(Some)) else { return Default::default() };
    let job = match root.object("job") {
        Ok(Some(job)) => job,
        Ok(None) => {
            let hint = if root.value("content").is_some() {
                "; \"content\" and \"setting\" belong inside \"job\""
            } else {
                ""
            };
            notes.refuse(root.error("job", format_args!("{FORM}{hint}")).message());
            return Default::default();
        }
        Err(error) => {
            notes.refuse(error.message());
            return Default::default();
        }
    };
    let mut setting = settings::read(&root, &job, notes);
    setting.all_contents |= all_contents;
    if datax_only::is_encrypted(&job) {
        datax_only::refuse_encrypted(tree, notes);
    }
    datax_only::warn_of_handlers(&job, notes);
    let content = read_contents(&root, &job, setting.all_contents, notes);
    (content, setting)
}

fn read_contents(root: &Params<'_>, job: &Params<'_>, all_contents: bool, notes: &mut Notes<'_>) -> Vec<Content> {
    let entries: Vec<(String, &Value)> = match job.value("content") {
        Some(Value::Array(entries)) => {
            entries.iter().enumerate().map(|(index, entry)| (format!("job.content[{index}]"), entry)).collect()
        }
        Some(single @ Value::Object(_)) => {
            notes.warn("job.content is an object: it is taken as a list of one, where DataX refuses it");
            vec![("job.content[0]".into(), single)]
        }
        Some(_) | None => Vec::new(),
    };
    if entries.is_empty() {
        let problem = match job.value("content") {
            None | Some(Value::Array(_)) => "is required: a list of {\"reader\": …, \"writer\": …}".into(),
            Some(other) => format!(
                "must be a list of {{\"reader\": …, \"writer\": …}}, not {}",
                transship_plugin_api::params::describe(other)
            ),
        };
        notes.refuse(job.error("content", problem).message());
    }
    let running = if all_contents { entries.len() } else { 1 };
    if entries.len() > running {
        notes.warn(&format!(
            "job.content has {} entries: only the first runs, as in DataX; \"contents\": \"all\" in job.setting or --all-contents \
             runs them all",
            entries.len()
        ));
    }
    // An entry that does not run may look as it likes.
    let common = settings::section(root, COMMON, notes).and_then(|_| root.value(COMMON));
    entries.iter().take(running).filter_map(|(place, entry)| read_content(place, entry, common, notes)).collect()
}

fn read_content(place: &str, entry: &Value, common: Option<&Value>, notes: &mut Notes<'_>) -> Option<Content> {
    let content = notes.kept(Params::new(entry, place).map(Some))?;
    let part = |key: &str, notes: &mut Notes<'_>| match content.object(key) {
        Ok(Some(component)) => read_component(&component, content.path(key), common, notes),
        Ok(None) => {
            notes.refuse(content.error(key, "is required").message());
            Component::default()
        }
        Err(error) => {
            notes.refuse(error.message());
            Component::default()
        }
    };
    let reader = part("reader", notes);
    let writer = part("writer", notes);
    let transformers = notes.kept(content.objects("transformer").map(Some)).unwrap_or_default();
    let transformers = transformers
        .iter()
        .enumerate()
        .map(|(index, transformer)| {
            read_component(transformer, format!("{}[{index}]", content.path("transformer")), common, notes)
        })
        .collect();
    let weight = settings::number(&content, "weight", MOST_WEIGHT, notes).map_or(1, NonZeroU32::get);
    Some(Content { reader, transformers, writer, weight })
}

fn read_component(component: &Params<'_>, place: String, common: Option<&Value>, notes: &mut Notes<'_>) -> Component {
    let mut name = notes.kept(component.required_text("name").map(Some)).unwrap_or_default().trim().to_string();
    let mut parameter = match component.object("parameter") {
        Ok(Some(_)) => component.value("parameter").cloned().unwrap_or_default(),
        Ok(None) => Value::Object(serde_json::Map::new()),
        Err(error) => {
            notes.refuse(error.message());
            // What the plugin would miss in it is not worth telling.
            name.clear();
            Value::Null
        }
    };
    if let (Value::Object(parameters), Some(common)) = (&mut parameter, common) {
        parameters.entry(COMMON).or_insert_with(|| common.clone());
    }
    let library = notes.kept(component.text("path")).filter(|path| !path.trim().is_empty()).map(PathBuf::from);
    let library = library.filter(|library| {
        // DataX's own key of this name is the folder of the plugin in its installation.
        let is_library = library.to_string_lossy().ends_with(std::env::consts::DLL_SUFFIX);
        if !is_library {
            let ending = std::env::consts::DLL_SUFFIX;
            notes.warn(&format!(
                "{place}.path is no library (*{ending}) and is ignored: the plugin is found by its name"
            ));
        }
        is_library
    });
    Component { name, library, parameter, place }
}

impl fmt::Debug for Component {
    /// Without the parameters: they may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Component").field("name", &self.name).field("place", &self.place).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
