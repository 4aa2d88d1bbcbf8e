//! Which parameters of a reader or writer are worth a word where it limits a run.

use transship_plugin_api::plugin::Parameter;

/// Those that change how fast a plugin is, whichever plugin has them: how a source is cut up, how much goes over at once, and what a
/// target does before and after.
const NAMES: [&str; 8] =
    ["splitPk", "splitFactor", "splitBytes", "fetchSize", "batchSize", "batchByteSize", "preSql", "postSql"];
/// How a plugin describes a parameter that it takes for the sake of job files made for another program.
const WITHOUT_EFFECT: &str = "accepted and not needed";

/// Those of a plugin that knows these parameters.
pub(super) fn among(known: &[Parameter]) -> Vec<String> {
    let has_effect = |parameter: &&Parameter| !parameter.about.starts_with(WITHOUT_EFFECT);
    let names = known.iter().filter(has_effect).map(|parameter| parameter.name.as_ref());
    names.filter(|name| NAMES.contains(name)).map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_without_effect_is_none_to_tune() {
        let known = [
            Parameter::required("path", "string", "where it is"),
            Parameter::optional("splitPk", "string", "", "by which column"),
            Parameter::optional("fetchSize", "integer", "", "accepted and not needed: rows are streamed"),
        ];
        assert_eq!(among(&known), ["splitPk"]);
    }
}
