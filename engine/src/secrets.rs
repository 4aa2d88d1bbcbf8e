//! Keeps secrets out of everything that is printed: whatever a job file holds under a key named like a secret is replaced
//! wherever it turns up.

use serde_json::Value;

mod address;
mod broken;

pub use broken::mask_broken;

/// What stands in the place of a secret.
pub const MASK: &str = "***";

/// Words in a key's name that make its value a secret.
const SECRET_WORDS: [&str; 13] = [
    "authorization",
    "cookie",
    "signature",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "token",
    "secret",
    "accesskey",
    "apikey",
    "privatekey",
    "credential",
];

/// A name that makes its value a secret, though as a part of others it means too much.
const SECRET_NAME: &str = "pass";

/// A secret of so few characters is a part of half of all words, and is masked only where it stands alone.
const SHORT: usize = 2;
/// The same for a number: one of so few digits is a part of many others.
const SHORT_NUMBER: usize = 5;

/// The secrets of some job files.
#[derive(Clone, Default)]
pub struct Secrets {
    /// One may be a part of another: the longest come first.
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

    /// Whether there is nothing to mask.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The text with every secret masked.
    pub fn mask(&self, text: &str) -> String {
        let mut masked = text.to_string();
        for secret in &self.values {
            if masked.contains(secret.as_str()) {
                masked = match must_stand_alone(secret) {
                    true => mask_alone(&masked, secret),
                    false => masked.replace(secret.as_str(), MASK),
                };
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

    /// A job file that may be shown: what stands under the name of a secret is gone, whatever it is, and secrets are masked elsewhere.
    pub fn mask_setting(&self, tree: &mut Value) {
        self.hide(tree, false);
    }

    fn hide(&self, tree: &mut Value, secret: bool) {
        match tree {
            Value::Object(object) => {
                object.iter_mut().for_each(|(key, value)| self.hide(value, secret || is_secret_name(key)))
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide(item, secret)),
            Value::String(_) | Value::Number(_) if secret => *tree = MASK.into(),
            Value::String(text) => *text = self.mask(text),
            Value::Number(number) if self.values.contains(&number.to_string()) => *tree = MASK.into(),
            _ => {}
        }
    }

    fn longest_first(&mut self) {
        self.values.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
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
            Value::Number(number) if secret => {
                let number = number.to_string();
                // A smaller one is a setting such as `maxTokens`.
                if number.len() > SHORT {
                    self.add(&number);
                }
            }
            Value::String(text) => {
                if secret {
                    self.add(text);
                }
                for value in address::header(text).into_iter().flatten() {
                    self.add(value);
                }
                for password in address::passwords(text) {
                    self.add(password);
                    if let Some(decoded) = address::decoded(password) {
                        self.add(&decoded);
                    }
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, secret: &str) {
        // Nobody keeps these words secret, and masking them would spoil every message.
        if matches!(secret.trim(), "" | "true" | "false" | "null") {
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
    SECRET_WORDS.iter().any(|word| key.contains(word)) || key == SECRET_NAME
}

fn is_short(secret: &str) -> bool {
    secret.chars().nth(SHORT).is_none()
}

/// Whether masking this secret inside of words and numbers would leave no message readable.
fn must_stand_alone(secret: &str) -> bool {
    is_short(secret) || (secret.len() <= SHORT_NUMBER && secret.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The text with a secret masked where it is no part of a longer word or number.
fn mask_alone(text: &str, secret: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut shown = 0;
    for (start, _) in text.match_indices(secret) {
        let end = start + secret.len();
        let first = secret.chars().next();
        let last = secret.chars().next_back();
        let figures = is_short(secret);
        if !goes_on(first, text[..start].chars().rev(), figures) && !goes_on(last, text[end..].chars(), figures) {
            masked.push_str(&text[shown..start]);
            masked.push_str(MASK);
            shown = end;
        }
    }
    masked + &text[shown..]
}

/// Whether the word or number at whose edge this character stands goes on in the text beside it. With `figures`, a time, a date and
/// a number with a fraction are one number.
fn goes_on(edge: Option<char>, mut beside: impl Iterator<Item = char>, figures: bool) -> bool {
    let (Some(edge), Some(next)) = (edge, beside.next()) else { return false };
    match edge {
        '0'..='9' => {
            let is_mark = figures && matches!(next, '.' | ',' | ':' | '-');
            next.is_ascii_digit() || (is_mark && beside.next().is_some_and(|next| next.is_ascii_digit()))
        }
        'a'..='z' | 'A'..='Z' => next.is_ascii_alphabetic(),
        // Other scripts write words without blanks.
        _ if edge.is_alphanumeric() => false,
        _ => !next.is_whitespace() && !matches!(next, '"' | '\'' | '`'),
    }
}

#[cfg(test)]
mod tests;
