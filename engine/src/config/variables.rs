//! Variables of a job file: `${name}` and `$name` in its text, put in before it is read as JSON, as DataX does. So a value may
//! be a piece of JSON. `${env:NAME}` and `${file:PATH}` are not for here: the JSON reader puts them in where they are safe.

use std::collections::BTreeMap;
use std::ops::Range;

/// A value that leads to others, and these to others, deeper than this leads to itself.
const DEEPEST: usize = 16;

/// The variables that were given, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables {
    values: BTreeMap<String, String>,
}

/// A text with its variables put in.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    pub text: String,
    pub pieces: Vec<Piece>,
    pub unset: Vec<Unset>,
}

/// A stretch of an expanded text, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// Where it begins in the expanded text.
    pub from: usize,
    /// Where it, or the variable whose value it is, begins in the text as written.
    pub original: usize,
    /// The name of that variable.
    pub variable: Option<String>,
}

/// What looks like a variable and stays as it is written, because nobody has given it a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unset {
    /// As it is written: `${dt}`, `$dt`.
    pub written: String,
    pub name: String,
    /// Where it stands in the expanded text.
    pub at: usize,
    /// Whether it was given, but with nothing except blanks in it.
    pub is_blank: bool,
}

impl Unset {
    /// Whether it is rather a parameter of a query or a group of a pattern: `$1`.
    pub(super) fn is_number(&self) -> bool {
        self.name.bytes().all(|byte| byte.is_ascii_digit())
    }
}

/// What looks like a variable.
struct Placeholder<'a> {
    range: Range<usize>,
    name: &'a str,
}

impl Variables {
    /// Gives a variable its value; the last one given counts.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.values.insert(name.into(), value.into());
    }

    /// The value, unless it is blank: DataX takes a blank one as not given, and a path or a condition that ends in nothing would
    /// mean more than it should.
    fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    /// Puts every variable that has a value in its place. A value may hold variables itself.
    pub(super) fn expand(&self, text: &str) -> Expanded {
        let mut expanded = Expanded::default();
        let mut rest = 0;
        for placeholder in placeholders(text) {
            let Some(value) = self.get(placeholder.name) else {
                let shift = placeholder.range.start - rest;
                expanded.unset.push(Unset {
                    written: text[placeholder.range.clone()].to_string(),
                    name: placeholder.name.to_string(),
                    at: expanded.text.len() + shift,
                    is_blank: self.values.contains_key(placeholder.name),
                });
                continue;
            };
            expanded.add(&text[rest..placeholder.range.start], rest, None);
            let mut whole = String::new();
            self.expand_value(value, &mut vec![placeholder.name], &mut whole);
            expanded.add(&whole, placeholder.range.start, Some(placeholder.name));
            rest = placeholder.range.end;
        }
        expanded.add(&text[rest..], rest, None);
        expanded
    }

    /// Appends a value with the variables inside it put in; those that it is inside of stay as they are written.
    fn expand_value<'a>(&'a self, value: &'a str, within: &mut Vec<&'a str>, out: &mut String) {
        let mut rest = 0;
        for placeholder in placeholders(value) {
            let inner = self.get(placeholder.name);
            let Some(inner) = inner.filter(|_| within.len() < DEEPEST && !within.contains(&placeholder.name)) else {
                continue;
            };
            out.push_str(&value[rest..placeholder.range.start]);
            within.push(placeholder.name);
            self.expand_value(inner, within, out);
            within.pop();
            rest = placeholder.range.end;
        }
        out.push_str(&value[rest..]);
    }
}

impl Expanded {
    fn add(&mut self, text: &str, original: usize, variable: Option<&str>) {
        if !text.is_empty() {
            self.pieces.push(Piece { from: self.text.len(), original, variable: variable.map(String::from) });
            self.text.push_str(text);
        }
    }
}

/// Everything that matches DataX's `\$\{?\w+\}?`: both braces may be missing, each for itself. Values from elsewhere
/// (`${env:…}`, `${file:…}`) are not among them.
fn placeholders(text: &str) -> impl Iterator<Item = Placeholder<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let start = from + text[from..].find('$')?;
            let braced = text[start + 1..].starts_with('{');
            let begin = start + 1 + usize::from(braced);
            let length = text[begin..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            let end = begin + length;
            from = end.max(start + 1);
            let name = &text[begin..end];
            let elsewhere = braced && matches!(name, "env" | "file") && text[end..].starts_with(':');
            let schema = name == "schema" && is_quoted(text, start, end);
            if length > 0 && !elsewhere && !schema {
                from = end + usize::from(text[end..].starts_with('}'));
                return Some(Placeholder { range: start..from, name });
            }
        }
    })
}

