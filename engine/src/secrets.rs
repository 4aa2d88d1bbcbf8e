//! Keeps secrets out of everything that is printed: whatever a job file holds under a key named like a secret is replaced
//! wherever it turns up.

use serde_json::Value;

/// What stands in the place of a secret.
pub const MASK: &str = "***";

/// Words in a key's name that make its value a secret.
const SECRET_WORDS: [&str; 9] =
    ["password", "passwd", "pwd", "token", "secret", "accesskey", "apikey", "privatekey", "credential"];

/// A shorter secret cannot be masked without masking half of every message.
const SHORTEST: usize = 3;

/// The secrets of some job files.
#[derive(Clone, Default)]
pub struct Secrets {
    values: Vec<String>,
}

impl Secrets {
    /// Remembers every secret in a JSON value.
    pub fn learn(&mut self, value: &Value) {
        self.collect(value, false);
        // The longest first: one secret may be a part of another.
        self.values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        self.values.dedup();
    }

    /// The text with every secret masked.
    pub fn mask(&self, text: &str) -> String {
        let mut masked = text.to_string();
        for secret in &self.values {
            if masked.contains(secret.as_str()) {
                masked = masked.replace(secret.as_str(), MASK);
            }
        }
        masked
    }

    /// Masks every secret inside the strings of a JSON value; keys, numbers and the shape stay.
    pub fn mask_tree(&self, tree: &mut Value) {
        match tree {
            Value::String(text) => *text = self.mask(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_tree(item)),
            Value::Object(object) => object.values_mut().for_each(|value| self.mask_tree(value)),
            _ => {}
        }
    }

    fn collect(&mut self, value: &Value, secret: bool) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    self.collect(value, secret || is_secret_name(key));
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, secret)),
            Value::String(text) if secret => self.add(text),
            Value::Number(number) if secret => self.add(&number.to_string()),
            Value::String(text) => url_passwords(text).for_each(|password| self.add(password)),
            _ => {}
        }
    }

    fn add(&mut self, secret: &str) {
        if secret.len() < SHORTEST {
            return;
        }
        self.values.push(secret.to_string());
        // The same secret as it looks inside a JSON text or a Rust debug text.
        let escaped = serde_json::Value::from(secret).to_string();
        let escaped = &escaped[1..escaped.len() - 1];
        if escaped != secret {
            self.values.push(escaped.to_string());
        }
    }
}

/// The text of a job file that is not JSON, with whatever follows a secret's key masked. Character for character, so that lines
/// and columns stay right; rather too much than too little, since nobody knows what a broken text was meant to be.
pub fn mask_broken(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut last_literal = String::new();
    let mut in_urls: Vec<String> = Vec::new();
    // While a secret is hidden: how many lists and objects it has opened.
    let mut hidden: Option<usize> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                masked.push('"');
                last_literal.clear();
                while let Some(letter) = letters.next() {
                    let escaped = if letter == '\\' { letters.next() } else { None };
                    let hide = hidden.is_some() && letter != '"' && letter != '\n';
                    masked.push(if hide { '*' } else { letter });
                    masked.extend(escaped.map(|escaped| if hide { '*' } else { escaped }));
                    if letter == '"' {
                        break;
                    }
                    last_literal.push(letter);
                }
                in_urls
                    .extend(url_passwords(&last_literal).filter(|secret| secret.len() >= SHORTEST).map(String::from));
                continue;
            }
            ':' if hidden.is_none() && is_secret_name(&last_literal) => hidden = Some(0),
            '[' | '{' => hidden = hidden.map(|depth| depth + 1),
            ']' | '}' => hidden = hidden.and_then(|depth| depth.checked_sub(1)).filter(|depth| *depth > 0),
            ',' if hidden == Some(0) => hidden = None,
            _ if hidden.is_some() && !letter.is_whitespace() && letter != ',' && letter != ':' => {
                masked.push('*');
                continue;
            }
            _ => {}
        }
        masked.push(letter);
    }
    in_urls.iter().fold(masked, |masked, secret| masked.replace(secret, &"*".repeat(secret.chars().count())))
}

