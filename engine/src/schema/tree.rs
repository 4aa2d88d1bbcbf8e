//! A table of parameters as the tree that its paths describe: `connection`, `connection[].jdbcUrl`.

use transship_plugin_api::Parameter;

use super::takes::{Kind, Takes};

/// The keys of an object, in the order of their table.
#[derive(Debug, Clone, Default)]
pub(super) struct Keys<'a>(Vec<Key<'a>>);

/// A key, and what its value may be.
#[derive(Debug, Clone)]
pub(super) struct Key<'a> {
    pub(super) name: &'a str,
    /// Its line of the table. `None`: the table only has keys inside it.
    pub(super) parameter: Option<&'a Parameter>,
    /// `None`: anything, or what this engine doesn't know.
    pub(super) takes: Option<Takes>,
    /// The keys of the object, or of each object of the list, that is its value.
    pub(super) inside: Keys<'a>,
}

impl<'a> Keys<'a> {
    pub(super) fn of(table: &'a [Parameter]) -> Keys<'a> {
        let mut keys = Keys::default();
        for parameter in table {
            let key = keys.at(&parameter.name);
            key.parameter = Some(parameter);
            key.takes = Takes::parse(&parameter.takes);
        }
        keys
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Key<'a>> {
        self.0.iter()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key at the end of a path. Where the table has no line for a key on the way, the path says what it takes.
    fn at(&mut self, path: &'a str) -> &mut Key<'a> {
        let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
        let (name, in_list) = first.strip_suffix("[]").map_or((first, false), |name| (name, true));
        let index = self.0.iter().position(|key| key.name == name).unwrap_or_else(|| {
            let object = if in_list { Kind::List(Box::new(Kind::Object)) } else { Kind::Object };
            let takes = Some(Takes::of([object]));
            self.0.push(Key { name, parameter: None, takes, inside: Keys::default() });
            self.0.len() - 1
        });
        match rest {
            None => &mut self.0[index],
            Some(rest) => self.0[index].inside.at(rest),
        }
    }
}

impl Key<'_> {
    pub(super) fn is_required(&self) -> bool {
        self.parameter.is_some_and(|parameter| parameter.required)
    }
}
