//! What the metadata of a field says beyond its Arrow type. One home for these words: readers and writers must agree on them.

use std::collections::HashMap;

use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field};

/// The extension name of numbers without a fixed scale, kept as text: valid number text as it was written, NaN and infinities
/// included. A writer converts it once, exactly, or reports the record as dirty.
pub const NUMBER: &str = "transship.number";

/// The extension name of UUIDs: 16 bytes, whose text is 32 hexadecimal digits with hyphens between them.
pub const UUID: &str = "arrow.uuid";

/// The extension name of texts that are JSON.
pub const JSON: &str = "arrow.json";

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

/// Whether a field holds UUIDs: 16 bytes each.
pub fn is_uuid(field: &Field) -> bool {
    matches!(field.data_type(), DataType::FixedSizeBinary(16)) && field.extension_type_name() == Some(UUID)
}

/// Whether a field holds texts that are JSON.
pub fn is_json(field: &Field) -> bool {
    field.extension_type_name() == Some(JSON)
}

/// Whether the extreme values of a field of dates or timestamps are infinite.
pub fn has_infinity(field: &Field) -> bool {
    field.metadata().contains_key(INFINITY_KEY)
}

/// The same field, whose extreme values are infinite.
pub fn with_infinity(field: Field) -> Field {
    let mut metadata = field.metadata().clone();
    metadata.insert(INFINITY_KEY, "true");
    field.with_metadata(metadata)
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
