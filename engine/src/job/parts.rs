//! The parts of a job: its plugins loaded, reader and writer made, transformers tried. Whatever is wrong with any of them is told
//! at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use transship_plugin_api::dates::ColumnFormats;
use transship_plugin_api::ffi::import::LoadedPlugin;
use transship_plugin_api::params::nearest;
use transship_plugin_api::plugin::Parameter;
use transship_plugin_api::{HostRef, Kind, Params, Reader, Writer};

use crate::calls::Line as CallLine;
use crate::clock::SystemClock;
use crate::config::{Component, Content, JobFile, unknown_keys};
use crate::error::{Error, Failure, Problem, Result, Warning};
use crate::load::{Loader, Role, described};
use crate::perf::recording::Tuning;
use crate::schema;
use crate::task::Cut;
use crate::transform::{self, Maker, SharedLookup};

mod tuning;

/// What a job is made of.
pub(super) struct Parts<'a> {
    pub reader: Box<dyn Reader>,
    pub writer: Box<dyn Writer>,
    pub transformers: Vec<Maker<'a>>,
    /// Where records are kept in order, if they are.
    pub cut: Option<Cut>,
    pub facts: Facts,
}

/// What perf records tell of the parts.
pub(super) struct Facts {
    /// The versions of their plugins, by name.
    pub plugins: BTreeMap<String, String>,
    /// The parameters that reader and writer could be tuned by.
    pub tuning: Tuning,
}

/// Makes the parts of a job.
///
/// # Errors
/// [`Error::Refused`] with everything that is wrong: plugins that are missing or incompatible, parameters that they refuse.
/// [`Error::Failed`] where one could not be made for another reason.
pub(super) fn make<'a>(
    content: &'a Content,
    file: &'a JobFile,
    loader: &Loader,
    host: &HostRef,
    calls: &CallLine,
    warnings: &mut Vec<Warning>,
) -> Result<Parts<'a>> {
    let mut maker =
        PartMaker { file, loader, calls, warnings, problems: Vec::new(), failure: None, plugins: BTreeMap::new() };
    let reader = maker.part(&content.reader, Role::Reader, |plugin, component| {
        plugin.reader(&component.name, &component.parameter, host.clone())
    });
    let writer = maker.part(&content.writer, Role::Writer, |plugin, component| {
        plugin.writer(&component.name, &component.parameter, host.clone())
    });
    let transformers: Vec<Maker<'a>> =
        content.transformers.iter().filter_map(|component| maker.transformer(component, host)).collect();
    let cut = maker.cut(&transformers);
    match (reader, writer) {
        (Some(reader), Some(writer)) if maker.problems.is_empty() && maker.failure.is_none() => {
            let ((reader, of_reader), (writer, of_writer)) = (reader, writer);
            let facts = Facts { plugins: maker.plugins, tuning: Tuning { reader: of_reader, writer: of_writer } };
            Ok(Parts { reader, writer, transformers, cut, facts })
        }
        _ => Err(match maker.failure {
            Some(failure) if maker.problems.is_empty() => failure.into(),
            _ => Error::Refused(maker.problems),
        }),
    }
}

struct PartMaker<'m, 'a> {
    file: &'a JobFile,
    loader: &'m Loader,
    calls: &'m CallLine,
    warnings: &'m mut Vec<Warning>,
    problems: Vec<Problem>,
    /// What else went wrong first.
    failure: Option<Failure>,
    plugins: BTreeMap<String, String>,
}

