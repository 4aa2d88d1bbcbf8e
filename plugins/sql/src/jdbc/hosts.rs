//! The hosts of a URL: `a,b:3307,[::1]:3308`, and MySQL's `address=(host=a)(port=3307)`.

use std::fmt;

use super::decode::decoded;
use super::without_prefix;

/// A host of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Its name or address, without brackets.
    pub name: String,
    /// Its port, given or by default.
    pub port: u16,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.contains(':') {
            true => write!(f, "[{}]:{}", self.name, self.port),
            false => write!(f, "{}:{}", self.name, self.port),
        }
    }
}

/// The hosts of a list; of an empty one, this machine.
pub(super) fn parse(list: &str, default_port: u16) -> Result<Vec<Host>, String> {
    if list.trim().is_empty() {
        return Ok(vec![Host { name: "localhost".into(), port: default_port }]);
    }
    split(list).into_iter().map(|entry| host(entry.trim(), default_port)).collect()
}

/// The entries of a list. Commas in parentheses do not separate: `(host=a,port=1),(host=b,port=2)`.
fn split(list: &str) -> Vec<&str> {
    let mut entries = Vec::new();
    let (mut begin, mut depth) = (0, 0i32);
    for (at, letter) in list.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth <= 0 => {
                entries.push(&list[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    entries.push(&list[begin..]);
    entries
}

fn host(entry: &str, default_port: u16) -> Result<Host, String> {
    let keyed = without_prefix(entry, "address=").unwrap_or(entry);
    if keyed.starts_with('(') {
        return keyed_host(keyed, default_port);
    }
    let (name, port) = match entry.strip_prefix('[') {
        Some(rest) => {
            let (address, behind) =
                rest.split_once(']').ok_or_else(|| format!("has a host without a \"]\": {entry}"))?;
            (address, behind.strip_prefix(':'))
        }
        // An address of version 6 without brackets has several colons, and no port.
        None if entry.matches(':').count() > 1 => (entry, None),
        None => match entry.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (entry, None),
        },
    };
    if name.is_empty() {
        return Err("has a host without a name".into());
    }
    Ok(Host { name: decoded(name), port: port_of(port, default_port)? })
}

/// A host in parentheses: `(host=a)(port=1)` or `(host=a,port=1)`.
fn keyed_host(text: &str, default_port: u16) -> Result<Host, String> {
    let pairs = text.split(['(', ')', ',']).filter_map(|pair| pair.split_once('='));
    let (mut name, mut port) = (None, None);
    for (key, value) in pairs {
        match key.trim().to_ascii_lowercase().as_str() {
            "host" => name = Some(value.trim().trim_start_matches('[').trim_end_matches(']')),
            "port" => port = Some(value.trim()),
            _ => {}
        }
    }
    let name = name.filter(|name| !name.is_empty()).ok_or("has a host in parentheses without \"host=\"")?;
    Ok(Host { name: decoded(name), port: port_of(port, default_port)? })
}

fn port_of(text: Option<&str>, default_port: u16) -> Result<u16, String> {
    match text.filter(|text| !text.is_empty()) {
        None => Ok(default_port),
        // What stands there may be the end of a password with a slash in it, so it is not shown.
        Some(text) => text.parse().ok().filter(|port| *port > 0).ok_or_else(|| {
            "has a port that is no number from 1 to 65535 (in a password, write / as %2F, @ as %40 and ? as %3F)".into()
        }),
    }
}
