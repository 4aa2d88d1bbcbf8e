//! Variables on the command line: `-D name=value`, and DataX's `-p "-Dname=value -Dother=value"`.

/// What one `-p` gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Given {
    pub variables: Vec<(String, String)>,
    /// Other options of Java.
    pub others: Vec<String>,
}

/// `name=value`.
pub(super) fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if is_name(name) => Ok((name.into(), value.into())),
        Some((name, _)) => Err(format!("\"{name}\" is no name of a variable: letters, digits and _ are")),
        None => Err("write name=value".into()),
    }
}

/// The options that DataX passes on to Java: `-Dname=value -Dother=value`, with blanks between them. A value with blanks in it
/// stands in quotes, and so may the whole option.
pub(super) fn java_options(text: &str) -> Result<Given, String> {
    let mut given = Given::default();
    for word in words(text) {
        let word = unquoted(word);
        match word.strip_prefix("-D") {
            Some(definition) => {
                let (name, value) = definition.split_once('=').unwrap_or((definition, ""));
                if name.is_empty() {
                    return Err(format!("\"{word}\" has no name: write -Dname=value"));
                }
                // `-Duser.timezone=…` and the like are for Java itself: no text can name them.
                if is_name(name) {
                    given.variables.push((name.into(), unquoted(value).into()));
                } else {
                    given.others.push(format!("-D{name}"));
                }
            }
            None if word.starts_with('-') => given.others.push(word.into()),
            None => {
                return Err(format!(
                    "\"{word}\" belongs to no -Dname=value: put a value with blanks in it in quotes, -Dname='a b'"
                ));
            }
        }
    }
    Ok(given)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// What stands between blanks, except for those inside quotes.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = None;
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        if quote.is_none() && letter.is_whitespace() {
            words.extend(start.take().map(|start| &text[start..at]));
            continue;
        }
        start.get_or_insert(at);
        match quote {
            Some(open) if open == letter => quote = None,
            None if matches!(letter, '"' | '\'') => quote = Some(letter),
            _ => {}
        }
    }
    words.extend(start.map(|start| &text[start..]));
    words
}

/// The text without the quotes around the whole of it, if there are any.
fn unquoted(text: &str) -> &str {
    let inside = |quote| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let single = |inside: &&str| !inside.contains(['"', '\'']);
    inside('"').filter(single).or_else(|| inside('\'').filter(single)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(text: &str) -> Vec<(String, String)> {
        java_options(text).unwrap().variables
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn several_variables_are_given_at_once_as_for_datax() {
        assert_eq!(variables("-Ddt=2026-11-01  -Dhour=08"), pairs(&[("dt", "2026-11-01"), ("hour", "08")]));
        assert_eq!(variables(" -Dx=a=b -Dempty= -Dflag "), pairs(&[("x", "a=b"), ("empty", ""), ("flag", "")]));
        assert_eq!(variables(""), []);
    }

    #[test]
    fn a_value_in_quotes_may_have_blanks_and_quotes_inside_a_value_stay() {
        assert_eq!(
            variables(r#"-Dwhere="id > 3 and x" '-Dto=a b' -Dcols={'type':'long','value':'9 x'}"#),
            pairs(&[("where", "id > 3 and x"), ("to", "a b"), ("cols", "{'type':'long','value':'9 x'}")])
        );
        assert_eq!(variables("-Dcols='a','b'"), pairs(&[("cols", "'a','b'")]));
    }

    #[test]
    fn other_options_of_java_are_told_apart_and_loose_words_refused() {
        let given = java_options("-Xmx4g -Ddt=1").unwrap();
        assert_eq!((given.variables, given.others), (pairs(&[("dt", "1")]), vec!["-Xmx4g".to_string()]));
        assert!(java_options("-Dwhere=id > 3").unwrap_err().contains("\">\" belongs to no -Dname=value"));
        assert!(java_options("-D=x").is_err());
    }

    #[test]
    fn a_definition_has_a_name_and_a_value() {
        assert_eq!(name_and_value("dt=a=b"), Ok(("dt".into(), "a=b".into())));
        assert!(["dt", "=x", "a-b=c", "user.dir=/"].iter().all(|text| name_and_value(text).is_err()));
    }
}
