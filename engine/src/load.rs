//! From a name in a job file to a loaded plugin. The only file that knows where plugins lie.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use transship_plugin_api::HostRef;
use transship_plugin_api::ffi::import::{LoadedPlugin, Trust};
use transship_plugin_api::params::{nearest, one_of};
use transship_plugin_api::plugin::{Component as Described, Description};

use crate::config::Component;
use crate::error::{Error, Result};

/// Finds plugins and keeps them loaded.
pub struct Loader {
    places: Vec<SearchPlace>,
    host: HostRef,
    loaded: Mutex<BTreeMap<PathBuf, LoadedPlugin>>,
}

/// A folder that may hold plugins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPlace {
    pub folder: PathBuf,
    /// Why it is looked at, for messages.
    pub reason: &'static str,
    /// Plugins that came with the program are trusted to make well-formed arrays.
    pub trusted: bool,
}

/// What a component can be in a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Reader,
    Writer,
    Transformer,
    Lookup,
}

impl Role {
    pub fn word(self) -> &'static str {
        match self {
            Role::Reader => "reader",
            Role::Writer => "writer",
            Role::Transformer => "transformer",
            Role::Lookup => "lookup",
        }
    }

    fn of(self, description: &Description) -> &[Described] {
        match self {
            Role::Reader => &description.readers,
            Role::Writer => &description.writers,
            Role::Transformer => &description.transformers,
            Role::Lookup => &description.lookups,
        }
    }
}

/// The folders to look at, in order: those of `--plugin-path`, those of `TRANSSHIP_PLUGIN_PATH`, that of the program, and
/// `../lib/transship` from there.
pub fn search_places(
    options: &[PathBuf],
    environment: Option<&std::ffi::OsStr>,
    program: Option<&Path>,
) -> Vec<SearchPlace> {
    let place = |folder: PathBuf, reason, trusted| SearchPlace { folder, reason, trusted };
    let mut places: Vec<SearchPlace> =
        options.iter().map(|folder| place(folder.clone(), "--plugin-path", false)).collect();
    if let Some(paths) = environment {
        let folders = std::env::split_paths(paths).filter(|folder| !folder.as_os_str().is_empty());
        places.extend(folders.map(|folder| place(folder, "TRANSSHIP_PLUGIN_PATH", false)));
    }
    if let Some(folder) = program.and_then(Path::parent) {
        places.push(place(folder.to_path_buf(), "beside the program", true));
        if let Some(parent) = folder.parent() {
            places.push(place(parent.join("lib").join("transship"), "lib/transship", true));
        }
    }
    places
}

impl Loader {
    /// A loader that looks at these places. Log records that plugins write while they load go to `host`.
    pub fn new(places: Vec<SearchPlace>, host: HostRef) -> Loader {
        Loader { places, host, loaded: Mutex::default() }
    }

    /// The plugin that has this component.
    ///
    /// # Errors
    /// [`Error::Plugin`]: there is none (with the places looked at and names that are near), there are several, or it is not
    /// of this version.
    pub fn load(&self, component: &Component, role: Role) -> Result<LoadedPlugin> {
        match &component.library {
            Some(library) => {
                self.in_library(library, component, role).map_err(at(&format!("{}.path", component.place)))
            }
            None => match self.by_name(component, role).map_err(at(&component.place))? {
                Some(plugin) => Ok(plugin),
                None => Err(self.no_driver(component, role)),
            },
        }
    }

    /// Every plugin in the search path; what cannot be loaded is told beside them.
    pub fn all(&self) -> (Vec<LoadedPlugin>, Vec<String>) {
        let mut plugins = Vec::new();
        let mut problems = Vec::new();
        for (path, trusted) in self.libraries() {
            match self.open(&path, trusted) {
                Ok(plugin) => plugins.push(plugin),
                Err(error) => problems.push(error.to_string()),
            }
        }
        (plugins, problems)
    }

    fn in_library(&self, library: &Path, component: &Component, role: Role) -> Result<LoadedPlugin> {
        let plugin = self.open(library, false)?;
        if has(plugin.description(), role, &component.name) {
            return Ok(plugin);
        }
        Err(Error::Plugin(format!(
            "{} has no {} named \"{}\"; it has {}",
            library.display(),
            role.word(),
            component.name,
            listed(&names(plugin.description(), role))
        )))
    }

