//! Translates a regex from Java's syntax into that of `fancy-regex`, with Java's meaning: `\w`, `\d`, `\s` and `(?i)` are ASCII
//! unless the pattern says otherwise, `.` stops at every line end, `\h` is a blank and `\uXXXX` a UTF-16 unit.
//! Not here: what is inside `[…]` (`java::class`) and classes with a name (`java::named`).

mod class;
mod named;

use class::Class;

/// What a text inside a pattern means from here on: Java's flags.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    /// `i`: upper and lower case are the same…
    ignore_case: bool,
    /// `u`: …in all scripts, not in ASCII alone.
    unicode_case: bool,
    /// `U`: `\w`, `\d`, `\s` are of all scripts.
    unicode_classes: bool,
    /// `m`: `^` and `$` stand at every line end.
    multiline: bool,
    /// `s`: `.` is every character.
    dot_all: bool,
    /// `d`: a line ends with `\n` alone.
    unix_lines: bool,
    /// `x`: blanks and comments are skipped.
    comments: bool,
}

struct Translation<'a> {
    rest: &'a str,
    /// How long the pattern is, to tell how far it was read.
    length: usize,
    flags: Flags,
    out: String,
    /// The flags that hold again behind each group that is open.
    groups: Vec<Flags>,
    /// How many groups can be referred to by number.
    numbered: usize,
}

/// The problem, and where in the pattern.
type Step<T> = Result<T, String>;

const LINE_ENDS: &str = r"\n\r\x{85}\x{2028}\x{2029}";

/// The pattern in the syntax of `fancy-regex`.
///
/// # Errors
/// What is wrong with it and where, to continue "… is …, ".
pub(super) fn translate(java: &str) -> Step<String> {
    let mut translation = Translation {
        rest: java,
        length: java.len(),
        flags: Flags::default(),
        out: String::with_capacity(java.len() * 2),
        groups: Vec::new(),
        numbered: 0,
    };
    while translation.step()? {}
    if translation.groups.is_empty() {
        return Ok(translation.out);
    }
    translation.fail("has a ( without its )")
}

