//! Names of tables and columns: quoting, and ranges like `t[0-3]`.

/// More tables than this in one range are a slip of the pen.
const MOST_TABLES: u64 = 100_000;

/// A name as SQL takes it, whatever is in it.
pub(crate) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The name in `"a ""b"""`, `` `a` ``, `[a]` or plain `a`.
pub(crate) fn unquote(text: &str) -> String {
    let text = text.trim();
    for (open, close) in [('"', '"'), ('`', '`'), ('[', ']')] {
        let inside = text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        if let Some(inside) = inside {
            let close = close.to_string();
            return inside.replace(&close.repeat(2), &close);
        }
    }
    text.into()
}

/// Appends the tables that an entry of a list stands for: several behind commas, and of `t[08-10]` t08, t09 and t10.
pub(super) fn expand(entry: &str, tables: &mut Vec<String>) -> Result<(), String> {
    for name in entry.split(',').map(str::trim).filter(|name| !name.is_empty()) {
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
