//! The text of a job file as it may be shown when something is wrong with it. Nobody knows what a broken text was meant to
//! be: so it is not read as JSON, but searched for names of secrets, and rather too much of what follows one is masked than
//! too little.

use super::address::passwords;
use super::is_secret_name;

/// How far a text is searched for what belongs together: else a long one would be searched again and again.
const FAR: usize = 1000;

/// The text with whatever follows a secret's key masked, in comments too. Character for character, so that lines and columns stay
/// right.
pub fn mask_broken(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut is_hidden = vec![false; letters.len()];
    let mut at = 0;
    while at < letters.len() {
        let end = at + length_while(&letters[at..], is_word);
        at = match secret_value(&letters, at, end) {
            // What seems to be the end of one secret may be the key of another.
            Some(value) => value.start.max(value.hide(&letters, &mut is_hidden).saturating_sub(FAR)),
            None => end.max(at + 1),
        };
    }
    hide_in_addresses(text, &mut is_hidden);
    letters.iter().zip(is_hidden).map(|(letter, is_hidden)| if is_hidden { '*' } else { *letter }).collect()
}

/// Hides passwords inside addresses, which have no key before them.
fn hide_in_addresses(text: &str, is_hidden: &mut [bool]) {
    let bytes: Vec<usize> = text.char_indices().map(|(byte, _)| byte).collect();
    let mut is_escaped = false;
    let strings = text.split(|letter| {
        let ends = letter == '\n' || (letter == '"' && !is_escaped);
        is_escaped = letter == '\\' && !is_escaped;
        ends
    });
    let words = text.split(|letter: char| letter.is_whitespace() || is_quote(letter));
    for password in strings.chain(words).flat_map(passwords) {
        // It is a part of the text: its distance from the beginning is its place.
        let start = password.as_ptr() as usize - text.as_ptr() as usize;
        let letter_at = |byte: usize| bytes.partition_point(|letter| *letter < byte);
        is_hidden[letter_at(start)..letter_at(start + password.len())].fill(true);
    }
}

/// How the value of a secret seems to be written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// With quotes or brackets.
    Json,
    /// Without: it ends with its line at the latest.
    Bare,
    /// `name=value` inside of something else, such as a URL: it ends with the quote around that at the latest.
    Parameter,
}

/// The value of a secret, which begins after the colon.
struct Secret {
    start: usize,
    form: Form,
}

/// The value that belongs to the word between two places, if that is the name of a secret and a colon or an equals sign follows.
fn secret_value(letters: &[char], from: usize, to: usize) -> Option<Secret> {
    let name: String = letters[from..to].iter().collect();
    if !is_secret_name(&name) {
        return None;
    }
    let sign = sign_after_key(letters, to)?;
    let start = sign + 1;
    let first = letters[start..].iter().find(|letter| !letter.is_whitespace());
    let form = match first {
        Some(letter) if is_quote(*letter) || matches!(letter, '[' | '{') => Form::Json,
        _ if letters[sign] == '=' && sign == to => Form::Parameter,
        _ => Form::Bare,
    };
    Some(Secret { start, form })
}

/// The colon or equals sign after a key whose name ends here, or holds more than the word that ends here.
fn sign_after_key(letters: &[char], end: usize) -> Option<usize> {
    let letters = ahead(letters, end);
    let is_sign = |at: usize| matches!(letters.get(at), Some(':' | '=' | '：' | '＝'));
    let quotes = length_while(&letters[end..], |letter| is_quote(letter) || letter == '\\');
    let near = past_blanks(letters, end + quotes);
    if is_sign(near) {
        return Some(near);
    }
    let same_key = |letter: char| !matches!(letter, ',' | '[' | ']' | '{' | '}' | '\n') && !is_quote(letter);
    let quote = end + length_while(&letters[end..], same_key);
    let far = past_blanks(letters, quote + 1);
    (letters.get(quote).is_some_and(|letter| is_quote(*letter)) && is_sign(far)).then_some(far)
}

