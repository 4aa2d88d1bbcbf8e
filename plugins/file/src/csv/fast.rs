//! Cuts records of the standard dialects, at the speed of finding the bytes that matter. A record that has anything but
//! plain fields and cleanly qualified ones is left to the CSV library, from its first byte.

use super::Cut;
use super::library::Library;
use super::marks::{Marks, Needles};
use super::run::{Field, Run};
use crate::dialect::{Dialect, Terminator, is_blank};

/// How much text is looked at in one go, unless a record is longer: what is found in it stays in the nearest cache.
const WINDOW: usize = 16 << 10;

pub(crate) struct Fast {
    delimiter: u8,
    qualifier: Option<u8>,
    terminator: Terminator,
    trim: bool,
    comment: Option<u8>,
    skip_empty: bool,
    needles: Needles<4>,
    marks: Marks,
    library: Library,
}

/// Why a record was not cut.
enum Stopped {
    /// It is for the library.
    Odd,
    /// It does not end in this window.
    Unfinished,
}

impl Fast {
    pub(crate) fn new(dialect: &Dialect) -> Fast {
        let delimiter = dialect.delimiter[0];
        let mut marks = vec![delimiter];
        marks.extend(dialect.qualifier);
        match dialect.terminator {
            Terminator::Line => marks.extend(b"\n\r"),
            Terminator::Byte(byte) => marks.push(byte),
        }
        Fast {
            delimiter,
            qualifier: dialect.qualifier,
            terminator: dialect.terminator,
            trim: dialect.trim,
            comment: dialect.comment,
            skip_empty: dialect.skip_empty,
            needles: Needles::new(&marks).expect("there are two to four bytes that matter"),
            marks: Marks::default(),
            library: Library::new(dialect),
        }
    }

    /// See [`Cutter::cut`](super::Cutter::cut).
    pub(crate) fn cut(&mut self, text: &[u8], last: bool, run: &mut Run) {
        let mut marks = std::mem::take(&mut self.marks);
        marks.clear();
        let (start, mut looked_at, mut size) = (run.used, run.used, WINDOW);
        loop {
            let window = &text[..text.len().min(looked_at + size)];
            self.needles.find(&window[looked_at..], looked_at - start, &mut marks);
            looked_at = window.len();
            self.cut_window(window, text, last, Places::new(marks.places(), start, run.used), run);
            if !run.records.is_empty() || looked_at == text.len() {
                break;
            }
            // Nothing but comments and empty lines, or a record longer than the window.
            size += size / 2;
        }
        self.marks = marks;
    }

    /// Cuts the records from `run.used` on that are complete in `window`, which is the front of `text`.
    fn cut_window(&mut self, window: &[u8], text: &[u8], last: bool, mut places: Places<'_>, run: &mut Run) {
        let last_window = last && window.len() == text.len();
        while run.used < window.len() {
            let (start, first_field, side) = (run.used, run.fields.len(), run.side.len());
            let cut = match self.cut_record(window, last_window, &mut places, run) {
                Ok(cut) => cut,
                Err(stopped) => {
                    run.take_back(first_field, side);
                    match stopped {
                        Stopped::Odd => self.library.record(text, start, last, run),
                        Stopped::Unfinished => Cut::Unfinished,
                    }
                }
            };
            match cut {
                Cut::Record { end, lines } => {
                    run.finish_record(start, end, first_field, run.lines);
                    run.used = end;
                    run.lines += lines;
                }
                Cut::Nothing { end, lines } => {
                    run.used = end;
                    run.lines += lines;
                }
                Cut::Unfinished => return,
            }
            places.pass_over(run.used);
        }
    }

    /// Cuts the record at `run.used`, if it is complete in this window.
    #[inline]
    fn cut_record(&self, window: &[u8], last: bool, places: &mut Places<'_>, run: &mut Run) -> Result<Cut, Stopped> {
        let record_start = run.used;
        if let Some(comment) = self.comment
            && self.is_comment(record_start, comment, window, last)?
        {
            return self.end_of_comment(window, last, places);
        }
        let mut start = record_start;
        let mut breaks = 0;
        loop {
            let Some(place) = places.next() else {
                if !last {
                    return Err(Stopped::Unfinished);
                }
                // A last record without a line end.
                run.fields.push(Field::plain(start, window.len()));
                return Ok(Cut::Record { end: window.len(), lines: breaks + 1 });
            };
            let byte = window[place];
            if byte == self.delimiter {
                run.fields.push(Field::plain(start, place));
                start = place + 1;
            } else if Some(byte) == self.qualifier {
                if place != start {
                    if self.trim && window[start..place].iter().all(|byte| is_blank(*byte)) {
                        return Err(Stopped::Odd);
                    }
                    // In the middle of a plain field a quote is a character like any other.
                    continue;
                }
                let close = self.closing_quote(window, last, places, &mut breaks)?;
                run.fields.push(Field::qualified(start + 1, close));
                match places.next() {
                    Some(next) if window[next] == self.delimiter => start = next + 1,
                    Some(next) => {
                        let end = self.end_of_terminator(window, next, last)?;
                        return Ok(Cut::Record { end, lines: breaks + 1 });
                    }
                    None => return Ok(Cut::Record { end: window.len(), lines: breaks + 1 }),
                }
            } else {
                let end = self.end_of_terminator(window, place, last)?;
                if place == record_start && self.skip_empty {
                    run.empty_lines += 1;
                    return Ok(Cut::Nothing { end, lines: 1 });
                }
                run.fields.push(Field::plain(start, place));
                return Ok(Cut::Record { end, lines: breaks + 1 });
            }
        }
    }