/// Whether a stretch of a text stands in quotes all by itself: `"$schema"` is a key that editors look for.
fn is_quoted(text: &str, start: usize, end: usize) -> bool {
    let quote = text[..start].chars().next_back().filter(|letter| matches!(letter, '"' | '\''));
    quote.is_some_and(|quote| text[end..].starts_with(quote))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(values: &[(&str, &str)]) -> Variables {
        let mut variables = Variables::default();
        values.iter().for_each(|(name, value)| variables.set(*name, *value));
        variables
    }

    fn expanded(text: &str, values: &[(&str, &str)]) -> String {
        variables(values).expand(text).text
    }

    /// Trap 5.
    #[test]
    fn variables_are_put_in_as_datax_does_with_or_without_braces() {
        let dt = [("dt", "1"), ("dt_x", "2")];
        assert_eq!(expanded("${dt} $dt $dt_x ${dt_x}", &dt), "1 1 2 2", "a name is taken as long as it is");
        assert_eq!(expanded("$$dt \\${dt} ${dt-y} $dt} a$dt.b", &dt), "$1 \\1 1-y} 1 a1.b");
        assert_eq!(expanded("${ dt } $ ${} $", &dt), "${ dt } $ ${} $");
    }

    #[test]
    fn a_value_may_be_any_text() {
        let cols = [("cols", r#""a", "b$9\""#)];
        assert_eq!(expanded("[${cols}]", &cols), r#"["a", "b$9\"]"#);
        assert_eq!(expanded("größe ${ö} €$dt€", &[("dt", "日")]), "größe ${ö} €日€");
    }

    #[test]
    fn a_value_may_hold_variables_but_not_itself() {
        let chain = [("a", "<${b}>"), ("b", "$c"), ("c", "end")];
        assert_eq!(expanded("$a", &chain), "<end>");
        assert_eq!(expanded("$a", &[("a", "1 $b"), ("b", "2 $a")]), "1 2 $a");
        let long: Vec<(String, String)> = (0..40).map(|n| (format!("v{n}"), format!("$v{}", n + 1))).collect();
        let long: Vec<(&str, &str)> = long.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(expanded("$v0", &long), "$v16");
    }

    #[test]
    fn what_has_no_value_or_a_blank_one_stays_and_is_told() {
        let expanded = variables(&[("dt", "2026"), ("empty", " ")]).expand("$dt ${day} $empty $1");
        assert_eq!(expanded.text, "2026 ${day} $empty $1");
        let told: Vec<_> =
            expanded.unset.iter().map(|unset| (unset.written.as_str(), unset.at, unset.is_blank)).collect();
        assert_eq!(told, [("${day}", 5, false), ("$empty", 12, true), ("$1", 19, false)]);
    }

    #[test]
    fn values_from_elsewhere_are_left_for_the_json_reader() {
        let variables = variables(&[("env", "x"), ("file", "y")]);
        let expanded = variables.expand("${env:HOME} ${file:/etc/x} ${env} $env:");
        assert_eq!(expanded.text, "${env:HOME} ${file:/etc/x} x x:");
        assert_eq!(expanded.unset, []);
    }

    #[test]
    fn the_key_that_editors_look_for_is_no_variable() {
        let schema = [("schema", "ods")];
        assert_eq!(
            expanded(r#"{"$schema": "${schema}.x", 'y': "$schema.t"}"#, &schema),
            r#"{"$schema": "ods.x", 'y': "ods.t"}"#
        );
    }

    #[test]
    fn a_place_in_the_expanded_text_leads_back_to_what_was_written() {
        let expanded = variables(&[("n", "12345")]).expand("a $n b $n");
        let piece =
            |from, original, variable: Option<&str>| Piece { from, original, variable: variable.map(String::from) };
        assert_eq!(expanded.text, "a 12345 b 12345");
        assert_eq!(
            expanded.pieces,
            [piece(0, 0, None), piece(2, 2, Some("n")), piece(7, 4, None), piece(10, 7, Some("n"))]
        );
    }
}
