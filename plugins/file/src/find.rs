//! From the `path` of a job to files: a file stands for itself, a directory for all files below it, a wildcard for
//! every file whose whole path it matches.
//! Not here: opening them (`source`), cutting them into splits (`split`).

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use transship_plugin_api::{Error, Result};

/// A file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundFile {
    pub path: String,
    pub size: u64,
}

/// How the unfinished files of the writer begin and end. They are nobody's data yet, so no directory or wildcard finds
/// them.
pub(crate) const UNFINISHED: (&str, &str) = (".transship-", ".tmp");

/// The files of these paths: in the order of the paths, sorted within each, none twice.
pub(crate) fn files(paths: &[String]) -> Result<Vec<FoundFile>> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    for path in paths {
        let mut of_this = if is_literal(path) { below(Path::new(path))? } else { matching(path)? };
        of_this.sort_by(|one, other| one.path.cmp(&other.path));
        found.extend(of_this.into_iter().filter(|file| seen.insert(file.path.clone())));
    }
    if found.is_empty() {
        return Err(Error::config(format!("no file found at {}", paths.join(", "))));
    }
    Ok(found)
}

/// A path is taken as it stands unless it has `*` or `?`, or `[` and no such file exists.
fn is_literal(path: &str) -> bool {
    !path.contains(['*', '?']) && (!path.contains('[') || Path::new(path).exists())
}

/// A file itself, or every file below a directory.
fn below(path: &Path) -> Result<Vec<FoundFile>> {
    let about = fs::metadata(path).map_err(|error| cannot("find", path, &error))?;
    let mut found = Vec::new();
    if about.is_dir() {
        walk(path, &mut Vec::new(), &mut |file| found.push(file))?;
    } else {
        found.push(FoundFile { path: as_text(path)?.to_owned(), size: about.len() });
    }
    Ok(found)
}

/// Every file below the last directory ahead of the first wildcard whose path matches the pattern.
fn matching(pattern: &str) -> Result<Vec<FoundFile>> {
    let wildcard = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    let start = match pattern[..wildcard].rfind('/') {
        Some(0) => "/",
        Some(slash) => &pattern[..slash],
        None => ".",
    };
    let tokens = Token::parse(pattern)?;
    let from_here = start == "." && !pattern.starts_with("./");
    let mut found = Vec::new();
    walk(Path::new(start), &mut Vec::new(), &mut |mut file| {
        if from_here && let Some(path) = file.path.strip_prefix("./") {
            file.path = path.to_owned();
        }
        let characters: Vec<char> = file.path.chars().collect();
        if matches(&tokens, &characters) {
            found.push(file);
        }
    })?;
    Ok(found)
}

/// Visits every file below a directory, following links; `above` are the real paths of the directories it is in, so
/// that a link back to one of them is not followed for ever.
fn walk(directory: &Path, above: &mut Vec<PathBuf>, visit: &mut dyn FnMut(FoundFile)) -> Result<()> {
    let real = fs::canonicalize(directory).map_err(|error| cannot("find", directory, &error))?;
    if above.contains(&real) {
        log::warn!("{} leads back to {}: not followed", directory.display(), real.display());
        return Ok(());
    }
    above.push(real);
    for entry in fs::read_dir(directory).map_err(|error| cannot("list", directory, &error))? {
        let path = entry.map_err(|error| cannot("list", directory, &error))?.path();
        let about = fs::metadata(&path).map_err(|error| cannot("find", &path, &error))?;
        if about.is_dir() {
            walk(&path, above, visit)?;
        } else if about.is_file() && !is_unfinished(&path) {
            visit(FoundFile { path: as_text(&path)?.to_owned(), size: about.len() });
        }
    }
    above.pop();
    Ok(())
}

fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.starts_with(UNFINISHED.0) && name.ends_with(UNFINISHED.1)
}

/// Paths travel in splits, which are JSON.
fn as_text(path: &Path) -> Result<&str> {
    path.to_str()
        .ok_or_else(|| Error::unsupported(format!("the name of the file {} is not UTF-8; rename it", path.display())))
}

fn cannot(verb: &str, path: &Path, error: &std::io::Error) -> Error {
    let message = format!("cannot {verb} {}: {error}", path.display());
    match error.kind() {
        std::io::ErrorKind::NotFound => Error::config(message),
        _ => Error::io(message),
    }
}

/// A piece of a pattern.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// This character.
    One(char),
    /// Any character.
    Any,
    /// Any number of characters, slashes too: DataX walks directories recursively and lets `*` stand for them.
    Many,
    /// One of these ranges, or none of them.
    Class { ranges: Vec<(char, char)>, negated: bool },
}

impl Token {
    fn parse(pattern: &str) -> Result<Vec<Token>> {
        let mut tokens = Vec::new();
        let mut rest = pattern.chars();
        while let Some(character) = rest.next() {
            tokens.push(match character {
                '*' => Token::Many,
                '?' => Token::Any,
                '[' => Token::class(&mut rest)
                    .ok_or_else(|| Error::config(format!("the path {pattern} has a [ without its ]")))?,
                other => Token::One(other),
            });
        }
        Ok(tokens)
    }

    /// What stands between `[` and `]`.
    fn class(rest: &mut std::str::Chars<'_>) -> Option<Token> {
        let mut ranges = Vec::new();
        let mut character = rest.next()?;
        let negated = matches!(character, '!' | '^');
        if negated {
            character = rest.next()?;
        }
        loop {
            // A bracket right at the front stands for itself.
            if character == ']' && !ranges.is_empty() {
                return Some(Token::Class { ranges, negated });
            }
            let mut ahead = rest.clone();
            if ahead.next() == Some('-') && ahead.next().is_some_and(|last| last != ']') {
                rest.next();
                ranges.push((character, rest.next()?));
            } else {
                ranges.push((character, character));
            }
            character = rest.next()?;
        }
    }

    fn takes(&self, character: char) -> bool {
        match self {
            Token::One(one) => *one == character,
            Token::Any => character != '/',
            Token::Many => true,
            Token::Class { ranges, negated } => {
                character != '/' && ranges.iter().any(|(first, last)| (*first..=*last).contains(&character)) != *negated
            }
        }
    }
}

/// Whether the tokens take the whole text. On a mismatch only the last `*` is tried longer, which is enough because an
/// earlier one could do no better.
fn matches(tokens: &[Token], text: &[char]) -> bool {
    let (mut token, mut at) = (0, 0);
    let mut last_many: Option<(usize, usize)> = None;
    while at < text.len() {
        match tokens.get(token) {
            Some(Token::Many) => {
                last_many = Some((token, at));
                token += 1;
            }
            Some(one) if one.takes(text[at]) => {
                token += 1;
                at += 1;
            }
            _ => {
                let Some((many, from)) = last_many else { return false };
                last_many = Some((many, from + 1));
                token = many + 1;
                at = from + 1;
            }
        }
    }
    tokens[token..].iter().all(|left| *left == Token::Many)
}

#[cfg(test)]
mod tests;
