//! Keys that nobody knows. They are never refused (DataX ignores them), but a misspelt one should not go unnoticed.

use serde_json::{Map, Value};
use transship_plugin_api::params::nearest;

/// Every key of a job file that transship or DataX reads, outside of the plugins' own parameters. Those that are only DataX's
/// are known too: a job file that has them is not wrong.
pub(super) const KNOWN: [&str; 41] = [
    "job.setting.speed.channel",
    "job.setting.speed.byte",
    "job.setting.speed.record",
    "job.setting.errorLimit.record",
    "job.setting.errorLimit.percentage",
    "job.setting.dryRun",
    "job.setting.keyVersion",
    "job.content[].reader.name",
    "job.content[].reader.path",
    "job.content[].reader.parameter",
    "job.content[].writer.name",
    "job.content[].writer.path",
    "job.content[].writer.parameter",
    "job.content[].transformer[].name",
    "job.content[].transformer[].path",
    "job.content[].transformer[].parameter",
    "job.preHandler",
    "job.postHandler",
    "job.jobInfo",
    "common",
    "entry",
    "core.dataXServer",
    "core.statistics",
    "core.transport.channel.class",
    "core.transport.channel.capacity",
    "core.transport.channel.byteCapacity",
    "core.transport.channel.flowControlInterval",
    "core.transport.channel.speed.byte",
    "core.transport.channel.speed.record",
    "core.transport.exchanger",
    "core.transport.record",
    "core.container.model",
    "core.container.job.id",
    "core.container.job.mode",
    "core.container.job.reportInterval",
    "core.container.job.sleepInterval",
    "core.container.taskGroup",
    "core.container.task.failOver.maxRetryTimes",
    "core.container.task.failOver.retryIntervalInMsec",
    "core.container.task.failOver.maxWaitInMsec",
    "core.container.trace",
];

/// A warning for each key of an object that is not among the known ones (`a.b`, `a[].b`), with what it was probably meant to
/// be. What lies inside a known key is looked at only where keys inside it are known.
pub fn unknown_key_warnings(tree: &Value, place: &str, known: &[&str]) -> Vec<String> {
    let Value::Object(object) = tree else { return Vec::new() };
    // A plugin that lists no parameters has not said that it has none.
    if known.is_empty() {
        return Vec::new();
    }
    let warn = |unknown: String| match nearest(&unknown, known.iter().flat_map(|known| with_parents(known))) {
        Some(near) => format!("{place}{unknown} is not known and is ignored; did you mean \"{near}\"?"),
        None => format!("{place}{unknown} is not known and is ignored"),
    };
    unknown_keys(object, "", known).into_iter().map(warn).collect()
}

/// A path and those of the objects that it leads through: `a[].b.c`, `a[].b`, `a`.
fn with_parents(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('.').map(|(parent, _)| parent))
        .map(|path| path.trim_end_matches("[]"))
}

fn unknown_keys(object: &Map<String, Value>, prefix: &str, known: &[&str]) -> Vec<String> {
    let mut unknown = Vec::new();
    for (key, value) in object {
        let name = format!("{prefix}{key}");
        let known_inside = |opening: &str| known.iter().any(|known| known.starts_with(&format!("{name}{opening}")));
        let (in_object, in_list) = (known_inside("."), known_inside("[]."));
        match value {
            Value::Object(object) if in_object => unknown.extend(unknown_keys(object, &format!("{name}."), known)),
            // A single object stands for a list of one.
            Value::Object(object) if in_list => unknown.extend(unknown_keys(object, &format!("{name}[]."), known)),
            Value::Array(items) if in_list => {
                let objects = items.iter().filter_map(Value::as_object);
                unknown.extend(objects.flat_map(|object| unknown_keys(object, &format!("{name}[]."), known)));
            }
            _ if known.contains(&name.as_str()) || in_object || in_list => {}
            _ => unknown.push(name),
        }
    }
    unknown.dedup();
    unknown
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
        let unknown = unknown_keys(parameter.as_object().unwrap(), "", &known);
        assert_eq!(unknown, ["colunm", "column[].typ", "connection[].tabel"]);
    }

    #[test]
    fn a_misspelt_setting_is_warned_about_and_datax_own_are_not() {
        let tree = json!({"job": {"setting": {"speed": {"chanel": 1}, "keyVersion": ""}, "content": []}, "common": {"column": {}}});
        assert_eq!(
            unknown_key_warnings(&tree, "", &KNOWN),
            ["job.setting.speed.chanel is not known and is ignored; did you mean \"job.setting.speed.channel\"?"]
        );
    }

    #[test]
    fn a_misspelt_object_is_warned_about_as_a_whole() {
        let tree = json!({"job": {"seting": {"speed": {"channel": 1}}, "contents": []}});
        assert_eq!(
            unknown_key_warnings(&tree, "", &KNOWN),
            [
                "job.seting is not known and is ignored; did you mean \"job.setting\"?",
                "job.contents is not known and is ignored; did you mean \"job.content\"?"
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
