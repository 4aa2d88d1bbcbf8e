//! Which columns records have once something was found for them: their own, some of them replaced, and others appended.

use std::sync::Arc;

use arrow_schema::{Field, FieldRef, Schema, SchemaRef};
use transship_plugin_api::params::nearest;
use transship_plugin_api::{Error, Result};

use super::parameters::Wanted;

/// The columns that come out.
#[derive(Debug)]
pub(super) struct Columns {
    pub schema: SchemaRef,
    /// Where each comes from.
    pub from: Vec<From>,
}

/// Where a column comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// The record, by its place there.
    Record(usize),
    /// What was found, by its place there.
    Found(usize),
}

impl Columns {
    /// The columns of the record, and those wanted (or all) of what is found. `key`: the record's columns that make the key.
    pub(super) fn new(
        record: &SchemaRef,
        key: &[usize],
        found: &SchemaRef,
        wanted: Option<&[Wanted]>,
    ) -> Result<Columns> {
        let chosen = match wanted {
            Some(wanted) => {
                let chosen = wanted.iter().map(|wanted| Ok((find(found, wanted)?, wanted.called.clone())));
                chosen.collect::<Result<Vec<_>>>()?
            }
            None => all(record, key, found),
        };
        let mut fields: Vec<FieldRef> = record.fields().iter().cloned().collect();
        let mut from: Vec<From> = (0..fields.len()).map(From::Record).collect();
        for (place, called) in chosen {
            // A record of which nothing is found has NULL there.
            let field = found.field(place).clone().with_name(&called).with_nullable(true);
            match record.fields().iter().position(|field| *field.name() == called) {
                Some(replaced) => {
                    fields[replaced] = Arc::new(field);
                    from[replaced] = From::Found(place);
                }
                None => {
                    fields.push(Arc::new(field));
                    from.push(From::Found(place));
                }
            }
        }
        let schema = Arc::new(Schema::new_with_metadata(fields, record.metadata().clone()));
        Ok(Columns { schema, from })
    }

    /// The schema of one row of NULLs, for records of which nothing is found.
    pub(super) fn nullable(found: &SchemaRef) -> SchemaRef {
        let fields: Vec<Field> =
            found.fields().iter().map(|field| field.as_ref().clone().with_nullable(true)).collect();
        Arc::new(Schema::new(fields))
    }
}

/// All but the key: it is in the record already.
fn all(record: &SchemaRef, key: &[usize], found: &SchemaRef) -> Vec<(usize, String)> {
    let is_key = |field: &Field| key.iter().any(|place| record.field(*place).name().eq_ignore_ascii_case(field.name()));
    let fields = found.fields().iter().enumerate();
    fields.filter(|(_, field)| !is_key(field)).map(|(place, field)| (place, field.name().clone())).collect()
}

fn find(found: &SchemaRef, wanted: &Wanted) -> Result<usize> {
    let places = |equal: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..found.fields().len()).filter(|place| equal(found.field(*place).name())).collect()
    };
    let exact = places(&|name| name == wanted.name);
    let near = if exact.is_empty() { places(&|name| name.eq_ignore_ascii_case(&wanted.name)) } else { exact };
    let Wanted { path, name, .. } = wanted;
    match near[..] {
        [place] => Ok(place),
        [] => {
            let names: Vec<&str> = found.fields().iter().map(|field| field.name().as_str()).collect();
            let advice = nearest(name, names.iter().copied())
                .map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"));
            Err(Error::schema(format!(
                "{path} is \"{name}\", which the lookup does not find: it finds {}{advice}",
                names.join(", ")
            )))
        }
        _ => Err(Error::schema(format!("{path} is \"{name}\", and the lookup finds several columns of that name"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::DataType;

    fn schema(names: &[&str]) -> SchemaRef {
        let fields: Vec<Field> = names.iter().map(|name| Field::new(*name, DataType::Utf8, false)).collect();
        Arc::new(Schema::new(fields))
    }

    fn names(record: &[&str], found: &[&str], wanted: Option<&[(&str, &str)]>) -> String {
        let wanted = wanted.map(|wanted| {
            let column = |(name, called): &(&str, &str)| Wanted {
                path: "parameter.columns[0]".into(),
                name: (*name).into(),
                called: (*called).into(),
            };
            wanted.iter().map(column).collect::<Vec<_>>()
        });
        let columns = Columns::new(&schema(record), &[0], &schema(found), wanted.as_deref()).unwrap();
        let shown = columns.schema.fields().iter().zip(&columns.from).map(|(field, from)| match from {
            From::Record(place) => format!("{}={place}", field.name()),
            From::Found(place) => format!("{}<{place}", field.name()),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn columns_are_appended_and_those_of_the_same_name_replaced() {
        assert_eq!(names(&["id", "name"], &["ID", "city"], None), "id=0 name=1 city<1");
        assert_eq!(names(&["id", "name"], &["id", "name", "city"], None), "id=0 name<1 city<2");
        let wanted: &[(&str, &str)] = &[("city", "name"), ("NAME", "client")];
        assert_eq!(names(&["id", "name"], &["id", "name", "city"], Some(wanted)), "id=0 name<2 client<1");
        assert_eq!(names(&["id"], &["id"], Some(&[("id", "id")])), "id<0", "asked for, also the key is replaced");
    }

    #[test]
    fn a_column_that_is_not_found_is_told_with_its_place() {
        let wanted = Wanted { path: "parameter.columns[0]".into(), name: "citty".into(), called: "city".into() };
        let error = Columns::new(&schema(&["id"]), &[0], &schema(&["id", "city"]), Some(&[wanted])).unwrap_err();
        assert_eq!(
            error.message(),
            "parameter.columns[0] is \"citty\", which the lookup does not find: it finds id, city; did you mean \"city\"?"
        );
    }
}
