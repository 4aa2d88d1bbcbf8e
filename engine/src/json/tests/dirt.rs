//! Job files to spoil and ways to spoil them.

use proptest::prelude::*;
use proptest::sample::Index;

/// Small job files with everything in them that people write.
pub(super) const SEEDS: [&str; 6] = [
    r#"{"job": {"setting": {"speed": {"channel": "2", "byte": 1048576}}, "content": [{"reader": {"name": "streamreader", "parameter": {"column": [{"type": "long", "value": "12"}, {"type": "bool", "value": true}], "sliceRecordCount": 10}}, "writer": {"name": "streamwriter", "parameter": {"print": true}}}]}}"#,
    "// 一行注释\n{\n  job: {\n    'content': [ # x\n      {reader: {name: 'a', parameter: {path: [\"in/part-b.csv\",], fieldDelimiter: \"\u{1}\",}},},\n    ], /* many\n lines */\n  }\n} // end",
    "\u{feff}{\r\n  \"querySql\": \"select \"\r\n,\t\"where\": \"a = \\\"b\\\" and c = '${dt}'\",\r\n  \"nullFormat\": \"\\\\N\\x5c\\u0001\\uD83D\\uDE00\"\r\n}\r\n",
    "{\"password\": \"${env:PASS}\", 'key': '${file:/run/a \"b\".txt}', count: ${env:COUNT}, a: 1 b: +007L, a: [.5, 5., 1e3, 1.5D, -0]}",
    "{\"hadoopConfig\": {\"dfs.nameservices\": \"n\", \"dfs.ha\": null}, \"percentage\": 0.02\n \"column\": [ ${cols}, $x, {\"name\": \"a\"} \"b\"\n 'c' ]}",
    "[[[[{\"a\":[{\"b\":{\"c\":[[]]}}]}]]],1\u{3000}2,\u{a0}“x”，：]",
];

/// Pieces that matter to the parser.
const PIECES: [&str; 44] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "'",
    "\\",
    "/",
    "*",
    "//",
    "/*",
    "*/",
    "#",
    "$",
    "${",
    "${env:",
    "${env:PASS}",
    "${file:",
    "\n",
    "\r",
    " ",
    "\u{0}",
    "\u{1a}",
    "\u{feff}",
    "，",
    "“",
    "=",
    "-",
    "+",
    ".",
    "0",
    "1e",
    "0x",
    "L",
    "true",
    "nul",
    "\\u",
    "\\ud83d",
    "\\x",
    "键",
    "😀",
    "\u{2028}",
];

/// One way to spoil a text.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Insert(Index, usize),
    Replace(Index, usize),
    Remove(Index, Index),
    Repeat(Index, Index),
    Cut(Index),
}

/// Ways to spoil a text.
pub(super) fn changes() -> impl Strategy<Value = Vec<Change>> {
    let piece = 0..PIECES.len();
    let change = prop_oneof![
        4 => (any::<Index>(), piece.clone()).prop_map(|(at, piece)| Change::Insert(at, piece)),
        3 => (any::<Index>(), piece).prop_map(|(at, piece)| Change::Replace(at, piece)),
        2 => (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Change::Remove(from, to)),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Change::Repeat(from, to)),
        1 => any::<Index>().prop_map(Change::Cut),
    ];
    prop::collection::vec(change, 1..6)
}

/// Texts made of nothing but pieces.
pub(super) fn rubbish() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40).prop_map(|pieces| pieces.concat())
}

/// The text after one change.
pub(super) fn spoil(text: &str, change: &Change) -> String {
    let letters: Vec<char> = text.chars().collect();
    let place = |index: &Index| index.index(letters.len() + 1);
    // Far apart, two places would leave little of the text.
    let near = |from: usize, to: &Index| (from + to.index(12)).min(letters.len());
    let joined = |parts: [&[char]; 3]| parts.concat().into_iter().collect();
    let piece = |piece: &usize| PIECES[*piece].chars().collect::<Vec<_>>();
    match change {
        Change::Insert(at, inserted) => joined([&letters[..place(at)], &piece(inserted), &letters[place(at)..]]),
        Change::Replace(at, inserted) => {
            let next = (place(at) + 1).min(letters.len());
            joined([&letters[..place(at)], &piece(inserted), &letters[next..]])
        }
        Change::Remove(from, to) => joined([&letters[..place(from)], &[], &letters[near(place(from), to)..]]),
        Change::Repeat(from, to) => {
            let end = near(place(from), to);
            joined([&letters[..end], &letters[place(from)..end], &letters[end..]])
        }
        Change::Cut(at) => joined([&letters[..place(at)], &[], &[]]),
    }
}
