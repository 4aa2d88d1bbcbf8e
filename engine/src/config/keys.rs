//! Keys that nobody knows. They are never refused (DataX ignores them), but a misspelt one should not go unnoticed.

use serde_json::{Map, Value};
use transship_plugin_api::params::nearest;

/// The paths of [`JOB_KEYS`](super::JOB_KEYS).
pub(super) fn job_keys() -> Vec<&'static str> {
    super::JOB_KEYS.iter().map(|key| key.name.as_ref()).collect()
}

/// A warning for each key of an object that is not among the known ones (`a.b`, `a[].b`), with what it was probably meant to
/// be. What lies inside a known key is looked at only where keys inside it are known.
pub fn unknown_key_warnings(tree: &Value, place: &str, known: &[&str]) -> Vec<String> {
    let Value::Object(object) = tree else { return Vec::new() };
    // A plugin that lists no parameters has not said that it has none.
    if known.is_empty() {
        return Vec::new();
    }
    let names = || known.iter().flat_map(|known| with_parents(known));
    let warn = |Place { known: path, shown }: Place| {
        // The right key in the wrong place: `setting` beside `job`.
        let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_string();
        let elsewhere =
            names().find(|known| known.contains('.') && !is_named_alike(known) && last(known) == last(&path));
        match nearest(&path, names()).or(elsewhere.filter(|_| !path.contains("[]."))).filter(|_| !shown.ends_with('"'))
        {
            Some(meant) => format!("{place}{shown} is not known here and is ignored; did you mean \"{meant}\"?"),
            None => format!("{place}{shown} is not known and is ignored"),
        }
    };
    let mut unknown = Vec::new();
    unknown_keys(object, &Place::default(), known, &mut unknown);
    unknown.into_iter().map(warn).collect()
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

fn unknown_keys(object: &Map<String, Value>, around: &Place, known: &[&str], unknown: &mut Vec<Place>) {
    for (key, value) in object {
        let place = around.key(key);
        let known_inside = |opening: &str| {
            known.iter().any(|known| known.strip_prefix(&place.known).is_some_and(|rest| rest.starts_with(opening)))
        };
        let (in_object, in_list) = (known_inside("."), known_inside("[]."));
        match value {
            Value::Object(object) if in_object => unknown_keys(object, &place.inside(), known, unknown),
            // A single object stands for a list of one.
            Value::Object(object) if in_list => unknown_keys(object, &place.item(None), known, unknown),
            Value::Array(items) if in_list => {
                for (index, item) in items.iter().enumerate() {
                    if let Value::Object(object) = item {
                        unknown_keys(object, &place.item(Some(index)), known, unknown);
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

    #[test]
    fn unknown_keys_are_found_at_every_level() {
        let known = ["path", "column", "column[].type", "csvReaderConfig", "connection[].table"];
        let parameter = json!({
            "path": "x", "colunm": [], "column": [{"type": "long", "typ": 1}, "*"], "csvReaderConfig": {"anything": 1},
            "connection": {"table": ["t"], "tabel": 1}
        });
        let mut unknown = Vec::new();
        unknown_keys(parameter.as_object().unwrap(), &Place::default(), &known, &mut unknown);
        let shown: Vec<&str> = unknown.iter().map(|place| place.shown.as_str()).collect();
        assert_eq!(shown, ["colunm", "column[0].typ", "connection.tabel"]);
    }

    #[test]
    fn a_misspelt_setting_is_warned_about_and_datax_own_are_not() {
        let tree = json!({"job": {"setting": {"speed": {"chanel": 1}, "keyVersion": ""}, "content": []}, "common": {"column": {}}});
        assert_eq!(
            unknown_key_warnings(&tree, "", &job_keys()),
            ["job.setting.speed.chanel is not known here and is ignored; did you mean \"job.setting.speed.channel\"?"]
        );
    }

    #[test]
    fn a_misspelt_object_is_warned_about_as_a_whole() {
        let tree = json!({"job": {"seting": {"speed": {"channel": 1}}, "contents": []}});
        assert_eq!(
            unknown_key_warnings(&tree, "", &job_keys()),
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
