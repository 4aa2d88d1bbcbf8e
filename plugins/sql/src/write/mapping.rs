//! Which of the table's columns takes which column of the records: by place, as in DataX, or by name.

use transship_plugin_api::params::nearest;
use transship_plugin_api::{Error, Params, Result};

/// How columns of records find those of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mapping {
    /// The first takes the first, and so on.
    #[default]
    Position,
    /// Each takes the one of its name.
    Name,
}

impl Mapping {
    /// What `columnMapping` says; by position where it is absent.
    ///
    /// # Errors
    /// It is neither of the two.
    pub fn read(params: &Params<'_>) -> Result<Mapping> {
        match params.text("columnMapping")?.as_deref().map(str::trim) {
            None | Some("position") => Ok(Mapping::Position),
            Some("name") => Ok(Mapping::Name),
            Some(other) => {
                let problem = format_args!("is \"{other}\", but must be \"position\" or \"name\"");
                Err(params.error("columnMapping", problem))
            }
        }
    }

    /// Puts columns of the table into the order of the records' columns. By position they are in it already.
    ///
    /// `records` are the names of the records' columns, `None` where the reader does not tell them before it reads. Names are the
    /// same if they are spelt alike, or else if they are but for upper and lower case. Columns of the table that no column of the
    /// records has the name of are left to their defaults, unless the job has named them (`are_named`).
    ///
    /// # Errors
    /// The records' names are not known, two of them are the same, or a column on either side finds none on the other.
    pub fn in_order<C>(
        self,
        columns: Vec<C>,
        name: impl Fn(&C) -> &str,
        are_named: bool,
        records: Option<&[&str]>,
        table: &str,
    ) -> Result<Vec<C>> {
        if self == Mapping::Position {
            return Ok(columns);
        }
        let Some(records) = records else {
            let problem = "\"columnMapping\" is \"name\", and this reader does not tell its columns before it reads";
            return Err(Error::schema(format!("{problem}: leave it out, and name the columns in the reader's order")));
        };
        let mut waiting: Vec<Option<C>> = columns.into_iter().map(Some).collect();
        let mut found = Vec::with_capacity(records.len());
        for (index, record) in records.iter().enumerate() {
            if records[..index].contains(record) {
                let problem = format!("the records have two columns of the name \"{record}\"");
                return Err(Error::schema(format!("{problem}: \"columnMapping\": \"name\" cannot tell them apart")));
            }
            let of_name = |same: fn(&str, &str) -> bool| {
                waiting.iter().position(|column| column.as_ref().is_some_and(|column| same(name(column), record)))
            };
            let place = of_name(|one, other| one == other).or_else(|| of_name(alike)).ok_or_else(|| {
                let free = || waiting.iter().flatten().map(&name);
                no_partner(record, nearest(record, free()), free(), table)
            })?;
            found.extend(waiting[place].take());
        }
        match waiting.iter().flatten().next() {
            Some(left) if are_named => Err(Error::schema(format!(
                "\"column\" names \"{}\" of table {table}, but the records have no column of this name: they have {}",
                name(left),
                records.join(", ")
            ))),
            _ => Ok(found),
        }
    }
}

fn alike(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

fn no_partner<'a>(record: &str, nearest: Option<&str>, free: impl Iterator<Item = &'a str>, table: &str) -> Error {
    let advice = match nearest {
        Some(name) => format!("did you mean \"{name}\"? Name it so in the reader"),
        None => format!("left to fill are {}", free.collect::<Vec<_>>().join(", ")),
    };
    Error::schema(format!("no column of table {table} takes the records' column \"{record}\": {advice}"))
}
