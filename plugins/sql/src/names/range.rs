//! Ranges of tables: `t[0-3]` stands for t0, t1, t2 and t3, as in DataX.

/// More tables than this in one range are a slip of the pen.
const MOST_TABLES: u64 = 100_000;

/// Appends the tables that an entry of a list stands for: several behind commas, and of `t[08-10]` t08, t09 and t10. Commas
/// inside of quotes separate nothing.
pub fn expand(entry: &str, tables: &mut Vec<String>) -> Result<(), String> {
    for name in between_commas(entry).into_iter().map(str::trim).filter(|name| !name.is_empty()) {
        match Range::parse(name) {
            None => tables.push(name.into()),
            Some(range) if range.last - range.first >= MOST_TABLES => {
                return Err(format!("\"{name}\" stands for more than {MOST_TABLES} tables"));
            }
            Some(range) => tables.extend((range.first..=range.last).map(|number| range.name(number))),
        }
    }
    Ok(())
}

/// The pieces between the commas that stand outside of quotes.
fn between_commas(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut begin, mut open) = (0, None);
    for (at, letter) in text.char_indices() {
        match letter {
            '"' | '`' | '\'' if open.is_none() => open = Some(letter),
            letter if open == Some(letter) => open = None,
            ',' if open.is_none() => {
                pieces.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    // A quote that nothing closes is a part of the name, as DataX takes it.
    if open.is_some() {
        return text.split(',').collect();
    }
    pieces.push(&text[begin..]);
    pieces
}

/// A name with a range of numbers in it.
struct Range<'a> {
    before: &'a str,
    first: u64,
    last: u64,
    /// Digits to fill up with zeros; 0: as many as the number has.
    width: usize,
    behind: &'a str,
}

impl<'a> Range<'a> {
    fn parse(name: &'a str) -> Option<Range<'a>> {
        let (before, rest) = name.split_once('[')?;
        let (range, behind) = rest.split_once(']')?;
        let (one, other) = range.split_once('-')?;
        let words = before.split('.').collect::<Vec<_>>();
        let is_word = |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
        if words.len() > 2 || !words.iter().all(is_word) {
            return None;
        }
        let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok())?;
        let (first, last) = (number(one)?, number(other)?);
        // DataX swaps the ends before it looks at the zeros.
        let start = if first > last { other } else { one };
        let width = if start.starts_with('0') { start.len() } else { 0 };
        Some(Range { before, first: first.min(last), last: first.max(last), width, behind })
    }

    fn name(&self, number: u64) -> String {
        format!("{}{number:0width$}{}", self.before, self.behind, width = self.width)
    }
}