    /// `None` if several share the name, and none of them speaks of the URL in the parameter.
    fn by_name(&self, component: &Component, role: Role) -> Result<Option<LoadedPlugin>> {
        let name = component.name.as_str();
        // The library that is named like the component, if there is one: nothing else needs to be opened.
        let file = file_name(library_name(name));
        for place in &self.places {
            let path = place.folder.join(&file);
            if path.is_file() {
                let plugin = self.open(&path, place.trusted)?;
                if has(plugin.description(), role, name) {
                    return Ok(Some(plugin));
                }
            }
        }
        let (plugins, problems) = self.all();
        let claimants: Vec<&LoadedPlugin> =
            plugins.iter().filter(|plugin| has(plugin.description(), role, name)).collect();
        let by_url: Vec<&LoadedPlugin> = claimants
            .iter()
            .copied()
            .filter(|plugin| speaks_of(&component.parameter, &plugin.description().urls))
            .collect();
        match (claimants.as_slice(), by_url.as_slice()) {
            ([plugin], _) | (_, [plugin]) => Ok(Some((*plugin).clone())),
            ([], _) => Err(Error::Plugin(self.not_found(name, role, &plugins, &problems))),
            (several, []) if several.iter().all(|plugin| !plugin.description().urls.is_empty()) => Ok(None),
            (several, _) => {
                let paths: Vec<String> = several.iter().map(|plugin| plugin.path().display().to_string()).collect();
                Err(Error::Plugin(format!(
                    "several libraries have a {} named \"{name}\": {}; name one of them with \"path\" in the job file",
                    role.word(),
                    paths.join(" and ")
                )))
            }
        }
    }

    /// The error that no library with this name takes the URL in the parameter.
    fn no_driver(&self, component: &Component, role: Role) -> Error {
        let (plugins, _) = self.all();
        let claimants = plugins.iter().filter(|plugin| has(plugin.description(), role, &component.name));
        let urls: Vec<&str> = claimants.flat_map(|plugin| &plugin.description().urls).map(String::as_str).collect();
        let known = format!("\"{}\" takes URLs that begin with {}", component.name, one_of(urls));
        let place = format!("{}.parameter", component.place);
        Error::Plugin(match url_in(&component.parameter, &place) {
            Some((place, words)) => format!("{place}: there is no driver for {words}: {known}"),
            None => format!("{place} has no URL: {known}"),
        })
    }

    fn open(&self, path: &Path, trusted: bool) -> Result<LoadedPlugin> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let path = path.canonicalize().map_err(|error| {
            Error::Plugin(format!("cannot open the plugin {}: {error}{}", path.display(), seen_from(path)))
        })?;
        if let Some(plugin) = loaded.get(&path) {
            return Ok(plugin.clone());
        }
        // In a debug build nobody is trusted: our own plugins are the ones under development.
        let trust = if trusted && !cfg!(debug_assertions) { Trust::Trusted } else { Trust::Untrusted };
        let plugin =
            LoadedPlugin::open(&path, self.host.clone(), trust).map_err(|error| Error::Plugin(error.to_string()))?;
        loaded.insert(path, plugin.clone());
        Ok(plugin)
    }

    /// Every library in the search path that is named like a plugin. Of several with one file name the first counts.
    fn libraries(&self) -> Vec<(PathBuf, bool)> {
        let (prefix, suffix) = (file_prefix(), std::env::consts::DLL_SUFFIX);
        let mut found: BTreeMap<String, (PathBuf, bool)> = BTreeMap::new();
        for place in &self.places {
            let Ok(entries) = std::fs::read_dir(&place.folder) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with(&prefix) && name.ends_with(suffix) {
                    found.entry(name).or_insert_with(|| (entry.path(), place.trusted));
                }
            }
        }
        found.into_values().collect()
    }

    fn not_found(&self, name: &str, role: Role, plugins: &[LoadedPlugin], problems: &[String]) -> String {
        let known: Vec<String> = plugins.iter().flat_map(|plugin| names(plugin.description(), role)).collect();
        let mut message = format!("there is no {} named \"{name}\"", role.word());
        match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => message += &format!("; did you mean \"{near}\"?"),
            None if !known.is_empty() => message += &format!("; there is {}", listed(&known)),
            None => {}
        }
        let places = self.places.iter().map(|place| {
            let missing = if place.folder.is_dir() { "" } else { ", which does not exist" };
            format!("{} ({}{missing})", place.folder.display(), place.reason)
        });
        message += &format!(" (looked in {})", places.collect::<Vec<_>>().join(", "));
        if plugins.is_empty() {
            message += "; no plugin was found at all: `cargo build --workspace` builds them, `--plugin-path` says where they are";
        }
        for problem in problems {
            message += &format!("\n  left out: {problem}");
        }
        message
    }
}

