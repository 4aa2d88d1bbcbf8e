//! Cuts the items of one list out of a JSON text, byte by byte, and keeps the text around them.

use serde_json::Value;

use super::{Broken, Raw};

/// What stands around the list may have so many bytes.
const MOST_AROUND: usize = 64 << 20;
/// Lists and objects around the list may be so deep in each other, as serde_json has it.
const DEEPEST: usize = 128;

#[derive(Debug)]
pub(crate) struct Scan {
    /// The way to the list: keys and places.
    target: Vec<String>,
    longest: usize,
    /// How many bytes have been read.
    read: u64,
    /// The lists and objects that are open, the list itself included.
    open: Vec<Open>,
    /// Within a text that stands around the list: whether the next letter is escaped.
    text: Option<bool>,
    /// The text of the key that is being read, with its quotes.
    key: Option<Vec<u8>>,
    /// All that stands around the list, and the list without its items.
    around: Vec<u8>,
    item: Option<Item>,
    is_found: bool,
}

/// A list or an object that is open.
#[derive(Debug)]
struct Open {
    is_object: bool,
    /// Whether the way to the list leads through it.
    is_on_the_way: bool,
    /// It is the list.
    is_target: bool,
    /// The last key of an object.
    key: String,
    /// Whether the next text is a key.
    awaits_key: bool,
    /// How many commas a list has had.
    place: usize,
    /// In the list: what stood last.
    last: Last,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Beginning,
    Item,
    Comma,
}

/// An item of the list that is being read.
#[derive(Debug)]
struct Item {
    raw: Raw,
    /// How many lists and objects are open in it. None are, and it is no text: it ends before a comma or a bracket.
    depth: usize,
    /// Within a text: whether the next letter is escaped.
    text: Option<bool>,
    /// It is an object in place of a list, so it stands around the list as well.
    is_alone: bool,
}

impl Scan {
    pub(super) fn new(target: Vec<String>, longest: usize) -> Scan {
        Scan {
            target,
            longest,
            read: 0,
            open: Vec::new(),
            text: None,
            key: None,
            around: Vec::new(),
            item: None,
            is_found: false,
        }
    }

    pub(super) fn feed(&mut self, piece: &[u8], out: &mut impl Extend<Raw>) -> Result<(), Broken> {
        let mut at = 0;
        while at < piece.len() {
            at += match self.item.is_some() {
                true => self.within_item(&piece[at..], out),
                false => self.around_items(piece[at])?,
            };
        }
        Ok(())
    }

