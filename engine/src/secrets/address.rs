//! Passwords inside of addresses and connection strings, which have no key of the job file before them:
//! `scheme://user:password@host`, `jdbc:oracle:thin:user/password@host`, and `name=value` however the pairs are separated.

use super::is_secret_name;

/// How far behind its beginning an address may hold its password: else a text full of beginnings would be searched for ever.
const FAR: usize = 4096;
/// Where nobody can tell at which of two places a password ends, what is shorter than this is not taken for one.
const SHORTEST_GUESS: usize = 3;
/// Words by which a query is known.
const QUERY_WORDS: [&str; 5] = ["select", "insert", "update", "delete", "where"];

/// The passwords in a text, as they are written there. Of two that begin at the same place the first is the longer one.
pub(super) fn passwords(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (start, mark) in text.match_indices("://") {
        before_host(&text[start + mark.len()..], ':', &mut found);
    }
    for (start, mark) in text.match_indices("jdbc:oracle:") {
        if let Some((_, user_info)) = text[start + mark.len()..].split_once(':') {
            before_host(user_info, '/', &mut found);
        }
    }
    parameters(text, &mut found);
    found.retain(|password| !password.is_empty());
    found
}

/// The value of a header that is written as one text, `Authorization: Bearer TOKEN`, if its name is that of a secret: as it is, and
/// without the word that says of which sort it is.
pub(super) fn header(text: &str) -> Option<[&str; 2]> {
    let (name, value) = text.split_once(':')?;
    let is_name = !name.is_empty() && name.chars().all(is_part_of_name) && is_secret_name(name);
    let value = value.trim();
    is_name.then(|| [value, value.split_once(char::is_whitespace).map_or(value, |(_, rest)| rest.trim())])
}

/// What a password with `%40` and the like stands for.
pub(super) fn decoded(password: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(password.len());
    let mut rest = password.as_bytes();
    while let [first, others @ ..] = rest {
        let code = match others {
            [high, low, ..] if *first == b'%' => hex(*high).zip(hex(*low)).map(|(high, low)| high * 16 + low),
            _ => None,
        };
        bytes.push(code.unwrap_or(*first));
        rest = &others[if code.is_some() { 2 } else { 0 }..];
    }
    String::from_utf8(bytes).ok().filter(|decoded| decoded != password)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// The password in `user:password@host`. It may hold a `/`, `?` or `@` that should have been encoded: its end is the last `@`.
fn before_host<'a>(text: &'a str, divider: char, found: &mut Vec<&'a str>) {
    let text = &text[..text.floor_char_boundary(FAR)];
    if !text.contains('@') {
        return;
    }
    let address = up_to(text, char::is_whitespace);
    let Some((user, rest)) = address.split_once(divider) else { return };
    let Some((password, _)) = rest.rsplit_once('@') else { return };
    // Where the password ends if all is encoded as it should be, and the later `@` is a part of a path or a query.
    let encoded = up_to(rest, |letter| matches!(letter, '/' | '?' | '#')).rsplit_once('@').map(|(encoded, _)| encoded);
    if user.contains(['/', '?']) || (encoded.is_none() && (user.contains('@') || begins_with_port(rest))) {
        return;
    }
    found.push(password);
    found.extend(encoded.filter(|encoded| is_guess(encoded, password)));
}

/// Whether this is what follows the name of a host: `:10000/db;principal=hive/_HOST@REALM`.
fn begins_with_port(text: &str) -> bool {
    let port = up_to(text, |letter| matches!(letter, '/' | '?' | '#' | ';' | ','));
    port.parse::<u16>().is_ok()
}

/// The values of `name=value` whose name is that of a secret.
fn parameters<'a>(text: &'a str, found: &mut Vec<&'a str>) {
    let is_query = || text.split_whitespace().any(|word| QUERY_WORDS.contains(&word.to_ascii_lowercase().as_str()));
    let is_list = text.split_once('=').is_some_and(|(name, _)| name.trim().chars().all(is_part_of_name));
    let mut from = 0;
    while let Some(length) = text[from..].find('=') {
        let before = &text[from..from + length];
        from += length + 1;
        let trimmed = before.trim_end();
        let name_start = trimmed.rfind(|letter| !is_part_of_name(letter));
        let name_start = name_start.map_or(0, |at| at + trimmed[at..].chars().next().map_or(0, char::len_utf8));
        if !is_secret_name(&trimmed[name_start..]) {
            continue;
        }
        let value = text[from..].trim_start();
        if let Some(quoted) = quoted(value) {
            found.push(quoted);
            from = text.len() - value.len() + 1 + quoted.len();
            continue;
        }
        let has_blanks = trimmed.len() < before.len() || value.len() < text.len() - from;
        if (has_blanks && !is_list) || is_query() {
            continue;
        }
        let separator = trimmed[..name_start].chars().next_back();
        let password = up_to(value, |letter| match separator {
            Some('?' | '&') => letter == '&' || letter.is_whitespace(),
            Some(';') => letter == ';',
            Some(',') => letter == ',' || letter.is_whitespace(),
            _ => letter == ';' || letter.is_whitespace(),
        })
        .trim_end();
        found.push(password);
        let shorter =
            up_to(password, |letter| matches!(letter, '&' | ';' | ',' | ')' | '"' | '\'') || letter.is_whitespace());
        found.extend(Some(shorter).filter(|shorter| is_guess(shorter, password)));
        from = text.len() - value.len() + password.len();
    }
}

/// The inside of a value in quotes, or in braces as SQL Server has them.
fn quoted(value: &str) -> Option<&str> {
    let closing = match value.chars().next()? {
        '{' => '}',
        quote @ ('"' | '\'') => quote,
        _ => return None,
    };
    let mut is_escaped = false;
    Some(up_to(&value[1..], |letter| {
        let ends = letter == closing && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends
    }))
}

fn is_guess(guess: &str, password: &str) -> bool {
    guess.len() < password.len() && guess.chars().count() >= SHORTEST_GUESS
}

fn up_to(text: &str, ends: impl FnMut(char) -> bool) -> &str {
    text.split(ends).next().unwrap_or_default()
}

fn is_part_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.')
}

#[cfg(test)]
mod tests;
