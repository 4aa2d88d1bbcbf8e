//! `docs/fidelity.md`, made of the table of values. The tests beside this one run every way that it tells of.

use std::path::PathBuf;

use transship_tests::program::repository;

use super::table::{Arrival, Column, Place, Value};

const HEAD: &str = "\
# Fidelity: what arrives

A value that moves from one system to another is the same value there, or this page says what it is, or its record is dirty: kept in
the file of dirty records, with the cell and the cause named, and counted. Nothing is rounded, cut, shifted or made NULL in silence.

This page is made from [a table of values](../tests/cases/fidelity/values.json) by the test that sends every one of them over all 16
ways between PostgreSQL, MariaDB, SQLite and CSV files: into tables that are there, and into such as the writer makes (`createTable`); with
the process in the zones of UTC, Shanghai, New York and Lord Howe, where summer time is half an hour, and the servers in other zones than the
process. What has arrived is read with psql, the mariadb client, the SQLite library, and byte by byte. \"Exact\" means the same as if
the value had been inserted there by the system's own client. In the rows of a value all other columns are NULL, and stay NULL.

CSV files are written and read with `\"nullFormat\": \"\\\\N\"`, `\"byteEncoding\": \"hex\"`, and read with `\"nullWhenQuoted\": false` and
`\"trimWhitespace\": false`: what these leave out is DataX's default. Types in the tables below are those of the columns; where a system
has none for a value, it is kept as text.

";

/// The page.
pub(super) fn text(table: &[Column]) -> String {
    let values = || table.iter().flat_map(|column| column.values.iter().map(move |value| (column, value)));
    let of = |rank: u8| values().filter(move |(column, value)| rank_of(column, value) == rank);
    let mut page = String::from(HEAD);
    let counts = [0, 1, 2].map(|rank| of(rank).count());
    page += &format!(
        "Of {} values {} are exact everywhere, {} are another text or value somewhere, and {} are refused somewhere.\n\n",
        counts.iter().sum::<usize>(),
        counts[0],
        counts[1],
        counts[2]
    );
    page += "## Exact everywhere\n\nFrom each system that has such a type to all four.\n\n";
    page += "| value | PostgreSQL | MariaDB | SQLite | CSV, as |\n| --- | --- | --- | --- | --- |\n";
    let mut area = "";
    for (column, value) in of(0) {
        push_area(&mut page, &mut area, column);
        let types = Place::ALL.map(|place| column.own_type(place).map_or("text".into(), in_code));
        page += &format!("| {} | {} |\n", name_of(value), types.join(" | "));
    }
    page += "\n## Changed, and why\n\n";
    push_ways(&mut page, of(1), Column::arrival);
    page += "\n## Refused\n\nThe record is dirty, and the word behind it is from the cause. The other records of the job are written.\n\n";
    push_ways(&mut page, of(2), Column::arrival);
    page += "\n## In tables that the writer makes\n\n\
             As above, but for these: a new column is as wide as its source, and text where the source has text.\n\n";
    let differs = |(column, value): &(&Column, &Value)| {
        ways(column, value).any(|(from, to)| {
            to != Place::Csv
                && outcome(&column.arrival(value, from, to)) != outcome(&column.arrival_in_new_table(value, from, to))
        })
    };
    push_ways(&mut page, values().filter(differs), Column::arrival_in_new_table);
    page
}

/// Where it lies.
pub(super) fn path() -> PathBuf {
    repository().join("docs/fidelity.md")
}

/// All pairs of which the first has a value.
fn ways<'a>(column: &'a Column, value: &'a Value) -> impl Iterator<Item = (Place, Place)> + 'a {
    let sources = Place::ALL.into_iter().filter(move |from| column.has(value, *from));
    sources.flat_map(|from| Place::ALL.map(|to| (from, to)))
}

/// 0: exact everywhere; 1: changed somewhere; 2: refused somewhere.
fn rank_of(column: &Column, value: &Value) -> u8 {
    let rank = |arrival| match arrival {
        Arrival::Exact => 0,
        Arrival::Changed { .. } => 1,
        Arrival::Dirty(_) => 2,
    };
    ways(column, value).map(|(from, to)| rank(column.arrival(value, from, to))).max().unwrap_or(0)
}

fn push_area<'a>(page: &mut String, area: &mut &'a str, column: &'a Column) {
    if *area != column.area {
        *area = &column.area;
        *page += &format!("| **{area}** | | | | |\n");
    }
}

/// A line for each value: how it arrives at each target, by source where that matters.
fn push_ways<'a>(
    page: &mut String,
    values: impl Iterator<Item = (&'a Column, &'a Value)>,
    arrival: impl Fn(&Column, &Value, Place, Place) -> Arrival,
) {
    *page += "| value | to PostgreSQL | to MariaDB | to SQLite | to CSV |\n| --- | --- | --- | --- | --- |\n";
    let mut area = "";
    for (column, value) in values {
        push_area(page, &mut area, column);
        let sources: Vec<Place> = Place::ALL.into_iter().filter(|from| column.has(value, *from)).collect();
        let cells = Place::ALL.map(|to| {
            let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
            for from in &sources {
                let told = told(column, &arrival(column, value, *from, to));
                match groups.iter_mut().find(|(known, _)| *known == told) {
                    Some((_, sources)) => sources.push(from.name()),
                    None => groups.push((told, vec![from.name()])),
                }
            }
            match groups.as_slice() {
                [(told, _)] => told.clone(),
                groups => {
                    let group = |(told, sources): &(String, Vec<&str>)| format!("from {}: {told}", sources.join(", "));
                    groups.iter().map(group).collect::<Vec<_>>().join("; ")
                }
            }
        });
        let own_type = |place: &Place| column.own_type(*place).filter(|_| *place != Place::Csv);
        let types = Place::ALL.iter().filter_map(own_type).collect::<Vec<_>>().join(", ");
        *page += &format!("| {} ({}) | {} |\n", name_of(value), in_code(&types), cells.join(" | "));
    }
}

fn told(column: &Column, arrival: &Arrival) -> String {
    match arrival {
        Arrival::Exact => "exact".into(),
        Arrival::Changed { is, why } => {
            let is = is.as_deref().map_or("NULL".into(), in_code);
            match why.as_ref().or(column.why.as_ref()) {
                Some(why) => format!("{is}: {why}"),
                None => is,
            }
        }
        Arrival::Dirty(words) if words.is_empty() => "**dirty**".into(),
        Arrival::Dirty(words) => format!("**dirty**: … {words} …"),
    }
}

/// What becomes of a value, whatever the words for it.
fn outcome(arrival: &Arrival) -> String {
    match arrival {
        Arrival::Exact => "exact".into(),
        Arrival::Changed { is, .. } => format!("{is:?}"),
        Arrival::Dirty(_) => "dirty".into(),
    }
}

/// A value's name: its text stands between backticks, what is said of it does not.
fn name_of(value: &Value) -> String {
    match &value.is {
        Some(is) if *is == value.say => in_code(is),
        _ => value.say.replace('|', "\\|").replace("\\N", "\\\\N"),
    }
}

fn in_code(text: &str) -> String {
    let fence = if text.contains('`') { "``" } else { "`" };
    // Blanks at its ends would be taken away.
    let room = if text.starts_with(' ') || text.ends_with(' ') { " " } else { "" };
    format!("{fence}{room}{}{room}{fence}", text.replace('|', "\\|"))
}
