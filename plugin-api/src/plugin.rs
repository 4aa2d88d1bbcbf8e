//! What a plugin says of itself: its readers, writers, transformers and lookups, their names and their parameters.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Result;
use crate::host::HostRef;
use crate::lookup::Lookup;
use crate::reader::Reader;
use crate::transformer::Transformer;
use crate::writer::Writer;

/// Makes a reader from its `parameter` object. It checks the parameters and touches neither network nor target.
pub type NewReader = fn(&Value, HostRef) -> Result<Box<dyn Reader>>;
/// Makes a writer from its `parameter` object. It checks the parameters and touches neither network nor target.
pub type NewWriter = fn(&Value, HostRef) -> Result<Box<dyn Writer>>;
/// Makes a transformer from its `parameter` object.
pub type NewTransformer = fn(&Value, HostRef) -> Result<Box<dyn Transformer>>;
/// Makes a lookup from its `parameter` object. It checks the parameters and touches no network.
pub type NewLookup = fn(&Value, HostRef) -> Result<Box<dyn Lookup>>;

/// A plugin: what `export_plugin!` exports.
pub struct Plugin {
    pub(crate) description: Description,
    pub(crate) new_reader: HashMap<&'static str, NewReader>,
    pub(crate) new_writer: HashMap<&'static str, NewWriter>,
    pub(crate) new_transformer: HashMap<&'static str, NewTransformer>,
    pub(crate) new_lookup: HashMap<&'static str, NewLookup>,
}

impl Plugin {
    /// A plugin that can do nothing yet. `name` is that of its library: `libtransship_<name>.so`.
    pub fn new(name: &'static str, version: &'static str) -> Plugin {
        Plugin {
            description: Description {
                name: name.into(),
                version: version.into(),
                readers: Vec::new(),
                writers: Vec::new(),
                transformers: Vec::new(),
                lookups: Vec::new(),
                urls: Vec::new(),
            },
            new_reader: HashMap::new(),
            new_writer: HashMap::new(),
            new_transformer: HashMap::new(),
            new_lookup: HashMap::new(),
        }
    }

    /// Adds a reader: its name in job files, then its aliases.
    pub fn reader(
        mut self,
        names: &[&'static str],
        about: &'static str,
        parameters: &'static [Parameter],
        new: NewReader,
    ) -> Plugin {
        self.description.readers.push(Component::new(names, about, parameters));
        self.new_reader.extend(names.iter().map(|name| (*name, new)));
        self
    }

    /// Adds a writer: its name in job files, then its aliases.
    pub fn writer(
        mut self,
        names: &[&'static str],
        about: &'static str,
        parameters: &'static [Parameter],
        new: NewWriter,
    ) -> Plugin {
        self.description.writers.push(Component::new(names, about, parameters));
        self.new_writer.extend(names.iter().map(|name| (*name, new)));
        self
    }

    /// Adds a transformer: its name in job files, then its aliases.
    pub fn transformer(
        mut self,
        names: &[&'static str],
        about: &'static str,
        parameters: &'static [Parameter],
        new: NewTransformer,
    ) -> Plugin {
        self.description.transformers.push(Component::new(names, about, parameters));
        self.new_transformer.extend(names.iter().map(|name| (*name, new)));
        self
    }

    /// Adds a lookup: its name in job files, then its aliases.
    pub fn lookup(
        mut self,
        names: &[&'static str],
        about: &'static str,
        parameters: &'static [Parameter],
        new: NewLookup,
    ) -> Plugin {
        self.description.lookups.push(Component::new(names, about, parameters));
        self.new_lookup.extend(names.iter().map(|name| (*name, new)));
        self
    }

    /// How the URLs of its system begin: `jdbc:sqlite:`. Where several plugins have a reader or writer of one name (`rdbmsreader`), the
    /// URL in a job's parameters says which of them is meant.
    pub fn urls(mut self, beginnings: &[&'static str]) -> Plugin {
        self.description.urls.extend(beginnings.iter().map(|beginning| beginning.to_string()));
        self
    }

    /// What it says of itself.
    pub fn description(&self) -> &Description {
        &self.description
    }
}

/// What a plugin says of itself; it crosses the C boundary as JSON of this shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The plugin's name: that of its library.
    pub name: String,
    /// The plugin's version.
    pub version: String,
    /// Its readers.
    #[serde(default)]
    pub readers: Vec<Component>,
    /// Its writers.
    #[serde(default)]
    pub writers: Vec<Component>,
    /// Its transformers.
    #[serde(default)]
    pub transformers: Vec<Component>,
    /// Its lookups.
    #[serde(default)]
    pub lookups: Vec<Component>,
    /// How the URLs of its system begin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
}

/// A reader, writer, transformer or lookup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Component {
    /// Its name in job files, then its aliases.
    pub names: Vec<String>,
    /// What it does, in one sentence.
    #[serde(default)]
    pub about: String,
    /// The parameters that it knows.
    #[serde(default)]
    pub parameters: Vec<Parameter>,
}

impl Component {
    fn new(names: &[&'static str], about: &'static str, parameters: &'static [Parameter]) -> Component {
        Component {
            names: names.iter().map(|name| name.to_string()).collect(),
            about: about.into(),
            parameters: parameters.to_vec(),
        }
    }
}

/// A parameter: for `transship plugins NAME`, for "did you mean", for what editors complete, and for the check of a job file
/// before the plugin sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its key; of an object inside, with the path: `connection[].jdbcUrl`, `csvReaderConfig.escapeMode`.
    pub name: Cow<'static, str>,
    /// What it takes, in words that both a person and the engine read: one of these, or several with a comma or `or` between
    /// (`string or list of strings`).
    ///
    /// | word | what [`Params`](crate::Params) has for it |
    /// | --- | --- |
    /// | `string` | `text`: numbers and booleans pass too |
    /// | `number`, `integer`, `boolean` | `number`, `integer` or `whole`, `truth`: texts of them pass too |
    /// | `object` | `object` |
    /// | `list of strings`, `list of objects`, … | `texts`, `objects`: one item stands for a list of one |
    /// | `list` | a list of anything |
    /// | `any` | `value`: anything |
    /// | `"csv"`, `2`, `["*"]` | this very value; `choice`: words match in any case |
    ///
    /// Of other words the engine knows no meaning: people read them, and any value passes.
    pub takes: Cow<'static, str>,
    /// Whether a job without it is refused, or one in which it is blank. Of a key inside an object: whether the object needs it.
    #[serde(default)]
    pub required: bool,
    /// What holds when it is absent.
    #[serde(default)]
    pub default: Cow<'static, str>,
    /// What it does.
    #[serde(default)]
    pub about: Cow<'static, str>,
}

impl Parameter {
    /// A parameter that a job must give.
    pub const fn required(name: &'static str, takes: &'static str, about: &'static str) -> Parameter {
        Parameter {
            name: Cow::Borrowed(name),
            takes: Cow::Borrowed(takes),
            required: true,
            default: Cow::Borrowed(""),
            about: Cow::Borrowed(about),
        }
    }

    /// A parameter that a job may give.
    pub const fn optional(
        name: &'static str,
        takes: &'static str,
        default: &'static str,
        about: &'static str,
    ) -> Parameter {
        Parameter {
            name: Cow::Borrowed(name),
            takes: Cow::Borrowed(takes),
            required: false,
            default: Cow::Borrowed(default),
            about: Cow::Borrowed(about),
        }
    }
}
