//! Which names this writer gives to its files: only files with such a name may ever be replaced.

use crate::config::WriterConfig;

/// How many hex digits the groups of a UUID have.
const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

/// The longest name that file systems take, in bytes.
const LONGEST_NAME: usize = 255;

/// What `fileName` and `suffix` may have together, in bytes, so that no name is refused when everything has been written.
pub(crate) const ROOM_FOR_NAMES: usize = LONGEST_NAME - "__".len() - uuid::fmt::Hyphenated::LENGTH;

/// The final name of a task's file.
pub(super) fn of_task(config: &WriterConfig, id: &str) -> String {
    format!("{}__{}{}", config.file_name, id.replace('-', "_"), config.suffix)
}

/// Whether a file with this name is the output of an earlier run of the same job: `fileName` itself, or followed by an
/// id, with the suffix. DataX leaves files with an id and without the suffix. Anything else is somebody else's, however
/// it begins.
pub(super) fn is_ours(config: &WriterConfig, name: &str) -> bool {
    let Some(rest) = name.strip_prefix(config.file_name.as_str()) else { return false };
    if rest == config.suffix {
        return true;
    }
    let Some(id) = rest.strip_prefix("__") else { return false };
    is_id(id) || id.strip_suffix(config.suffix.as_str()).is_some_and(is_id)
}

/// Whether a text is a UUID with underscores, as this writer and DataX put it into names.
fn is_id(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let mut groups = text.split('_');
    GROUPS.iter().all(|length| groups.next().is_some_and(|group| group.len() == *length && group.bytes().all(is_digit)))
        && groups.next().is_none()
}