impl Secret {
    /// Hides the value and gives the place after it.
    fn hide(&self, letters: &[char], is_hidden: &mut [bool]) -> usize {
        let mut quote = None;
        // Whether the quote is opened after the end of a string: then nobody knows what is inside and what outside.
        let mut is_in_doubt = false;
        let mut has_string = false;
        let mut is_escaped = false;
        let mut depth = 0_usize;
        for at in self.start..letters.len() {
            let letter = letters[at];
            let is_outside = quote.is_none() || (is_in_doubt && letter == '\n');
            if is_outside && depth == 0 && self.ends(letters, at) {
                return at;
            }
            let is_shown = match quote {
                Some(_) if is_escaped || letter == '\\' => {
                    is_escaped = !is_escaped;
                    letter == '\n'
                }
                Some(closing) if letter == closing => {
                    quote = None;
                    true
                }
                Some(_) => matches!(letter, '\n' | '\r'),
                None if letter.is_whitespace() => true,
                None if self.form != Form::Json => false,
                None => {
                    quote = closing_quote(letter);
                    is_in_doubt = quote.is_some() && has_string;
                    has_string |= quote.is_some();
                    match letter {
                        '[' | '{' => depth += 1,
                        ']' | '}' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    quote.is_some()
                        || matches!(letter, '[' | '{' | ']' | '}')
                        || (depth > 0 && matches!(letter, ',' | ':'))
                }
            };
            is_hidden[at] |= !is_shown;
        }
        letters.len()
    }

    /// Whether the value ends before this character, which is in none of its quotes and brackets.
    fn ends(&self, letters: &[char], at: usize) -> bool {
        let has_begun = || letters[self.start..at].iter().any(|letter| !letter.is_whitespace());
        match letters[at] {
            ',' | '，' => only_structure_follows(letters, at + 1) || member_begins(letters, at + 1),
            ']' | '}' => only_structure_follows(letters, at + 1),
            '\n' if self.form == Form::Json => has_begun() && member_begins(letters, at + 1),
            '\n' => has_begun(),
            letter if self.form == Form::Parameter => {
                letter.is_whitespace() || (closing_quote(letter).is_some() && only_structure_follows(letters, at + 1))
            }
            _ => false,
        }
    }
}

/// Whether a bracket, or a key and its colon, comes next: something else than the rest of a secret.
fn member_begins(letters: &[char], from: usize) -> bool {
    let letters = ahead(letters, from);
    let is_blank = |letter: char| letter.is_whitespace() || matches!(letter, '/' | '#' | '*');
    let at = from + length_while(&letters[from..], is_blank);
    let Some(&first) = letters.get(at) else { return true };
    let end = match closing_quote(first) {
        Some(closing) => at + 2 + length_while(&letters[at + 1..], |letter| letter != closing && letter != '\n'),
        None => at + length_while(&letters[at..], is_word),
    };
    matches!(first, '{' | '[' | '}' | ']') || letters.get(past_blanks(letters, end)) == Some(&':')
}

/// Whether nothing stands on the rest of the line but what separates values.
fn only_structure_follows(letters: &[char], from: usize) -> bool {
    let at = from + length_while(&letters[from..], |letter| letter.is_whitespace() && letter != '\n');
    matches!(letters.get(at), None | Some('\n' | ',' | ']' | '}' | '/' | '#' | '*'))
}

/// The place after white space and comments.
fn past_blanks(letters: &[char], from: usize) -> usize {
    let mut at = from.min(letters.len());
    loop {
        at += length_while(&letters[at..], char::is_whitespace);
        let comment = match letters[at..] {
            ['/', '/', ..] | ['#', ..] => length_while(&letters[at..], |letter| letter != '\n'),
            ['/', '*', ..] => letters[at..].windows(2).position(|pair| pair == ['*', '/']).map_or(0, |end| end + 2),
            _ => 0,
        };
        if comment == 0 {
            return at;
        }
        at += comment;
    }
}

/// The text up to as far behind a place as it is searched.
fn ahead(letters: &[char], from: usize) -> &[char] {
    &letters[..letters.len().min(from + FAR)]
}

fn length_while(letters: &[char], of_sort: impl Fn(char) -> bool) -> usize {
    letters.iter().position(|letter| !of_sort(*letter)).unwrap_or(letters.len())
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.')
}

/// What closes the quote that this character opens, if it is one.
fn closing_quote(letter: char) -> Option<char> {
    match letter {
        '"' | '\'' | '”' | '’' => Some(letter),
        '“' => Some('”'),
        '‘' => Some('’'),
        _ => None,
    }
}

fn is_quote(letter: char) -> bool {
    closing_quote(letter).is_some()
}

#[cfg(test)]
mod tests;
