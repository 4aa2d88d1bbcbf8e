//! What is done to the table: its columns that are filled, and the statements that fill them.

use arrow_schema::{Field, Schema};
use transship_plugin_api::dates::Zone;
use transship_plugin_api::fields::SOURCE_TYPE_KEY;
use transship_plugin_api::params::nearest;
use transship_plugin_api::row::Meaning;
use transship_plugin_api::{Error, Result};
use transship_sql::parameters::Columns;
use transship_sql::write::{self, NewColumn, Statement, WriteMode};
use transship_sql::{Dialect, MySql, names};

use super::encode::Place;
use super::target::{Takes, Target, declaration};
use crate::config::WriterConfig;
use crate::table::{self, Table};
use crate::types::UTC;

/// How records get into the table.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) targets: Vec<Target>,
    /// The statement for rows of literals.
    pub(super) statement: Statement,
    /// The statement for a file, where the write mode has one.
    pub(super) load: Option<String>,
    /// Whether a statement may leave a part of its rows behind when it fails, the table having no transactions.
    pub(super) row_by_row: bool,
    /// The unique keys, of which all columns are filled: their names, and which of the targets they are.
    pub(super) unique_keys: Vec<(String, Vec<usize>)>,
}

impl Plan {
    /// `records` are the names of the records' columns, where the reader tells them before it reads.
    pub(super) fn new(config: &WriterConfig, table: &Table, records: Option<&[String]>) -> Result<Plan> {
        let columns = columns(config, table, records)?;
        let records = records.map(|records| records.iter().map(String::as_str).collect::<Vec<_>>());
        let are_named = matches!(config.columns, Some(Columns::Named(_)));
        let columns =
            config.mapping.in_order(columns, |target| &target.name, are_named, records.as_deref(), &config.table)?;
        let names: Vec<&str> = columns.iter().map(|target| target.name.as_str()).collect();
        let is_filled = |name: &str| names.iter().any(|filled| filled.eq_ignore_ascii_case(name));
        let others = table.columns.iter().filter(|column| !column.is_generated && !is_filled(&column.name));
        let others: Vec<&str> = others.map(|column| column.name.as_str()).collect();
        let quoted = table::quoted(&config.table);
        let primary_key: Vec<&str> = table.primary_key.iter().map(String::as_str).collect();
        let target = write::Target { table: &quoted, columns: &names, others: &others, primary_key: &primary_key };
        let statement = Statement::new(&MySql, &config.mode, &target)?;
        let load = config.load.then(|| load(config, &columns)).flatten();
        let place = |name: &String| columns.iter().position(|target| target.name.eq_ignore_ascii_case(name));
        let unique_keys = table.indexes.iter().filter(|index| index.is_unique).filter_map(|index| {
            let places: Option<Vec<usize>> = index.columns.iter().map(place).collect();
            Some((index.name.clone(), places?))
        });
        let unique_keys = unique_keys.collect();
        let row_by_row = !table.has_transactions();
        // What a file has changed on its way could not be taken back.
        let load = load.filter(|_| !row_by_row);
        Ok(Plan { targets: columns, statement, load, row_by_row, unique_keys })
    }

    /// How the values of records with these fields go into the table.
    pub(super) fn places(
        &self,
        config: &WriterConfig,
        schema: &Schema,
        offset_seconds: Option<i64>,
        steady_offset_seconds: Option<i64>,
    ) -> Vec<Place> {
        let places = self.targets.iter().zip(schema.fields()).map(|(target, field)| {
            let column_zone = match field.data_type() {
                arrow_schema::DataType::Timestamp(_, zone) => zone.as_deref(),
                _ => None,
            };
            let zone: Zone = config.formats.zone_of(column_zone.unwrap_or(UTC));
            Place {
                target: target.clone(),
                meaning: Meaning::of(field),
                empty_as_null: config.empty_as_null,
                formats: config.formats.clone(),
                zone,
                offset_seconds,
                steady_offset_seconds,
                has_binary_digits: field.metadata().get(SOURCE_TYPE_KEY).is_some_and(|name| name.starts_with("bit")),
                always_fits: target.takes.has_room_for_all_of(field.data_type()),
            }
        });
        places.collect()
    }

    /// Whether instants go into columns of instants, so that the session needs a clock of a fixed offset.
    pub(super) fn has_instants(&self, schema: &Schema) -> bool {
        let pairs = self.targets.iter().zip(schema.fields());
        pairs.into_iter().any(|(target, field)| {
            let is_instant = matches!(field.data_type(), arrow_schema::DataType::Timestamp(_, Some(_)));
            is_instant && matches!(target.takes, Takes::Timestamp(_))
        })
    }

    /// Whether texts, which may have a zone in them, go into columns of instants.
    pub(super) fn has_texts_for_instants(&self, schema: &Schema) -> bool {
        let mut pairs = self.targets.iter().zip(schema.fields());
        pairs.any(|(target, field)| field.data_type().is_string() && matches!(target.takes, Takes::Timestamp(_)))
    }

