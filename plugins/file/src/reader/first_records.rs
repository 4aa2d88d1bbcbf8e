//! Looks at the front of the files for what the job file leaves open: how many fields records have, and what the header
//! says.
//! Not here: what columns come of it (`layout`).

use transship_plugin_api::{Error, Host, Result};

use crate::config::ReaderConfig;
use crate::csv::{Advanced, Records, TooLong};
use crate::find::FirstFiles;
use crate::layout::{FirstRecords, Layout};
use crate::source::{Piece, Texts};

/// A first record that is longer says nothing of columns: its quotes are not what they seem.
const LONGEST_FIRST_RECORD: usize = 64 << 20;

/// The first header, if files have one, and how many fields records have: as many as the first that is no header, in
/// whichever file that is, unless more of those right behind it have as many as the header.
pub(super) fn find(config: &ReaderConfig, files: &mut FirstFiles, host: &dyn Host) -> Result<FirstRecords> {
    let mut first = FirstRecords::default();
    while let Some(file) = files.next()? {
        if host.is_cancelled() {
            return Err(Error::cancelled());
        }
        let piece = Piece::whole(&file.path);
        let mut texts = Texts::open(&piece, config.compression, config.encoding)?;
        while let Some((entry, text)) = texts.next()? {
            let name = entry.map_or_else(|| piece.path.clone(), |entry| format!("{} ({entry})", piece.path));
            let records = Records::new(text, &config.dialect, 1, LONGEST_FIRST_RECORD);
            match look_at(records, config, &piece, &name, host, &mut first)? {
                Found::Everything => return Ok(first),
                Found::TooLong(_) if !Layout::needs_columns(config) => return Ok(FirstRecords::default()),
                Found::TooLong(record) => {
                    return Err(Error::data(format!(
                        "{name}: the record in line {} has {} bytes, too many to tell the columns from; list them in \
                         column",
                        record.line, record.bytes
                    )));
                }
                Found::NoMore => {}
            }
        }
    }
    Ok(first)
}

/// What looking at a text came to.
enum Found {
    /// A record that is no header.
    Everything,
    /// Whoever writes such records writes no empty lines for empty values.
    TooLong(TooLong),
    /// It ended before.
    NoMore,
}

fn look_at(
    mut records: Records,
    config: &ReaderConfig,
    piece: &Piece,
    name: &str,
    host: &dyn Host,
    first: &mut FirstRecords,
) -> Result<Found> {
    let mut header_follows = config.skip_header;
    loop {
        match records.advance().map_err(|error| piece.error(&error))? {
            Advanced::Run => {
                let (run, _) = records.run();
                for record in 0..run.records.len().min(2) {
                    let width = run.fields_of(record).len();
                    let place = format!("line {} of {name}", records.line(record));
                    if !std::mem::take(&mut header_follows) {
                        let have = |width| {
                            let rest = record..run.records.len();
                            rest.filter(|record| run.fields_of(*record).len() == width).count()
                        };
                        // A first record that lost a field must not make all others dirty.
                        let header_is_right = |header: &Vec<String>| have(header.len()) > have(width);
                        if !first.header.as_ref().is_some_and(header_is_right) {
                            (first.width, first.place) = (Some(width), place);
                        }
                        return Ok(Found::Everything);
                    }
                    if first.header.is_none() {
                        *first = FirstRecords { width: Some(width), place, header: Some(records.texts(record)) };
                    }
                }
            }
            Advanced::TooLong(record) => return Ok(Found::TooLong(record)),
            Advanced::Passing if host.is_cancelled() => return Err(Error::cancelled()),
            Advanced::Passing => {}
            Advanced::End => return Ok(Found::NoMore),
        }
    }
}
