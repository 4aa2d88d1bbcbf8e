//! The value of a key as SQLite compares it.

use arrow_schema::Field;
use rusqlite::types::ValueRef;
use transship_plugin_api::ColumnFormats;
use transship_plugin_api::fields::is_number;
use transship_plugin_api::row::{Meaning, Value};

use crate::types::Target;
use crate::writer::store::{Place, stored};

/// A column of the key.
pub(super) struct KeyColumn {
    place: Place,
}

impl KeyColumn {
    pub(super) fn new(field: &Field) -> KeyColumn {
        let meaning = Meaning::of(field);
        // A UUID is written as text, as the writer does it; all else is what it is. The column compares by its own type.
        let target = if meaning.is_uuid() { Target::Text } else { Target::Any };
        KeyColumn {
            place: Place {
                name: field.name().clone(),
                declared: String::new(),
                target,
                meaning,
                numbers: is_number(field),
                empty_as_null: false,
                dates: None,
                formats: ColumnFormats::default(),
            },
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.place.name
    }

    /// What is bound for a value, or why nothing can be.
    pub(super) fn bound<'a>(&self, value: Value<'a>, scratch: &'a mut String) -> Result<ValueRef<'a>, String> {
        stored(&self.place, value, scratch)
    }
}