/// Whether the value under a key of this name is a secret.
pub fn is_secret_name(key: &str) -> bool {
    let key = key.to_ascii_lowercase().replace(['-', '_'], "");
    SECRET_WORDS.iter().any(|word| key.contains(word))
}

/// Passwords in URLs: `scheme://user:password@host` and `…?password=…&…`.
fn url_passwords(text: &str) -> impl Iterator<Item = &str> {
    let user_info = text
        .split_once("://")
        .and_then(|(_, rest)| rest.split(['/', '?']).next()?.rsplit_once('@'))
        .and_then(|(user_info, _)| user_info.split_once(':'))
        .map(|(_, password)| password);
    let query = text.split_once('?').map(|(_, query)| query).unwrap_or("");
    let parameters =
        query.split(['&', ';']).filter_map(|pair| pair.split_once('=')).filter(|(key, _)| is_secret_name(key));
    user_info.into_iter().chain(parameters.map(|(_, value)| value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn mask(parameter: Value, text: &str) -> String {
        let mut secrets = Secrets::default();
        secrets.learn(&parameter);
        secrets.mask(text)
    }

    #[test]
    fn values_under_secret_names_are_masked_at_any_depth() {
        let parameter =
            json!({"user": "ann", "connection": [{"Password": "p@ss:w/rd"}], "access_key": {"id": "AKIA9"}});
        assert_eq!(mask(parameter, "ann cannot log in with p@ss:w/rd or AKIA9"), "ann cannot log in with *** or ***");
    }

    #[test]
    fn a_secret_is_masked_in_its_escaped_form_too() {
        assert_eq!(mask(json!({"pwd": "a\"b\\c"}), r#"{"pwd":"a\"b\\c"}"#), r#"{"pwd":"***"}"#);
    }

    #[test]
    fn passwords_inside_urls_are_masked() {
        let parameter =
            json!({"url": "postgres://ann:s3cret@db/x", "jdbcUrl": "jdbc:mysql://h/d?user=a&password=hidden&ssl=1"});
        assert_eq!(mask(parameter, "s3cret hidden ssl"), "*** *** ssl");
    }

    #[test]
    fn inside_a_tree_only_strings_are_masked() {
        let mut secrets = Secrets::default();
        secrets.learn(&json!({"password": "123"}));
        let mut tree = json!({"rows123": 123, "message": "no user 123", "list": ["123"]});
        secrets.mask_tree(&mut tree);
        assert_eq!(tree, json!({"rows123": 123, "message": "no user ***", "list": ["***"]}));
    }

    #[test]
    fn what_follows_a_secret_key_in_a_broken_text_is_masked_in_place() {
        let masked = |text: &str, expected: &str| assert_eq!(mask_broken(text), expected);
        masked(r#"{"user": "ann", "password": "a\"b", "x": 1"#, r#"{"user": "ann", "password": "****", "x": 1"#);
        masked(r#""token": "never closed"#, r#""token": "************"#);
        masked("{\"password\":\n\"open\" \"token\"}, \"x\"", "{\"password\":\n\"****\" \"*****\"}, \"x\"");
        masked(r#"{"password": s3cret, "x": y}"#, r#"{"password": ******, "x": y}"#);
        masked(
            r#"{"accessKey": {"id": "a", "b": [1, "c"]}, "x": "y"}"#,
            r#"{"accessKey": {"**": "*", "*": [*, "*"]}, "x": "y"}"#,
        );
    }

    #[test]
    fn a_secret_that_holds_another_is_masked_whole() {
        assert_eq!(mask(json!({"token": "abc", "secret": "abcdef"}), "abcdef abc"), "*** ***");
    }
}
