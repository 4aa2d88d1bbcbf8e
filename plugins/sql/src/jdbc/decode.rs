//! Percent signs in URLs: `%40` is `@`.

/// A name or a password of a URL. What is no escape stays as it is, so a password with a bare `%` works too.
pub(super) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match escape.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit())) {
            Some(digits) => {
                plain.push(u8::from_str_radix(digits, 16).unwrap_or_default());
                at += 3;
            }
            None => {
                plain.push(bytes[at]);
                at += 1;
            }
        }
    }
    // Escapes that are no UTF-8 were not meant as such.
    String::from_utf8(plain).unwrap_or_else(|_| text.into())
}

/// The name and the value of `name=value`. A plus is a blank there, as the drivers for Java take it.
pub(super) fn decoded_property(pair: &str) -> (String, String) {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    (decoded(name), decoded(&value.replace('+', " ")))
}
