//! Which columns come out of the files, by what names: from the job file, and from the first records of the files
//! where the job file leaves it open.
//! Not here: filling them (`columns`).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use serde::{Deserialize, Serialize};

use crate::config::{Column, From, ReaderConfig};
use crate::types::ColumnType;

/// What the first records of the files tell, as it travels between processes: every split has the same columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FirstRecords {
    /// How many fields there are: in the first record that is no header, or in the header. `None`: there is no record in
    /// any file.
    pub width: Option<usize>,
    /// Where the record stands that told the width, for messages.
    pub place: String,
    /// The fields of the first header. It may be wider or narrower than the records, or the title of a report.
    pub header: Option<Vec<String>>,
}

/// The columns of a job.
#[derive(Debug)]
pub(crate) struct Layout {
    pub schema: SchemaRef,
    pub columns: Vec<LaidOut>,
    /// How many fields each record must have, where every field becomes a column.
    pub exact_width: Option<usize>,
    /// Where the record stands that has so many.
    pub place_of_width: String,
    /// How many fields each record must have at least.
    pub least_width: usize,
    pub header: Option<Vec<String>>,
    /// Whether an empty line is no record. It is one where records have a single field and the job says nothing of it:
    /// then an empty line is how others write an empty value.
    pub skip_empty: bool,
}

/// A column: where its values come from and what they are.
#[derive(Debug, Clone)]
pub(crate) struct LaidOut {
    pub from: From,
    pub kind: ColumnType,
}

impl Layout {
    /// Whether the job file leaves something open that only a file can tell.
    pub(crate) fn needs_first_records(config: &ReaderConfig) -> bool {
        Layout::needs_columns(config) || Layout::may_keep_empty_lines(config)
    }

    /// Whether it leaves open which columns there are, or what they are called.
    pub(crate) fn needs_columns(config: &ReaderConfig) -> bool {
        match &config.columns {
            None => true,
            Some(columns) => config.skip_header && columns.iter().any(|column| column.name.is_none()),
        }
    }

    /// Whether an empty line may be a record: it has enough fields for all columns, and the job does not say.
    fn may_keep_empty_lines(config: &ReaderConfig) -> bool {
        let beyond_first = |column: &Column| matches!(column.from, From::Field(index) if index > 0);
        let columns = config.columns.as_deref().unwrap_or_default();
        !config.says_skip_empty && !columns.iter().any(beyond_first)
    }

    pub(crate) fn new(config: &ReaderConfig, first: &FirstRecords) -> Layout {
        let width = first.width.unwrap_or(0);
        let every_field = || {
            (0..width).map(|index| Column { name: None, from: From::Field(index), kind: ColumnType::Text }).collect()
        };
        let columns: Vec<Column> = config.columns.clone().unwrap_or_else(every_field);
        let mut taken: HashSet<String> = columns.iter().filter_map(|column| column.name.clone()).collect();
        let fields = columns.iter().enumerate().map(|(place, column)| {
            let name =
                column.name.clone().unwrap_or_else(|| unique(derived_name(place, &column.from, first), &mut taken));
            column.kind.field(&name)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let least_width = columns.iter().filter_map(|column| match column.from {
            From::Field(index) => Some(index + 1),
            From::Constant(_) => None,
        });
        Layout {
            schema,
            exact_width: config.columns.is_none().then_some(width),
            place_of_width: first.place.clone(),
            least_width: least_width.max().unwrap_or(0),
            columns: columns.into_iter().map(|column| LaidOut { from: column.from, kind: column.kind }).collect(),
            header: first.header.clone(),
            skip_empty: config.dialect.skip_empty && !(width == 1 && Layout::may_keep_empty_lines(config)),
        }
    }

    /// How many columns come from the same field, of the field that has most.
    pub(crate) fn most_uses_of_a_field(&self) -> usize {
        let mut uses = HashMap::new();
        for column in &self.columns {
            if let From::Field(index) = column.from {
                *uses.entry(index).or_insert(0) += 1;
            }
        }
        uses.into_values().max().unwrap_or(1)
    }
}

/// What a column without a name is called: as the header says, or by its place.
fn derived_name(place: usize, from: &From, first: &FirstRecords) -> String {
    match from {
        From::Field(index) => {
            let in_header = first.header.as_ref().and_then(|header| header.get(*index)).filter(|name| !name.is_empty());
            in_header.cloned().unwrap_or_else(|| format!("col{index}"))
        }
        From::Constant(_) => format!("value{place}"),
    }
}

/// Two columns of one name could not both be stored in a table.
fn unique(name: String, taken: &mut HashSet<String>) -> String {
    let candidate = std::iter::once(name.clone())
        .chain((2..).map(|number: u64| format!("{name}_{number}")))
        .find(|candidate| !taken.contains(candidate))
        .unwrap_or(name);
    taken.insert(candidate.clone());
    candidate
}