    /// Checks that the records have as many columns as are to be filled.
    pub(super) fn check(&self, schema: &Schema, table: &str) -> Result<()> {
        let (ours, theirs) = (self.targets.len(), schema.fields().len());
        if ours == theirs {
            return Ok(());
        }
        let theirs: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let targets: Vec<_> = self.targets.iter().map(|target| target.name.as_str()).collect();
        Err(Error::config(format!(
            "\"column\" names {ours} columns of {table} ({}), but the records have {} ({}): each column takes one, in order",
            targets.join(", "),
            theirs.len(),
            theirs.join(", ")
        )))
    }
}

/// The table's columns that take those of the records.
fn columns(config: &WriterConfig, table: &Table, records: Option<&[String]>) -> Result<Vec<Target>> {
    let named: Vec<String> = match (&config.columns, records) {
        // Computed columns take nothing, and invisible ones are not meant.
        (Some(Columns::All), _) | (None, None) => {
            let all = table.columns.iter().filter(|column| !column.is_generated && !column.is_invisible);
            return Ok(all.map(Target::of).collect());
        }
        (Some(Columns::Named(names)), _) => names.iter().map(|name| names::unquote(name)).collect(),
        (None, Some(records)) => records.to_vec(),
    };
    let mut targets: Vec<Target> = Vec::new();
    for name in named {
        let Some(column) = table.column(&name) else {
            let known = table.columns.iter().map(|column| column.name.as_str());
            let hint = match nearest(&name, known.clone()) {
                Some(name) => format!("did you mean \"{name}\"?"),
                None => format!("it has {}", known.collect::<Vec<_>>().join(", ")),
            };
            return Err(Error::schema(format!("table {} has no column \"{name}\": {hint}", config.table)));
        };
        if column.is_generated {
            let problem =
                format!("column \"{name}\" of {} is computed by the server: leave it out of \"column\"", config.table);
            return Err(Error::config(problem));
        }
        if targets.iter().any(|target| target.name == column.name) {
            return Err(Error::config(format!("\"column\" names \"{name}\" twice")));
        }
        targets.push(Target::of(column));
    }
    Ok(targets)
}

/// `LOAD DATA` for the write mode, if it has one.
fn load(config: &WriterConfig, targets: &[Target]) -> Option<String> {
    let replace = match config.mode {
        WriteMode::Insert | WriteMode::Ignore => "",
        WriteMode::Replace => "REPLACE ",
        WriteMode::Update(_) => return None,
    };
    // Bytes are sent as they are, so a file that has some is one of bytes, of which each text is to be made a text again.
    let has_bytes = targets.iter().any(|target| matches!(target.takes, Takes::Bytes(_) | Takes::Geometry));
    let charset = if has_bytes { "binary" } else { "utf8mb4" };
    let mut fields = Vec::new();
    let mut set = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let quoted = MySql.quote(&target.name);
        let expression = match target.takes {
            Takes::Bits(_) => format!("CAST(@c{index} AS UNSIGNED)"),
            _ if has_bytes && target.is_text && !target.is_utf8mb4 => format!("CONVERT(@c{index} USING utf8mb4)"),
            _ => {
                fields.push(quoted);
                continue;
            }
        };
        fields.push(format!("@c{index}"));
        set.push(format!("{quoted} = {expression}"));
    }
    let set = if set.is_empty() { String::new() } else { format!(" SET {}", set.join(", ")) };
    Some(format!(
        "LOAD DATA LOCAL INFILE 'transship' {replace}INTO TABLE {} CHARACTER SET {charset} \
         FIELDS TERMINATED BY x'09' ESCAPED BY x'5C' LINES TERMINATED BY x'0A' ({}){set}",
        table::quoted(&config.table),
        fields.join(", ")
    ))
}

/// The statement that makes the table for records of these fields.
pub(super) fn create_table(config: &WriterConfig, schema: &Schema) -> Result<String> {
    let names: Vec<String> = match &config.columns {
        Some(Columns::Named(named)) => named.iter().map(|name| names::unquote(name)).collect(),
        _ => schema.fields().iter().map(|field| field.name().clone()).collect(),
    };
    if names.len() != schema.fields().len() {
        let (ours, theirs) = (names.len(), schema.fields().len());
        let problem =
            format!("\"column\" names {ours} columns, but the records have {theirs}: the table cannot be made");
        return Err(Error::config(problem));
    }
    let fields = schema.fields().iter().map(|field| Field::as_ref(field));
    let columns = names.into_iter().zip(fields).map(|(name, field)| {
        let nullable = true;
        NewColumn { name, declared: declaration(field), nullable }
    });
    let columns: Vec<_> = columns.collect();
    Ok(format!(
        "{} DEFAULT CHARACTER SET utf8mb4",
        write::create_table(&MySql, &table::quoted(&config.table), &columns)
    ))
}