    /// Reads on in an item. How many bytes it took: the one behind the end of a number is left.
    fn within_item(&mut self, bytes: &[u8], out: &mut impl Extend<Raw>) -> usize {
        let Some(item) = &mut self.item else { return 0 };
        let mut taken = 0;
        let mut is_over = false;
        while taken < bytes.len() && !is_over {
            if let Some(is_escaped) = &mut item.text {
                if std::mem::take(is_escaped) {
                    taken += 1;
                    continue;
                }
                match memchr::memchr2(b'"', b'\\', &bytes[taken..]) {
                    None => taken = bytes.len(),
                    Some(far) if bytes[taken + far] == b'\\' => {
                        *is_escaped = true;
                        taken += far + 1;
                    }
                    Some(far) => {
                        taken += far + 1;
                        item.text = None;
                        is_over = item.depth == 0;
                    }
                }
                continue;
            }
            match bytes[taken] {
                b'"' => item.text = Some(false),
                b'{' | b'[' => item.depth += 1,
                b'}' | b']' if item.depth > 0 => {
                    item.depth -= 1;
                    is_over = item.depth == 0;
                }
                b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r' if item.depth == 0 => {
                    is_over = true;
                    break;
                }
                _ => {}
            }
            taken += 1;
        }
        item.raw.push(&bytes[..taken], self.longest);
        if item.is_alone {
            self.around.extend_from_slice(&bytes[..taken]);
        }
        self.read += taken as u64;
        if is_over && let Some(item) = self.item.take() {
            out.extend([item.raw]);
        }
        taken
    }

    /// Reads a byte that belongs to no item, or sees that an item begins with it.
    fn around_items(&mut self, byte: u8) -> Result<usize, Broken> {
        if let Some(key) = &mut self.key {
            key.push(byte);
        }
        if let Some(is_escaped) = &mut self.text {
            match byte {
                _ if std::mem::take(is_escaped) => {}
                b'\\' => *is_escaped = true,
                b'"' => self.end_text(),
                _ => {}
            }
            return self.keep(byte);
        }
        if byte.is_ascii_whitespace() {
            return self.keep(byte);
        }
        if self.open.last().is_some_and(|open| open.is_target) {
            return self.in_target(byte);
        }
        match byte {
            b'"' => {
                self.text = Some(false);
                self.key = self.open.last().filter(|open| open.is_object && open.awaits_key).map(|_| vec![byte]);
            }
            b'{' | b'[' => return self.open(byte),
            b'}' | b']' => {
                let closes = self.open.pop().is_some_and(|open| open.is_object == (byte == b'}'));
                return if closes { self.keep(byte) } else { Err(self.unexpected(byte)) };
            }
            b',' => {
                if let Some(open) = self.open.last_mut() {
                    open.awaits_key = open.is_object;
                    open.place += 1;
                }
            }
            b':' => {
                if let Some(open) = self.open.last_mut() {
                    open.awaits_key = false;
                }
            }
            _ => {}
        }
        self.keep(byte)
    }

    fn end_text(&mut self) {
        self.text = None;
        if let (Some(key), Some(open)) = (self.key.take(), self.open.last_mut()) {
            // A key that is broken is found at the end, when all around the list is read.
            open.key = serde_json::from_slice(&key).unwrap_or_default();
        }
    }

    /// A list or an object begins.
    fn open(&mut self, byte: u8) -> Result<usize, Broken> {
        let depth = self.open.len();
        let is_on_the_way = match self.open.last() {
            None => true,
            Some(open) => {
                let place = if open.is_object { open.key.clone() } else { open.place.to_string() };
                open.is_on_the_way && self.target.get(depth - 1) == Some(&place)
            }
        };
        let is_target = is_on_the_way && depth == self.target.len() && !self.is_found;
        self.is_found |= is_target;
        let is_object = byte == b'{';
        if is_target && is_object {
            self.begin_item(true);
            return Ok(0);
        }
        if depth >= DEEPEST {
            return Err(Broken::new(format!("has more than {DEEPEST} lists and objects in each other")));
        }
        self.open.push(Open {
            is_object,
            is_on_the_way,
            is_target,
            key: String::new(),
            awaits_key: is_object,
            place: 0,
            last: Last::Beginning,
        });
        self.keep(byte)
    }

    /// A byte of the list that is no blank.
    fn in_target(&mut self, byte: u8) -> Result<usize, Broken> {
        let Some(list) = self.open.last_mut() else { return Ok(0) };
        match (byte, list.last) {
            (b',', Last::Item) => list.last = Last::Comma,
            (b']', Last::Beginning | Last::Item) => {
                self.open.pop();
                return self.keep(byte);
            }
            (b',' | b']' | b'}' | b':', _) | (_, Last::Item) => return Err(self.unexpected(byte)),
            _ => {
                list.last = Last::Item;
                self.begin_item(false);
                return Ok(0);
            }
        }
        self.read += 1;
        Ok(1)
    }

    fn begin_item(&mut self, is_alone: bool) {
        self.item = Some(Item { raw: Raw::at(self.read), depth: 0, text: None, is_alone });
    }

    fn keep(&mut self, byte: u8) -> Result<usize, Broken> {
        if self.around.len() >= MOST_AROUND {
            return Err(Broken::new(format!("has more than {} MiB around its list of records", MOST_AROUND >> 20)));
        }
        self.around.push(byte);
        self.read += 1;
        Ok(1)
    }

    fn unexpected(&self, byte: u8) -> Broken {
        Broken::new(format!("is no JSON: a {:?} at byte {} has no place there", byte as char, self.read))
    }

    pub(super) fn finish(mut self) -> Result<Value, Broken> {
        if self.item.is_some() || self.text.is_some() || !self.open.is_empty() || self.is_blank() {
            let problem = format!("ends in the middle, after {} bytes", self.read);
            return Err(Broken { problem, is_cut: true });
        }
        // A mark of the byte order is none of JSON's business.
        if self.around.starts_with(b"\xef\xbb\xbf") {
            self.around.drain(..3);
        }
        let around: Value = serde_json::from_slice(&self.around).map_err(|error| self.no_json(&error))?;
        if self.is_found {
            return Ok(around);
        }
        let pointer: String = self.target.iter().map(|token| crate::types::pointer_to(token)).collect();
        match around.pointer(&pointer) {
            Some(Value::Null) => Ok(around),
            Some(_) => Err(Broken::new(format!("has no list of records at \"{pointer}\", but something else"))),
            None => {
                let keys: Vec<&str> = around.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
                let keys = if keys.is_empty() { "no keys".into() } else { format!("the keys {}", keys.join(", ")) };
                Err(Broken::new(format!("has nothing at \"{pointer}\", where its records should be; it has {keys}")))
            }
        }
    }

    fn is_blank(&self) -> bool {
        self.around.iter().all(u8::is_ascii_whitespace)
    }

    fn no_json(&self, error: &serde_json::Error) -> Broken {
        let shown = String::from_utf8_lossy(&self.around[..self.around.len().min(60)]).replace(['\n', '\r'], " ");
        Broken::new(format!("is no JSON: {error} (around its records); it begins with {shown}"))
    }
}