    /// The quote that closes a field whose opening quote was the mark before. It is clean if a delimiter, a line end or
    /// the end of the text follows it.
    #[inline]
    fn closing_quote(
        &self,
        window: &[u8],
        last: bool,
        places: &mut Places<'_>,
        breaks: &mut u32,
    ) -> Result<usize, Stopped> {
        while let Some(place) = places.next() {
            let byte = window[place];
            if Some(byte) == self.qualifier {
                return match window.get(place + 1) {
                    Some(next) if *next == self.delimiter || self.is_terminator(*next) => Ok(place),
                    Some(_) => Err(Stopped::Odd),
                    None if last => Ok(place),
                    None => Err(Stopped::Unfinished),
                };
            }
            let second_of_pair = byte == b'\n' && window[place - 1] == b'\r';
            if self.is_terminator(byte) && !(second_of_pair && self.terminator == Terminator::Line) {
                *breaks += 1;
            }
        }
        Err(if last { Stopped::Odd } else { Stopped::Unfinished })
    }

    /// Where the terminator at `place` ends: it is `\r\n` or one byte.
    #[inline]
    fn end_of_terminator(&self, window: &[u8], place: usize, last: bool) -> Result<usize, Stopped> {
        if window[place] != b'\r' || self.terminator != Terminator::Line {
            return Ok(place + 1);
        }
        match window.get(place + 1) {
            Some(b'\n') => Ok(place + 2),
            Some(_) => Ok(place + 1),
            None if last => Ok(place + 1),
            None => Err(Stopped::Unfinished),
        }
    }

    #[inline]
    fn is_terminator(&self, byte: u8) -> bool {
        match self.terminator {
            Terminator::Line => byte == b'\n' || byte == b'\r',
            Terminator::Byte(terminator) => byte == terminator,
        }
    }

    fn is_comment(&self, start: usize, comment: u8, window: &[u8], last: bool) -> Result<bool, Stopped> {
        let is_skipped = |byte: &&u8| self.trim && is_blank(**byte) && **byte != self.delimiter;
        let blanks = window[start..].iter().take_while(is_skipped).count();
        match window.get(start + blanks) {
            Some(byte) => Ok(*byte == comment
                && *byte != self.delimiter
                && Some(*byte) != self.qualifier
                && !self.is_terminator(*byte)),
            None if last => Ok(false),
            None => Err(Stopped::Unfinished),
        }
    }

    fn end_of_comment(&self, window: &[u8], last: bool, places: &mut Places<'_>) -> Result<Cut, Stopped> {
        while let Some(place) = places.next() {
            if self.is_terminator(window[place]) {
                let end = self.end_of_terminator(window, place, last)?;
                return Ok(Cut::Nothing { end, lines: 1 });
            }
        }
        if last { Ok(Cut::Nothing { end: window.len(), lines: 1 }) } else { Err(Stopped::Unfinished) }
    }
}

/// The places of a window's marks, one after another.
struct Places<'a> {
    marks: &'a [u32],
    next: usize,
    from: usize,
}

impl<'a> Places<'a> {
    /// Those of marks that are counted from `from`, but for those before `begin`.
    fn new(marks: &'a [u32], from: usize, begin: usize) -> Places<'a> {
        let next = marks.partition_point(|mark| from + (*mark as usize) < begin);
        Places { marks, next, from }
    }

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let mark = *self.marks.get(self.next)?;
        self.next += 1;
        Some(self.from + mark as usize)
    }

    /// Leaves out the marks before this place.
    #[inline]
    fn pass_over(&mut self, place: usize) {
        while self.marks.get(self.next).is_some_and(|mark| self.from + (*mark as usize) < place) {
            self.next += 1;
        }
    }
}
