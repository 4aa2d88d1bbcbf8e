//! What of a URL may be seen: never a password, nor a value whose name says that it is secret.

use reqwest::Url;

/// Words in the name of a query parameter or a header that make its value a secret.
const WORDS: [&str; 13] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "token",
    "secret",
    "key",
    "credential",
    "signature",
    "auth",
    "session",
    "cookie",
    "sig",
];

/// Whether the value under this name is a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "pass" || WORDS.iter().any(|word| name.contains(word))
}

/// A URL for messages.
pub(crate) fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    if shown.password().is_some() {
        // Only URLs without a host refuse one.
        let _ = shown.set_password(Some("***"));
    }
    let query: Vec<String> = url
        .query_pairs()
        .map(|(name, value)| match is_secret(&name) {
            true => format!("{name}=***"),
            false => format!("{name}={value}"),
        })
        .collect();
    shown.set_query(None);
    shown.set_fragment(None);
    match query.is_empty() {
        true => shown.to_string(),
        false => format!("{shown}?{}", query.join("&")),
    }
}
