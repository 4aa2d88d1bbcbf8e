//! What the metadata of a field says beyond its Arrow type. One home for these words: readers and writers must agree on them.

use std::collections::HashMap;

use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field};

/// The extension name of numbers without a fixed scale, kept as text: valid number text as it was written, NaN and infinities
/// included. A writer converts it once, exactly, or reports the record as dirty.
pub const NUMBER: &str = "transship.number";

/// The metadata key under which a text column names the type that it has at its source, where Arrow has no such type.
pub const SOURCE_TYPE_KEY: &str = "transship.source_type";

/// The metadata key (its value is `true`) of a column of dates or timestamps whose extreme values stand for minus infinity and
/// infinity: the least and the greatest number of its Arrow type.
pub const INFINITY_KEY: &str = "transship.infinity";

/// A nullable field of numbers kept as text.
pub fn number_field(name: impl Into<String>) -> Field {
    let metadata = HashMap::from([(EXTENSION_TYPE_NAME_KEY.to_string(), NUMBER.to_string())]);
    Field::new(name, DataType::Utf8, true).with_metadata(metadata)
}

/// Whether a field holds numbers kept as text.
pub fn is_number(field: &Field) -> bool {
    field.extension_type_name() == Some(NUMBER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_field_that_says_so_holds_numbers() {
        assert!(is_number(&number_field("n")));
        assert!(!is_number(&Field::new("n", DataType::Utf8, true)));
    }
}