impl<'a> PartMaker<'_, 'a> {
    /// A reader or writer and what it could be tuned by, unless something is wrong with it.
    fn part<T>(
        &mut self,
        component: &'a Component,
        role: Role,
        make: impl FnOnce(&LoadedPlugin, &Component) -> transship_plugin_api::Result<T>,
    ) -> Option<(T, Vec<String>)> {
        let plugin = self.load(component, role)?;
        let known = described(plugin.description(), role, &component.name).map(|known| known.parameters.clone());
        let known = known.unwrap_or_default();
        self.warn_of_unknown_keys(component, &known);
        let made = self.calls.call("init", || make(&plugin, component));
        Some((self.unless_refused(made, component, &known)?, tuning::among(&known)))
    }

    /// A transformer is made once here only to learn whether it can be made: each attempt of a task makes its own.
    fn transformer(&mut self, component: &'a Component, host: &HostRef) -> Option<Maker<'a>> {
        let formats = self.formats(component)?;
        let (plugin, known) = if component.library.is_none() && transform::is_built_in(&component.name) {
            let known = transform::components().into_iter().find(|known| known.names.contains(&component.name));
            (None, known.map(|known| known.parameters))
        } else {
            let Some(plugin) = self.load(component, Role::Transformer) else {
                self.advise_built_in(component);
                return None;
            };
            let known = described(plugin.description(), Role::Transformer, &component.name);
            let known = known.map(|known| known.parameters.clone());
            (Some(plugin), known)
        };
        let known = known.unwrap_or_default();
        self.warn_of_unknown_keys(component, &known);
        let mut maker = Maker::new(component, plugin, formats);
        if maker.asks_a_lookup() {
            match self.asked(component, &known, host) {
                Some(lookup) => maker = maker.asking(lookup),
                // What is wrong with the transformer itself is told beside it.
                None => {
                    let refused = maker.make(host.clone()).err().filter(|error| error.kind() == Kind::Config);
                    refused.and_then(|error| self.unless_refused(Err::<(), _>(error), component, &[]));
                    return None;
                }
            }
        }
        let made = self.calls.call("init", || maker.make(host.clone()).map(drop));
        self.unless_refused(made, component, &known).map(|()| maker)
    }

    /// What a `lookup` transformer asks. It is made once here only to learn whether it can be made.
    fn asked(&mut self, transformer: &Component, known: &[Parameter], host: &HostRef) -> Option<SharedLookup> {
        let asked = self.unless_refused(transform::asked(transformer), transformer, known)?;
        let plugin = self.load(&asked, Role::Lookup)?;
        let known = described(plugin.description(), Role::Lookup, &asked.name).map(|known| known.parameters.clone());
        let known = known.unwrap_or_default();
        self.warn_of_unknown_keys(&asked, &known);
        let (name, parameter, job) = (asked.name.clone(), asked.parameter.clone(), host.clone());
        let lookup = SharedLookup::new(asked.name.clone(), host.clone(), Arc::new(SystemClock::new()), move || {
            plugin.lookup(&name, &parameter, job.clone())
        });
        let made = self.calls.call("init", || lookup.try_out());
        self.unless_refused(made, &asked, &known).map(|()| lookup)
    }

    /// Where lanes begin and end: once each, and in this order.
    fn cut(&mut self, transformers: &[Maker<'a>]) -> Option<Cut> {
        let mut cut: Option<Cut> = None;
        for (place, maker) in transformers.iter().enumerate() {
            let problem = match (&mut cut, maker.order().is_some(), maker.is_merge()) {
                (None, true, _) => {
                    cut = Some(Cut { order: place, merge: None });
                    continue;
                }
                (Some(Cut { merge: merge @ None, .. }), _, true) => {
                    *merge = Some(place);
                    continue;
                }
                (Some(_), true, _) => "a job has one \"order\": name all columns of the key there",
                (None, _, true) => "there are no lanes here: \"merge\" ends those of an \"order\" before it",
                (Some(_), _, true) => "the lanes were ended before",
                _ => continue,
            };
            self.problems.push(Problem::wrong(self.file.located(&format!("{}: {problem}", maker.place()))));
        }
        cut
    }

    /// A misspelt built-in transformer was looked for among the plugins.
    fn advise_built_in(&mut self, component: &Component) {
        let Some(problem) = self.problems.last_mut().filter(|_| component.library.is_none()) else { return };
        let built_in = transform::components();
        let names: Vec<&str> = built_in.iter().flat_map(|known| &known.names).map(String::as_str).collect();
        let advice = match nearest(&component.name, names.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            // A plugin's name is near.
            None if problem.message.contains("did you mean") => return,
            None => format!("built in are {}, and no plugin has it", names.join(", ")),
        };
        let message = format!("{}: there is no transformer named \"{}\"; {advice}", component.place, component.name);
        *problem = Problem::missing(self.file.located(&message));
    }

    /// How a built-in transformer reads and writes dates.
    fn formats(&mut self, component: &Component) -> Option<Arc<ColumnFormats>> {
        let formats = Params::new(&component.parameter, "parameter").and_then(|params| ColumnFormats::read(&params));
        self.unless_refused(formats, component, &[]).map(Arc::new)
    }

    fn load(&mut self, component: &Component, role: Role) -> Option<LoadedPlugin> {
        // That there is no name was told when the file was read.
        if component.name.is_empty() {
            return None;
        }
        match self.calls.call("init", || self.loader.load(component, role)) {
            Ok(plugin) => {
                let described = plugin.description();
                self.plugins.insert(described.name.clone(), described.version.clone());
                Some(plugin)
            }
            Err(error) => {
                self.problems.push(Problem::missing(self.file.located(&error.to_string())));
                None
            }
        }
    }

    /// What was made, or `None` and the reasons why not: the plugin's own first, then what its table of parameters shows beside it.
    fn unless_refused<T>(
        &mut self,
        made: transship_plugin_api::Result<T>,
        component: &Component,
        known: &[Parameter],
    ) -> Option<T> {
        let error = match made {
            Ok(made) => return Some(made),
            Err(error) => error,
        };
        if !matches!(error.kind(), Kind::Config | Kind::Unsupported) {
            self.failure.get_or_insert(Failure::of(&error, component.name.clone()));
            return None;
        }
        let message = error.message();
        let own = if message.starts_with("parameter") {
            format!("{}.{message}", component.place)
        } else if message.starts_with("common.") {
            // The plugin found these settings among its parameters; in the file they stand at the top.
            message.to_string()
        } else {
            format!("{}: {message}", component.place)
        };
        let path_of_own = own.split([' ', ':']).next().unwrap_or_default();
        let beside = |path: &str| !is_within(path, path_of_own) && !is_within(path_of_own, path);
        let others: Vec<String> = schema::violations(&component.parameter, known)
            .into_iter()
            .map(|violation| (format!("{}.parameter.{}", component.place, violation.path), violation.message))
            .filter(|(path, _)| path_of_own == component.place || beside(path))
            .map(|(path, message)| format!("{path} {message}"))
            .collect();
        let all = std::iter::once(&own).chain(&others);
        self.problems.extend(all.map(|message| Problem::wrong(self.file.located(message))));
        None
    }

    /// Unknown keys are never refused (DataX ignores them), but a misspelt one should not go unnoticed.
    fn warn_of_unknown_keys(&mut self, component: &Component, known: &[Parameter]) {
        // A plugin that lists no parameters has not said that it has none.
        if known.is_empty() {
            return;
        }
        let names: Vec<&str> = known.iter().map(|parameter| parameter.name.as_ref()).chain(["common"]).collect();
        let place = format!("{}.parameter.", component.place);
        for unknown in unknown_keys(&component.parameter, &place, &names) {
            // An encrypted value of DataX: the file is refused for it.
            if !(self.file.is_encrypted() && unknown.is_encrypted()) {
                self.warnings.push(self.file.located_at(&unknown.path, &unknown.message).into());
            }
        }
    }
}

/// Whether a path is another one or leads further into it: `a.b[0]` is within `a.b`.
fn is_within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
