//! Keys that nobody knows. They are never refused (DataX ignores them), but a misspelt one should not go unnoticed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde_json::{Map, Value};
use transship_plugin_api::params::nearest;

/// The paths of [`JOB_KEYS`](super::JOB_KEYS).
pub(super) fn job_keys() -> Vec<&'static str> {
    super::JOB_KEYS.iter().map(|key| key.name.as_ref()).collect()
}

/// A key that nobody knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    /// Where it stands: `job.content[0].reader.parameter.colunm`.
    pub path: String,
    /// What to say of it, and of others like it.
    pub message: String,
}

/// So many are told one by one.
const MOST: usize = 50;

/// The keys of an object that are not among the known ones (`a.b`, `a[].b`), each with what it was probably meant to be. What lies
/// inside a known key is looked at only where keys inside it are known. `place`: what leads to the object, with its point.
pub fn unknown_keys(tree: &Value, place: &str, known: &[&str]) -> Vec<UnknownKey> {
    let Value::Object(object) = tree else { return Vec::new() };
    // A plugin that lists no parameters has not said that it has none.
    if known.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    collect(object, &Place::default(), known, &mut found);
    let kinds = group(found);
    let more = kinds.len().saturating_sub(MOST);
    let mut told: Vec<UnknownKey> =
        kinds.into_iter().take(MOST).map(|(first, count)| tell(place, &first, count, known)).collect();
    if let (true, Some(last)) = (more > 0, told.last_mut()) {
        last.message += &format!("; {more} more keys are not known either");
    }
    told
}

/// Keys of the same name in the items of a list are one kind: the first of them, and how many there are.
fn group(found: Vec<Place>) -> Vec<(Place, usize)> {
    let mut kinds: Vec<(Place, usize)> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    for place in found {
        match index.entry(place.known.clone()) {
            Entry::Occupied(known) => kinds[*known.get()].1 += 1,
            Entry::Vacant(free) => {
                free.insert(kinds.len());
                kinds.push((place, 1));
            }
        }
    }
    kinds
}

fn tell(place: &str, Place { known: path, shown }: &Place, count: usize, known: &[&str]) -> UnknownKey {
    let names = || known.iter().flat_map(|known| with_parents(known));
    // The right key in the wrong place: `setting` beside `job`.
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_string();
    let elsewhere = names().find(|known| known.contains('.') && !is_named_alike(known) && last(known) == last(path));
    let elsewhere = elsewhere.filter(|_| !path.contains("[]."));
    let meant = nearest(path, names()).or(elsewhere).filter(|_| !shown.ends_with('"'));
    let shown = format!("{place}{shown}");
    let others = if count > 1 { format!(", and so are {} more like it", count - 1) } else { String::new() };
    let message = match meant {
        Some(meant) => format!("{shown} is not known here and is ignored{others}; did you mean \"{meant}\"?"),
        None => format!("{shown} is not known and is ignored{others}"),
    };
    UnknownKey { path: shown, message }
}

impl UnknownKey {
    /// Whether it stands where the `name` and `parameter` of a reader, writer or transformer do.
    pub(super) fn is_beside_a_plugins_name(&self) -> bool {
        let Some((parent, _)) = self.path.rsplit_once('.') else { return false };
        let parent = parent.split_once("].").map_or("", |(_, parent)| parent);
        matches!(parent, "reader" | "writer") || (parent.starts_with("transformer[") && !parent.contains('.'))
    }

    /// Whether it is the key of a value that DataX encrypts.
    pub fn is_encrypted(&self) -> bool {
        self.path.rsplit('.').next().is_some_and(super::datax_only::is_marked)
    }
}

/// Whether keys of this name stand in many places: where one was meant to be cannot be told.
fn is_named_alike(known: &str) -> bool {
    known.ends_with(".name") || known.ends_with(".path") || known.ends_with(".parameter")
}

/// A path and those of the objects that it leads through: `a[].b.c`, `a[].b`, `a`.
fn with_parents(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('.').map(|(parent, _)| parent))
        .map(|path| path.trim_end_matches("[]"))
}

