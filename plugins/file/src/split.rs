//! What of the files is read together: large plain files are cut, small ones share a split, and all of it is found only as
//! splits are asked for.
//! Not here: which files there are (`find`), reading them (`reader`).

mod borders;
mod cutting;
mod detail;
mod listing;
mod packs;

use crate::compression::Compression;
use crate::config::ReaderConfig;
use crate::dialect::Dialect;
use crate::encoding::Encoding;
use crate::find::FoundFile;

pub(crate) use self::borders::Borders;
pub(crate) use self::cutting::Cutting;
pub(crate) use self::detail::pieces;
pub(crate) use self::listing::{Listed, Walker};

/// Ranges smaller than this are not worth a task of their own.
const SMALLEST_RANGE: u64 = 32 << 20;

/// Ranges larger than this make channels wait for each other at the end.
const LARGEST_RANGE: u64 = 1 << 30;

/// How many ranges there should be for each channel, so that channels end together.
const RANGES_PER_CHANNEL: u64 = 4;

/// Of how many bytes the ranges of this file should be at most; `None`: it is to be read as a whole.
fn range_size(file: &FoundFile, config: &ReaderConfig, channels: u32) -> Option<u64> {
    let size = largest_range(file.size, config.split_bytes, channels)?;
    can_cut(file, &config.dialect, config.encoding, config.compression).then_some(size)
}

fn largest_range(size: u64, wanted: Option<u64>, channels: u32) -> Option<u64> {
    let range = match wanted {
        Some(0) => return None,
        Some(bytes) => bytes,
        None if channels < 2 => return None,
        None => (size / (u64::from(channels) * RANGES_PER_CHANNEL)).clamp(SMALLEST_RANGE, LARGEST_RANGE),
    };
    (size > range).then_some(range)
}

/// Whether files of this kind can be cut: their bytes are their text, and borders can be told from it.
fn can_cut(file: &FoundFile, dialect: &Dialect, encoding: Encoding, compression: Compression) -> bool {
    let bytes_are_text = matches!(encoding, Encoding::Utf8 | Encoding::Ascii | Encoding::Latin1);
    bytes_are_text && compression.of(&file.path) == Compression::None && Borders::new(dialect).is_some()
}

#[cfg(test)]
mod tests;