impl Translation<'_> {
    /// Translates what comes next; `false` at the end.
    fn step(&mut self) -> Step<bool> {
        let Some(character) = self.next() else { return Ok(false) };
        match character {
            _ if self.flags.comments && self.skip_comment(character) => {}
            '\\' => self.escape()?,
            '[' => {
                let class = Class::read(self)?;
                self.out.push_str(&class);
            }
            '(' => self.open()?,
            ')' => {
                self.flags = match self.groups.pop() {
                    Some(flags) => flags,
                    None => return self.fail("has a ) without its ("),
                };
                self.out.push(')');
            }
            '.' if self.flags.dot_all => self.out.push_str("(?s:.)"),
            '.' => {
                let line_ends = self.line_ends();
                self.out.push_str(&format!("[^{line_ends}]"));
            }
            '^' if self.flags.multiline => {
                let line_ends = self.line_ends();
                // Not between \r and \n, and not at the very end.
                self.out.push_str(&format!(r"(?!\z)(?:\A|(?<=[{line_ends}])(?!(?<=\r)\n))"));
            }
            '^' => self.out.push_str(r"\A"),
            '$' if self.flags.multiline => {
                let line_ends = self.line_ends();
                self.out.push_str(&format!(r"(?:\z|(?=[{line_ends}])(?!(?<=\r)\n))"));
            }
            '$' => self.end(),
            '{' => self.repetition()?,
            '*' | '+' | '?' | '|' => self.out.push(character),
            literal => self.literal(literal),
        }
        Ok(true)
    }

    fn next(&mut self) -> Option<char> {
        let character = self.rest.chars().next()?;
        self.rest = &self.rest[character.len_utf8()..];
        Some(character)
    }

    /// Takes a text off what is left, if it is there.
    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes all up to an end mark, and the mark.
    fn take_until(&mut self, mark: char, what: &str) -> Step<String> {
        match self.rest.split_once(mark) {
            Some((text, rest)) => {
                self.rest = rest;
                Ok(text.to_string())
            }
            None => self.fail(&format!("has {what} without its {mark}")),
        }
    }

    fn fail<T>(&self, problem: &str) -> Step<T> {
        match self.length - self.rest.len() {
            read if self.rest.is_empty() || read == 0 => Err(format!("which {problem}")),
            _ => Err(format!("which {problem}, before \"{}\"", self.rest.chars().take(20).collect::<String>())),
        }
    }

    fn line_ends(&self) -> &'static str {
        if self.flags.unix_lines { r"\n" } else { LINE_ENDS }
    }

    fn skip_comment(&mut self, character: char) -> bool {
        if character == '#' {
            let end = self.rest.find(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).unwrap_or(self.rest.len());
            self.rest = &self.rest[end..];
            return true;
        }
        is_blank(character)
    }

    /// A `$`, or `\Z`: the end, or before a line end that is the last. All of the text has to match, so where the pattern
    /// ends as well it is the end.
    fn end(&mut self) {
        if self.rest.trim_start_matches(')').is_empty() || (self.groups.is_empty() && self.rest.starts_with('|')) {
            self.out.push_str(r"\z");
            return;
        }
        let last_line_end =
            if self.flags.unix_lines { r"\n".into() } else { format!(r"(?:\r\n|(?!(?<=\r)\n)[{LINE_ENDS}])") };
        self.out.push_str(&format!(r"(?={last_line_end}?\z)"));
    }

    /// The characters as they are; `(?i)` is spelt out.
    fn literal(&mut self, character: char) {
        let Flags { ignore_case, unicode_case, .. } = self.flags;
        match character {
            letter if ignore_case && !unicode_case && letter.is_ascii_alphabetic() => {
                let (lower, upper) = (letter.to_ascii_lowercase(), letter.to_ascii_uppercase());
                self.out.push_str(&format!("[{lower}{upper}]"));
            }
            other if ignore_case && unicode_case && other.is_alphabetic() => {
                self.out.push_str(&format!("(?i:{other})"))
            }
            other => push_literal(other, &mut self.out),
        }
    }

    /// What stands behind a `(`.
    fn open(&mut self) -> Step<()> {
        if !self.take("?") {
            self.numbered += 1;
            return self.begin_group("(");
        }
        for kind in ["(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!"] {
            if self.take(&kind[2..]) {
                return self.begin_group(kind);
            }
        }
        if self.take("<") {
            let name = self.take_until('>', "a group name")?;
            if !is_group_name(&name) {
                return self.fail(&format!("has a group with the name \"{name}\", which must be letters and digits"));
            }
            self.numbered += 1;
            return self.begin_group(&format!("(?<{name}>"));
        }
        self.change_flags()
    }

    fn begin_group(&mut self, opening: &str) -> Step<()> {
        self.groups.push(self.flags);
        self.out.push_str(opening);
        Ok(())
    }

    /// `(?i)`, `(?i-s:…)`.
    fn change_flags(&mut self) -> Step<()> {
        let before = self.flags;
        let mut on = true;
        loop {
            match self.next() {
                Some('-') if on => on = false,
                Some(')') if self.rest.starts_with(['*', '+', '?', '{']) => {
                    return self.fail("repeats a (?…), which is nothing to repeat");
                }
                Some(')') => return Ok(()),
                Some(':') => {
                    self.groups.push(before);
                    self.out.push_str("(?:");
                    return Ok(());
                }
                Some('i') => self.flags.ignore_case = on,
                Some('u') => self.flags.unicode_case = on,
                Some('U') => {
                    self.flags.unicode_classes = on;
                    self.flags.unicode_case = on;
                }
                Some('m') => self.flags.multiline = on,
                Some('s') => self.flags.dot_all = on,
                Some('d') => self.flags.unix_lines = on,
                Some('x') => self.flags.comments = on,
                Some(other) => return self.fail(&format!("has a (?{other} that Java does not know")),
                None => return self.fail("has a (? without its )"),
            }
        }
    }

    /// `{n}`, `{n,}`, `{n,m}`.
    fn repetition(&mut self) -> Step<()> {
        let bounds = self.take_until('}', "a {")?;
        let (least, most) = bounds.split_once(',').unwrap_or((&bounds, ""));
        let is_count = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_count(least) || !(most.is_empty() || is_count(most)) {
            return self.fail(&format!("has {{{bounds}}}, which is no number of repetitions (\\{{ is the character)"));
        }
        let count = |text: &str| text.parse::<u32>().unwrap_or(u32::MAX);
        if !most.is_empty() && count(most) < count(least) {
            return self.fail(&format!("has {{{bounds}}}, which ends before it begins"));
        }
        self.out.push_str(&format!("{{{bounds}}}"));
        Ok(())
    }

    /// What stands behind a `\`, outside of `[…]`.
    fn escape(&mut self) -> Step<()> {
        let Some(character) = self.next() else { return self.fail("ends with a \\") };
        match character {
            'Q' => {
                let rest = self.rest;
                let (text, rest) = rest.split_once("\\E").unwrap_or((rest, ""));
                self.rest = rest;
                text.chars().for_each(|character| self.literal(character));
            }
            'A' | 'G' => self.out.push_str(r"\A"),
            'z' => self.out.push_str(r"\z"),
            'Z' => self.end(),
            'b' if self.rest.starts_with('{') => return self.fail("has a \\b{…}, which cannot be run here"),
            'b' | 'B' => self.out.extend(['\\', character]),
            'R' => self.out.push_str(&format!(r"(?:\r\n|[{LINE_ENDS}\x0B\x0C])")),
            '1'..='9' => self.back_reference(character),
            'k' => {
                if !self.take("<") {
                    return self.fail("has a \\k without a <name>");
                }
                let name = self.take_until('>', "a group name")?;
                if !is_group_name(&name) {
                    return self.fail(&format!("refers to a group \"{name}\", which is no name"));
                }
                self.refer(&format!(r"\k<{name}>"));
            }
            _ => match self.class_escape(character)? {
                Some(class) => self.out.push_str(&format!("[{class}]")),
                None => {
                    let literal = self.character_escape(character)?;
                    self.literal(literal);
                }
            },
        }
        Ok(())
    }

    /// `\1`; further digits belong to it as long as there are so many groups.
    fn back_reference(&mut self, digit: char) {
        let mut number = digit as usize - '0' as usize;
        while let Some(next) = self.rest.chars().next().and_then(|next| next.to_digit(10)) {
            let longer = number * 10 + next as usize;
            if longer > self.numbered {
                break;
            }
            number = longer;
            self.next();
        }
        self.refer(&format!(r"\{number}"));
    }

    /// Separate from the digits that may follow.
    fn refer(&mut self, reference: &str) {
        let flags = if self.flags.ignore_case { "(?i:" } else { "(?:" };
        self.out.push_str(&format!("{flags}{reference})"));
    }

    /// What stands behind a `\` and is a class: the inside of a `[…]`. `None` if it is none.
    fn class_escape(&mut self, character: char) -> Step<Option<String>> {
        let unicode = self.flags.unicode_classes;
        Ok(Some(match character {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' if unicode => format!("\\{character}"),
            'd' => "0-9".into(),
            'D' => "[^0-9]".into(),
            'w' => "a-zA-Z0-9_".into(),
            'W' => "[^a-zA-Z0-9_]".into(),
            's' => r"\t-\r\x20".into(),
            'S' => r"[^\t-\r\x20]".into(),
            'h' => named::BLANKS.into(),
            'H' => format!("[^{}]", named::BLANKS),
            'v' => format!(r"\x0B\x0C{LINE_ENDS}"),
            'V' => format!(r"[^\x0B\x0C{LINE_ENDS}]"),
            'p' | 'P' => {
                let name = match self.next() {
                    Some('{') => self.take_until('}', "a \\p{")?,
                    Some(letter) => letter.to_string(),
                    None => return self.fail("ends with a \\p"),
                };
                let class = match named::class(&name) {
                    Ok(class) => class,
                    Err(problem) => return self.fail(&problem),
                };
                if character == 'p' { class } else { format!("[^{class}]") }
            }
            _ => return Ok(None),
        }))
    }

    /// What stands behind a `\` and is one character.
    fn character_escape(&mut self, character: char) -> Step<char> {
        match character {
            't' => Ok('\t'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            'f' => Ok('\u{c}'),
            'a' => Ok('\u{7}'),
            'e' => Ok('\u{1b}'),
            '0' => self.octal(),
            'x' if self.take("{") => {
                let digits = self.take_until('}', "a \\x{")?;
                let number = u32::from_str_radix(&digits, 16).ok();
                number.and_then(char::from_u32).map_or_else(|| self.fail("has a \\x{…} that is no character"), Ok)
            }
            'x' => self.hexadecimal(2).and_then(|number| self.character(number)),
            'u' => self.utf16_unit(),
            'c' => match self.next() {
                Some(letter) if letter.is_ascii() => Ok(char::from(letter as u8 ^ 64)),
                _ => self.fail("has a \\c without a letter"),
            },
            letter if letter.is_ascii_alphanumeric() => self.fail(&format!("has \\{letter}, which cannot be run here")),
            other => Ok(other),
        }
    }

    /// One to three octal digits, 377 at most.
    fn octal(&mut self) -> Step<char> {
        let mut number = 0;
        let mut digits = 0;
        while let Some(digit) = self.rest.chars().next().and_then(|digit| digit.to_digit(8)) {
            if digits == 3 || number * 8 + digit > 0o377 {
                break;
            }
            number = number * 8 + digit;
            digits += 1;
            self.next();
        }
        if digits == 0 { self.fail("has a \\0 without an octal number") } else { self.character(number) }
    }

    fn hexadecimal(&mut self, digits: usize) -> Step<u32> {
        let text = self.rest.get(..digits).filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match text.and_then(|text| u32::from_str_radix(text, 16).ok()) {
            Some(number) => {
                self.rest = &self.rest[digits..];
                Ok(number)
            }
            None => self.fail(&format!("has an escape without its {digits} hexadecimal digits")),
        }
    }

    /// `\uXXXX`; two of them may be the halves of one character.
    fn utf16_unit(&mut self) -> Step<char> {
        let first = self.hexadecimal(4)?;
        if !(0xd800..0xdc00).contains(&first) {
            return self.character(first);
        }
        if !self.take("\\u") {
            return self.fail("has half of a character");
        }
        let second = self.hexadecimal(4)?;
        if !(0xdc00..0xe000).contains(&second) {
            return self.fail("has half of a character");
        }
        self.character(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))
    }

    fn character(&self, number: u32) -> Step<char> {
        char::from_u32(number).map_or_else(|| self.fail("has half of a character"), Ok)
    }
}

fn is_group_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// What the flag `x` skips.
fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t'..='\r')
}

/// A character that stands for itself, inside of `[…]` and outside.
fn push_literal(character: char, out: &mut String) {
    if character.is_ascii_alphanumeric() || !character.is_ascii() {
        out.push(character);
    } else {
        out.push_str(&format!("\\x{:02X}", u32::from(character)));
    }
}
