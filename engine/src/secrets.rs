//! Keeps secrets out of everything that is printed: whatever a job file holds under a key named like a secret is replaced
//! wherever it turns up.

use serde_json::Value;

mod broken;

pub use broken::mask_broken;

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
        self.longest_first();
    }

    /// Remembers these secrets.
    pub fn add_all(&mut self, secrets: &[String]) {
        secrets.iter().for_each(|secret| self.add(secret));
        self.longest_first();
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

    /// One secret may be a part of another.
    fn longest_first(&mut self) {
        self.values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        self.values.dedup();
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
    fn a_secret_that_holds_another_is_masked_whole() {
        assert_eq!(mask(json!({"token": "abc", "secret": "abcdef"}), "abcdef abc"), "*** ***");
    }
}