/// Where a key stands: as lists of known keys have it (`column[].type`), and as a person finds it (`column[2].type`).
#[derive(Default)]
struct Place {
    known: String,
    shown: String,
}

impl Place {
    fn key(&self, key: &str) -> Place {
        let shown = if key.is_empty() { "\"\"" } else { key };
        Place { known: format!("{}{key}", self.known), shown: format!("{}{shown}", self.shown) }
    }

    fn inside(&self) -> Place {
        Place { known: format!("{}.", self.known), shown: format!("{}.", self.shown) }
    }

    fn item(&self, index: Option<usize>) -> Place {
        let index = index.map(|index| format!("[{index}]")).unwrap_or_default();
        Place { known: format!("{}[].", self.known), shown: format!("{}{index}.", self.shown) }
    }
}

fn collect(object: &Map<String, Value>, around: &Place, known: &[&str], unknown: &mut Vec<Place>) {
    for (key, value) in object {
        let place = around.key(key);
        let known_inside = |opening: &str| {
            known.iter().any(|known| known.strip_prefix(&place.known).is_some_and(|rest| rest.starts_with(opening)))
        };
        let (in_object, in_list) = (known_inside("."), known_inside("[]."));
        match value {
            Value::Object(object) if in_object => collect(object, &place.inside(), known, unknown),
            // A single object stands for a list of one.
            Value::Object(object) if in_list => collect(object, &place.item(None), known, unknown),
            Value::Array(items) if in_list => {
                for (index, item) in items.iter().enumerate() {
                    if let Value::Object(object) = item {
                        collect(object, &place.item(Some(index)), known, unknown);
                    }
                }
            }
            _ if known.contains(&place.known.as_str()) || in_object || in_list => {}
            _ => unknown.push(place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn messages(tree: &Value, place: &str, known: &[&str]) -> Vec<String> {
        unknown_keys(tree, place, known).into_iter().map(|key| key.message).collect()
    }

    #[test]
    fn unknown_keys_are_found_at_every_level() {
        let known = ["path", "column", "column[].type", "csvReaderConfig", "connection[].table"];
        let parameter = json!({
            "path": "x", "colunm": [], "column": [{"type": "long", "typ": 1}, "*"], "csvReaderConfig": {"anything": 1},
            "connection": {"table": ["t"], "tabel": 1}
        });
        let mut unknown = Vec::new();
        collect(parameter.as_object().unwrap(), &Place::default(), &known, &mut unknown);
        let shown: Vec<&str> = unknown.iter().map(|place| place.shown.as_str()).collect();
        assert_eq!(shown, ["colunm", "column[0].typ", "connection.tabel"]);
    }

    #[test]
    fn a_misspelt_setting_is_warned_about_and_datax_own_are_not() {
        let tree = json!({"job": {"setting": {"speed": {"chanel": 1}, "keyVersion": ""}, "content": []}, "common": {"column": {}}});
        assert_eq!(
            messages(&tree, "", &job_keys()),
            ["job.setting.speed.chanel is not known here and is ignored; did you mean \"job.setting.speed.channel\"?"]
        );
    }

    #[test]
    fn a_misspelt_object_is_warned_about_as_a_whole() {
        let tree = json!({"job": {"seting": {"speed": {"channel": 1}}, "contents": []}});
        assert_eq!(
            messages(&tree, "", &job_keys()),
            [
                "job.seting is not known here and is ignored; did you mean \"job.setting\"?",
                "job.contents is not known here and is ignored; did you mean \"job.content\"?"
            ]
        );
    }

    #[test]
    fn a_near_name_is_offered_and_a_far_one_is_not() {
        let known = ["txtfilereader", "sqlitereader"];
        assert_eq!(nearest("txtFileReadr", known), Some("txtfilereader"));
        assert_eq!(nearest("mysqlreader", known), None, "another system is no misspelling");
        assert_eq!(nearest("hbase", known), None);
        assert_eq!(nearest("job.setting.sped.byte", ["job.setting.speed.byte"]), Some("job.setting.speed.byte"));
    }
}
