//! Prints a tree in every way that the parser takes, as choices say that come from outside.

use serde_json::{Map, Value};

/// Texts that may stand between the parts of a text, the plainest first.
const BLANKS: [&str; 12] = [
    "",
    " ",
    "\n",
    "\r\n",
    "\t",
    "\u{a0}",
    "\u{3000}",
    "\u{feff}",
    "/* it's \"{[ */",
    "/**/",
    "// don't ]}\n",
    "# ':,\" $x ${env:NONE}\r\n",
];

/// What comes where there must be a line break.
const LINE_ENDS: [&str; 4] = ["\n", "\r\n", " // \"x\" \n ", "/*\n*/"];

/// Prints trees.
pub(super) struct Printer<'c> {
    choices: std::iter::Cycle<std::slice::Iter<'c, u8>>,
    text: String,
}

/// The tree as a text. Only zeros among the choices give strict JSON.
pub(super) fn print(tree: &Value, choices: &[u8]) -> String {
    let choices = if choices.is_empty() { &[0] } else { choices };
    let mut printer = Printer { choices: choices.iter().cycle(), text: String::new() };
    printer.put(["", "\u{feff}"]);
    printer.blank();
    printer.value(tree);
    printer.blank();
    printer.text
}

impl Printer<'_> {
    fn choose(&mut self, below: usize) -> usize {
        usize::from(*self.choices.next().unwrap_or(&0)) % below
    }

    fn put<const N: usize>(&mut self, texts: [&str; N]) {
        let choice = self.choose(N);
        self.text.push_str(texts[choice]);
    }

    fn blank(&mut self) {
        self.put(BLANKS);
        if self.choose(4) == 3 {
            self.put(BLANKS);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.text.push_str("null"),
            Value::Bool(value) => self.text.push_str(if *value { "true" } else { "false" }),
            Value::Number(number) => self.number(&number.to_string()),
            Value::String(text) => self.string(text),
            Value::Array(items) => self.list(items),
            Value::Object(object) => self.object(object),
        }
    }

    fn list(&mut self, items: &[Value]) {
        self.text.push('[');
        self.blank();
        for (index, item) in items.iter().enumerate() {
            self.value(item);
            self.comma(index + 1 == items.len());
        }
        self.text.push(']');
    }

    fn object(&mut self, object: &Map<String, Value>) {
        self.text.push('{');
        self.blank();
        for (index, (key, value)) in object.iter().enumerate() {
            if self.choose(16) == 15 {
                self.member(key, &Value::from("a later member replaces this"));
                self.text.push(',');
            }
            self.member(key, value);
            self.comma(index + 1 == object.len());
        }
        self.text.push('}');
    }

    fn member(&mut self, key: &str, value: &Value) {
        let is_word = key.chars().all(|letter| letter.is_alphanumeric() || "_$-.".contains(letter));
        if is_word && !key.is_empty() && self.choose(2) == 1 {
            self.text.push_str(key);
        } else {
            self.string(key);
        }
        self.blank();
        self.text.push(':');
        self.blank();
        self.value(value);
    }

    /// After a value: a comma and blanks, or only blanks where the comma may be left out.
    fn comma(&mut self, is_last: bool) {
        match (self.choose(4), is_last) {
            (3, false) => self.put(LINE_ENDS),
            (3, true) | (_, false) => {
                self.blank();
                self.text.push(',');
            }
            (_, true) => {}
        }
        self.blank();
    }

    fn number(&mut self, strict: &str) {
        let (sign, digits) = strict.strip_prefix('-').map_or(("", strict), |digits| ("-", digits));
        self.text.push_str(sign);
        if sign.is_empty() {
            self.put(["", "+"]);
        }
        let is_whole = digits.bytes().all(|digit| digit.is_ascii_digit());
        if let Some(fraction) = digits.strip_prefix("0.")
            && self.choose(2) == 1
        {
            self.text.push_str(&format!(".{fraction}"));
        } else if let Some(whole) = digits.strip_suffix(".0") {
            self.text.push_str(whole);
            self.put([".0", ".", "D", "F", ".0D"]);
        } else {
            self.put(["", "0", "000"]);
            self.text.push_str(digits);
            if is_whole {
                self.put(["", "L", "S", "B"]);
            }
        }
    }

    fn string(&mut self, text: &str) {
        let quote = ['"', '\''][self.choose(2)];
        self.text.push(quote);
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            let opens_reference = letter == '$' && letters.peek() == Some(&'{');
            match self.choose(8) {
                6 if letter <= '\u{ff}' => self.text.push_str(&format!("\\x{:02X}", u32::from(letter))),
                7 if letter <= '\u{7}' => self.text.push_str(&format!("\\{}", u32::from(letter))),
                5 => self.in_utf16(letter),
                _ if opens_reference => self.in_utf16(letter),
                _ if letter == quote || letter == '\\' => self.text.extend(['\\', letter]),
                4 => self.named(letter),
                _ => self.text.push(letter),
            }
        }
        self.text.push(quote);
    }

    fn in_utf16(&mut self, letter: char) {
        for unit in letter.encode_utf16(&mut [0; 2]) {
            self.text.push_str(&format!("\\u{unit:04x}"));
        }
    }

    fn named(&mut self, letter: char) {
        let name = match letter {
            '\u{8}' => 'b',
            '\u{b}' => 'v',
            '\u{c}' => 'f',
            '\n' => 'n',
            '\r' => 'r',
            '\t' => 't',
            '/' | '"' | '\'' => letter,
            _ => return self.text.push(letter),
        };
        self.text.extend(['\\', name]);
    }
}
