//! What a split of files looks like, and what it was made of.

use serde::{Deserialize, Serialize};
use transship_plugin_api::{Error, Result, Split};

use crate::find::FoundFile;
use crate::source::Piece;

/// What a task needs to know.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Detail {
    /// A range of a file.
    Range(Piece),
    /// Whole files, by folder: what their paths begin with is there once, because there may be a thousand.
    Files(Vec<(String, Vec<String>)>),
}

/// The split of a range of a large file.
pub(super) fn of_range(piece: Piece) -> Result<Split> {
    let end = piece.end.unwrap_or(piece.start);
    let id = format!("{}@{}", piece.path, piece.start);
    let label = format!("{}, bytes {} to {end}", piece.path, piece.start);
    split(id, label, end - piece.start, &Detail::Range(piece))
}

/// The split of whole files.
pub(super) fn of_files(files: &[FoundFile]) -> Result<Split> {
    let bytes = files.iter().map(|file| file.size).sum();
    let (id, label) = match files {
        [one] => (one.path.clone(), one.path.clone()),
        [first, rest @ ..] => {
            let label = format!("{} files from {}", with_commas(files.len()), first.path);
            (format!("{}+{}", first.path, rest.len()), label)
        }
        [] => return Err(Error::internal("a split without a file")),
    };
    let mut folders: Vec<(String, Vec<String>)> = Vec::new();
    for file in files {
        let (folder, name) = file.path.split_at(file.path.rfind('/').map_or(0, |slash| slash + 1));
        match folders.last_mut() {
            Some((last, names)) if last == folder => names.push(name.to_owned()),
            _ => folders.push((folder.to_owned(), vec![name.to_owned()])),
        }
    }
    split(id, label, bytes, &Detail::Files(folders))
}

fn split(id: String, label: String, bytes: u64, detail: &Detail) -> Result<Split> {
    let detail = serde_json::to_value(detail).map_err(|error| Error::internal(error.to_string()))?;
    let mut split = Split::new(id, label, detail);
    split.unit = "line".into();
    split.bytes = Some(bytes);
    Ok(split)
}

/// The pieces that a split was made of.
pub(crate) fn pieces(split: &Split) -> Result<Vec<Piece>> {
    let detail = Detail::deserialize(&split.detail)
        .map_err(|error| Error::internal(format!("the split {} was not made by this reader: {error}", split.id)))?;
    Ok(match detail {
        Detail::Range(piece) => vec![piece],
        Detail::Files(folders) => {
            let paths = folders
                .into_iter()
                .flat_map(|(folder, names)| names.into_iter().map(move |name| folder.clone() + &name));
            paths.map(Piece::whole).collect()
        }
    })
}

/// `1000` as `1,000`.
fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
