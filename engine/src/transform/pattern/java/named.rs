//! Classes of characters that Java has names for: `\p{Alpha}`, `\p{IsHan}`, `\p{javaLowerCase}`.

/// Blanks that do not end a line: `\h`.
pub(super) const BLANKS: &str = r"\x20\t\x{A0}\x{1680}\x{180E}\x{2000}-\x{200A}\x{202F}\x{205F}\x{3000}";

/// POSIX classes, which are ASCII in Java.
const POSIX: [(&str, &str); 13] = [
    ("Lower", "a-z"),
    ("Upper", "A-Z"),
    ("ASCII", r"\x00-\x7F"),
    ("Alpha", "a-zA-Z"),
    ("Digit", "0-9"),
    ("Alnum", "a-zA-Z0-9"),
    ("Punct", r"\x21-\x2F\x3A-\x40\x5B-\x60\x7B-\x7E"),
    ("Graph", r"\x21-\x7E"),
    ("Print", r"\x20-\x7E"),
    ("Blank", r"\x20\t"),
    ("Cntrl", r"\x00-\x1F\x7F"),
    ("XDigit", "0-9a-fA-F"),
    ("Space", r"\t-\r\x20"),
];

/// Other names that only Java has.
const JAVA: [(&str, &str); 18] = [
    ("L1", r"\x00-\x{FF}"),
    ("all", r"\x00-\x{10FFFF}"),
    ("javaLowerCase", r"\p{Lowercase}"),
    ("javaUpperCase", r"\p{Uppercase}"),
    ("javaAlphabetic", r"\p{Alphabetic}"),
    ("javaIdeographic", r"\p{Ideographic}"),
    ("javaTitleCase", r"\p{Lt}"),
    ("javaDigit", r"\p{Nd}"),
    ("javaLetter", r"\p{L}"),
    ("javaLetterOrDigit", r"\p{L}\p{Nd}"),
    ("javaSpaceChar", r"\p{Z}"),
    ("javaWhitespace", r"[\p{Z}\t-\r\x1C-\x1F&&[^\x{A0}\x{2007}\x{202F}]]"),
    ("IsLetter", r"\p{L}"),
    ("IsPunctuation", r"\p{P}"),
    ("IsControl", r"\p{Cc}"),
    ("IsTitlecase", r"\p{Lt}"),
    ("IsDigit", r"\p{Nd}"),
    ("IsAssigned", r"\P{Cn}"),
];

/// Blocks of Unicode, which the regex engine has no names for: those that data is searched for. Spelt without blanks, dashes and
/// underscores, in lower case.
const BLOCKS: [(&str, &str); 17] = [
    ("basiclatin", r"\x00-\x7F"),
    ("latin1supplement", r"\x{80}-\x{FF}"),
    ("latinextendeda", r"\x{100}-\x{17F}"),
    ("latinextendedb", r"\x{180}-\x{24F}"),
    ("greek", r"\x{370}-\x{3FF}"),
    ("cyrillic", r"\x{400}-\x{4FF}"),
    ("hebrew", r"\x{590}-\x{5FF}"),
    ("arabic", r"\x{600}-\x{6FF}"),
    ("thai", r"\x{E00}-\x{E7F}"),
    ("generalpunctuation", r"\x{2000}-\x{206F}"),
    ("cjksymbolsandpunctuation", r"\x{3000}-\x{303F}"),
    ("hiragana", r"\x{3040}-\x{309F}"),
    ("katakana", r"\x{30A0}-\x{30FF}"),
    ("cjkunifiedideographsextensiona", r"\x{3400}-\x{4DBF}"),
    ("cjkunifiedideographs", r"\x{4E00}-\x{9FFF}"),
    ("hangulsyllables", r"\x{AC00}-\x{D7AF}"),
    ("halfwidthandfullwidthforms", r"\x{FF00}-\x{FFEF}"),
];

/// The inside of a `[…]` for the name of a class. Names that are not Java's alone go to the regex engine as they are.
pub(super) fn class(name: &str) -> Result<String, String> {
    if let Some((_, class)) = POSIX.iter().chain(&JAVA).find(|(known, _)| *known == name) {
        return Ok(class.to_string());
    }
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'=' | b'-' | b' ')) {
        return Err(format!("has the class \\p{{{name}}}, which is no name"));
    }
    if let Some((key, value)) = name.split_once('=') {
        return match key.to_ascii_lowercase().as_str() {
            "script" | "sc" => Ok(format!(r"\p{{Script={value}}}")),
            "general_category" | "gc" => Ok(format!(r"\p{{General_Category={value}}}")),
            "block" | "blk" => block(value),
            _ => Err(format!("has the class \\p{{{name}}}, which cannot be run here")),
        };
    }
    match (name.strip_prefix("Is"), name.strip_prefix("In")) {
        (_, Some(name)) => block(name),
        (Some(name), None) => Ok(format!(r"\p{{{name}}}")),
        (None, None) => Ok(format!(r"\p{{{name}}}")),
    }
}

fn block(name: &str) -> Result<String, String> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let known = BLOCKS.iter().find(|(known, _)| *known == plain);
    known.map(|(_, class)| class.to_string()).ok_or_else(|| {
        format!("has the Unicode block {name}, which is not known here: write a script (\\p{{IsHan}}) or a range (\\u4e00-\\u9fff)")
    })
}
