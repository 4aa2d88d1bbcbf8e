//! The text of a job file: its bytes as characters, its variables put in, and for every place in what came of that the line and
//! column where a person finds it.

use std::path::Path;

use encoding_rs::{Encoding, UTF_8};
use unicode_width::UnicodeWidthStr;

use super::variables::{Expanded, Piece, Unset, Variables};
use crate::secrets::mask_broken;

/// The text of a job file.
#[derive(Debug, Clone)]
pub struct Source {
    name: String,
    original: String,
    text: String,
    pieces: Vec<Piece>,
    unset: Vec<Unset>,
    /// Where each line of the text as written begins.
    lines: Vec<usize>,
}

impl Source {
    /// The text that these bytes are, and a warning where some of them are none in this encoding: they become `U+FFFD`, as in
    /// DataX. Without an encoding it is UTF-8, or what a byte-order mark says.
    pub(super) fn decode(path: &Path, bytes: &[u8], encoding: Option<&'static Encoding>) -> (String, Option<String>) {
        let (text, used, malformed) = encoding.unwrap_or(UTF_8).decode(bytes);
        let warning = malformed.then(|| {
            let place = match std::str::from_utf8(bytes) {
                Err(error) if used == UTF_8 => {
                    let at = error.valid_up_to();
                    let before = String::from_utf8_lossy(&bytes[..at]);
                    let lines = line_starts(&before);
                    let last = lines.last().copied().unwrap_or_default();
                    format!(":{}:{}: byte {at}", lines.len(), column(&before[last..], before.len() - last))
                }
                _ => ": it".into(),
            };
            format!(
                "{}{place} is not {}: what cannot be read becomes U+FFFD; name the file's encoding with --job-encoding, for \
                 instance --job-encoding GBK",
                shown(path),
                used.name()
            )
        });
        (text.into_owned(), warning)
    }

    /// A text with these variables put in.
    pub(super) fn new(path: &Path, original: String, variables: &Variables) -> Source {
        let Expanded { text, pieces, unset } = variables.expand(&original);
        let lines = line_starts(&original);
        Source { name: shown(path), original, text, pieces, unset, lines }
    }

    /// What is read as JSON.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// What looks like a variable and was given no value.
    pub(super) fn unset(&self) -> &[Unset] {
        &self.unset
    }

    /// `file:line:column` of a byte of the expanded text; inside the value of a variable it is the variable's place, with its name.
    pub fn place(&self, at: usize) -> String {
        let (original, variable) = self.origin(at);
        let (line, column) = self.line_and_column(original);
        let within = variable.map(|name| format!(" (in the value of ${{{name}}})")).unwrap_or_default();
        format!("{}:{line}:{column}{within}", self.name)
    }

    /// The line of that place and a caret below it, with secrets masked.
    pub(super) fn excerpt(&self, at: usize) -> String {
        let (original, _) = self.origin(at);
        let (line, column) = self.line_and_column(original);
        let masked = mask_broken(&self.original);
        let source = masked.lines().nth(line - 1).unwrap_or_default();
        // A very long line is cut to the surroundings of the place.
        let from = column.saturating_sub(60);
        // A control character would do to the terminal what it says.
        let visible = |letter: char| match letter {
            '\t' => ' ',
            letter if letter.is_control() => '\u{fffd}',
            letter => letter,
        };
        let shown: String = source.chars().map(visible).skip(from).take(100).collect();
        // A Chinese letter is as wide as two others.
        let before: String = shown.chars().take(column - 1 - from.min(column - 1)).collect();
        let caret = " ".repeat((column - 1 - from.min(column - 1)) - before.chars().count() + before.width());
        format!("  {}\n  {caret}^", shown.trim_end())
    }

    /// Line and column of a byte of the text as written, both from 1; a column is a character.
    fn line_and_column(&self, at: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|start| *start <= at).max(1);
        (line, column(&self.original[self.lines[line - 1]..], at - self.lines[line - 1]))
    }

    /// Where a byte of the expanded text comes from, and from which variable's value.
    fn origin(&self, at: usize) -> (usize, Option<&str>) {
        let index = self.pieces.partition_point(|piece| piece.from <= at);
        match index.checked_sub(1).map(|index| &self.pieces[index]) {
            Some(Piece { original, variable: Some(name), .. }) => (*original, Some(name)),
            Some(Piece { original, from, .. }) => ((original + at - from).min(self.original.len()), None),
            None => (0, None),
        }
    }
}

/// What a job file is called in messages: `-` is standard input.
fn shown(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { path.display().to_string() }
}

/// Where each line begins.
fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(end, _)| end + 1)).collect()
}

/// Which character of a line begins at a byte, from 1. A byte-order mark is none.
fn column(line: &str, at: usize) -> usize {
    line.char_indices().take_while(|(byte, _)| *byte < at).filter(|(_, letter)| *letter != '\u{feff}').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str, variables: &[(&str, &str)]) -> Source {
        let mut given = Variables::default();
        variables.iter().for_each(|(name, value)| given.set(*name, *value));
        Source::new(Path::new("a.json"), text.into(), &given)
    }

    #[test]
    fn places_are_lines_and_columns_of_the_file_as_it_is_written() {
        let source = source("{\n \"日\": $n,\r\n x\n}", &[("n", "1\n2")]);
        let place = |found: &str| source.place(source.text().find(found).unwrap());
        assert_eq!(place("{"), "a.json:1:1");
        assert_eq!(place("日"), "a.json:2:3");
        assert_eq!(place("2"), "a.json:2:7 (in the value of ${n})");
        assert_eq!(place(","), "a.json:2:9");
        assert_eq!(place("x"), "a.json:3:2");
        assert_eq!(source.place(source.text().len()), "a.json:4:2");
    }

    #[test]
    fn an_excerpt_points_at_the_place_and_masks_secrets() {
        let source = source("{\n\t\"password\": \"open-sesame\", \"x\": y}", &[]);
        let at = source.text().find("y}").unwrap();
        assert_eq!(
            source.excerpt(at),
            "   \"password\": \"***********\", \"x\": y}\n                                   ^"
        );
    }

    #[test]
    fn bytes_of_another_encoding_are_told_with_their_place() {
        let gbk = b"{\"a\":\n\"\xb5\xda\xb6\xfe\"}";
        let (text, warning) = Source::decode(Path::new("a.json"), gbk, None);
        assert!(text.contains('\u{fffd}'), "{text}");
        let warning = warning.unwrap();
        assert!(warning.starts_with("a.json:2:2: byte 7 is not UTF-8: "), "{warning}");
        assert!(warning.contains("--job-encoding GBK"), "{warning}");
        let (text, warning) = Source::decode(Path::new("a.json"), gbk, Encoding::for_label(b"gbk"));
        assert_eq!((text.as_str(), warning), ("{\"a\":\n\"第二\"}", None));
    }

    #[test]
    fn a_byte_order_mark_says_what_the_encoding_is() {
        let utf16: Vec<u8> = "\u{feff}{\"ö\": 1}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(Source::decode(Path::new("a.json"), &utf16, None), ("{\"ö\": 1}".to_string(), None));
    }
}