/// Whether a text among the parameters is a URL that begins so.
fn speaks_of(parameter: &Value, urls: &[String]) -> bool {
    match parameter {
        Value::String(text) => urls.iter().any(|url| text.trim_start().starts_with(url.as_str())),
        Value::Array(items) => items.iter().any(|item| speaks_of(item, urls)),
        Value::Object(object) => object.values().any(|value| speaks_of(value, urls)),
        _ => false,
    }
}

/// Puts the place in the job file before what is wrong with a plugin.
fn at(place: &str) -> impl Fn(Error) -> Error {
    move |error| match error {
        Error::Plugin(message) => Error::Plugin(format!("{place}: {message}")),
        other => other,
    }
}

/// The first parameter that is called a URL: its place in the job file, and the words that the URL begins with.
fn url_in(parameter: &Value, place: &str) -> Option<(String, String)> {
    match parameter {
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| url_in(item, &format!("{place}[{index}]")))
        }
        Value::Object(object) => object.iter().find_map(|(key, value)| url_in(value, &format!("{place}.{key}"))),
        Value::String(url) => {
            let key = place.rsplit('.').next().unwrap_or(place).to_lowercase();
            // No more than its first two words: a password may stand in it.
            let words = url.trim().split(':').take(2);
            let words: Vec<&str> = words.take_while(|word| word.chars().all(char::is_alphanumeric)).collect();
            let is_url = key.trim_end_matches(|letter: char| !letter.is_alphabetic()).ends_with("url");
            (is_url && !words.is_empty() && url.contains(':')).then(|| (place.into(), words.join(":")))
        }
        _ => None,
    }
}

/// What a relative path starts from, where that is known.
fn seen_from(path: &Path) -> String {
    match std::env::current_dir() {
        Ok(folder) if path.is_relative() => format!(" (seen from {})", folder.display()),
        _ => String::new(),
    }
}

fn has(description: &Description, role: Role, name: &str) -> bool {
    role.of(description).iter().any(|component| component.names.iter().any(|known| known == name))
}

/// What a plugin's component of this name says of itself.
pub fn described<'a>(description: &'a Description, role: Role, name: &str) -> Option<&'a Described> {
    role.of(description).iter().find(|component| component.names.iter().any(|known| known == name))
}

/// The first name of each component: aliases would make lists of choices unreadable.
fn names(description: &Description, role: Role) -> Vec<String> {
    role.of(description).iter().filter_map(|component| component.names.first().cloned()).collect()
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        names => names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", "),
    }
}

/// The part of a component's name that its library is probably named by.
fn library_name(name: &str) -> &str {
    let role = ["reader", "writer", "lookup"].into_iter().find_map(|role| name.strip_suffix(role));
    let base = role.unwrap_or(name);
    if base.is_empty() { name } else { base }
}

fn file_prefix() -> String {
    format!("{}transship_", std::env::consts::DLL_PREFIX)
}

fn file_name(library: &str) -> String {
    format!("{}{library}{}", file_prefix(), std::env::consts::DLL_SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_searched_in_the_order_of_the_manual() {
        let environment = std::env::join_paths(["/env/a", "", "/env/b"]).unwrap();
        let places = search_places(&["/option".into()], Some(&environment), Some(Path::new("/usr/bin/transship")));
        let folders: Vec<&str> = places.iter().map(|place| place.folder.to_str().unwrap()).collect();
        assert_eq!(folders, ["/option", "/env/a", "/env/b", "/usr/bin", "/usr/lib/transship"]);
        assert_eq!(places.iter().map(|place| place.trusted).collect::<Vec<_>>(), [false, false, false, true, true]);
    }

    #[test]
    fn a_library_is_named_by_its_system() {
        assert_eq!(library_name("sqlitereader"), "sqlite");
        assert_eq!(library_name("sqlite"), "sqlite");
        assert_eq!(library_name("sqlitelookup"), "sqlite");
        assert_eq!(library_name("reader"), "reader");
    }
}
