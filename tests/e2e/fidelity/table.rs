//! The table of values, `tests/cases/fidelity/values.json`: what each is in each system, and what each system must make of it.
//! The rules of the file are told in the README beside it.

use transship_tests::Value as Json;
use transship_tests::program::repository;

/// Where values come from and go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Postgres,
    MariaDb,
    Sqlite,
    Csv,
}

impl Place {
    pub(super) const ALL: [Place; 4] = [Place::Postgres, Place::MariaDb, Place::Sqlite, Place::Csv];

    /// The word for it in the file.
    pub(super) fn key(self) -> &'static str {
        match self {
            Place::Postgres => "postgres",
            Place::MariaDb => "mariadb",
            Place::Sqlite => "sqlite",
            Place::Csv => "csv",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Place::Postgres => "PostgreSQL",
            Place::MariaDb => "MariaDB",
            Place::Sqlite => "SQLite",
            Place::Csv => "CSV",
        }
    }
}

/// How two texts are compared that different systems show for one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    Number,
    /// A number of 64 bits: systems show different digits of one.
    Float,
    Boolean,
    Moment,
    /// A length of time.
    Length,
    Text,
    Bytes,
}

/// Values that have one type in each system, and share a column.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) area: String,
    pub(super) means: Means,
    /// Why some of its values arrive changed.
    pub(super) why: Option<String>,
    pub(super) values: Vec<Value>,
    json: Json,
}

pub(super) struct Value {
    /// Its row.
    pub(super) id: i64,
    /// What it is, for people.
    pub(super) say: String,
    /// Its text; `None` is NULL.
    pub(super) is: Option<String>,
    json: Json,
}

/// What becomes of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It is the same value there.
    Exact,
    /// It is another text or value, for a reason.
    Changed { is: Option<String>, why: Option<String> },
    /// Its record is dirty; the cause contains this.
    Dirty(String),
}

/// The whole table.
pub(super) fn read() -> Vec<Column> {
    let path = repository().join("tests/cases/fidelity/values.json");
    let text = std::fs::read_to_string(path).unwrap();
    let columns: Vec<Json> = transship_tests::records::json_documents(&text).remove(0).as_array().unwrap().clone();
    let mut ids = 1..;
    let values = |json: &Json| {
        let values = json["values"].as_array().unwrap().iter();
        values.map(|value| Value::new(ids.next().unwrap(), value)).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<Value>> = columns.iter().map(values).collect();
    let of = |(index, (json, values)): (usize, (Json, Vec<Value>))| Column::new(index, json, values);
    columns.into_iter().zip(rows).enumerate().map(of).collect()
}

fn text(json: &Json) -> Option<String> {
    json.as_str().map(String::from)
}

impl Column {
    fn new(index: usize, json: Json, values: Vec<Value>) -> Column {
        Column {
            name: text(&json["called"]).unwrap_or(format!("c{index}")),
            area: text(&json["area"]).unwrap(),
            means: match json["means"].as_str().unwrap() {
                "number" => Means::Number,
                "float" => Means::Float,
                "boolean" => Means::Boolean,
                "moment" => Means::Moment,
                "length" => Means::Length,
                "text" => Means::Text,
                "bytes" => Means::Bytes,
                other => panic!("a value means a {other}"),
            },
            why: text(&json["why"]),
            values,
            json,
        }
    }

    /// A column of no table of values, to be read where something else has filled it.
    pub(super) fn plain(name: &str, means: Means) -> Column {
        Column { name: name.into(), area: String::new(), means, why: None, values: Vec::new(), json: Json::Null }
    }

    /// The type of its column where a place has one for such values; of a CSV file, the type that the reader is told.
    pub(super) fn own_type(&self, place: Place) -> Option<&str> {
        match place {
            Place::Csv => Some(self.json["csv"].as_str().unwrap_or("string")),
            _ => self.json[place.key()].as_str(),
        }
    }

    /// The type of its column: of text, where the place has none for such values.
    pub(super) fn declared(&self, place: Place) -> &str {
        self.own_type(place).unwrap_or(match place {
            Place::MariaDb => "longtext",
            _ => "TEXT",
        })
    }

    /// What stands behind each of its values in a place.
    fn behind(&self, place: Place) -> &str {
        self.json["behind"][place.key()].as_str().unwrap_or_default()
    }

    /// The text of a value in a place.
    pub(super) fn text(&self, value: &Value, place: Place) -> Option<String> {
        value.is.as_ref().map(|is| format!("{is}{}", self.behind(place)))
    }

    /// Whether a place has a value.
    pub(super) fn has(&self, value: &Value, place: Place) -> bool {
        let listed = |key: &str| value.json[key].as_array().map(|places| places.contains(&place.key().into()));
        self.own_type(place).is_some() && listed("in").unwrap_or(true) && !listed("not in").unwrap_or(false)
    }

    /// What becomes of a value in a table that is there.
    pub(super) fn arrival(&self, value: &Value, from: Place, to: Place) -> Arrival {
        value.told("to", from, to).unwrap_or(Arrival::Exact)
    }

    /// What becomes of a value in a table that the writer makes.
    pub(super) fn arrival_in_new_table(&self, value: &Value, from: Place, to: Place) -> Arrival {
        value.told("created", from, to).unwrap_or_else(|| self.arrival(value, from, to))
    }
}

impl Value {
    fn new(id: i64, json: &Json) -> Value {
        let is = text(&json["is"]);
        let say = text(&json["say"]).or_else(|| is.clone()).unwrap_or("NULL".into());
        Value { id, say, is, json: json.clone() }
    }

    /// Its SQL, where its text between quotes would not do.
    pub(super) fn sql(&self, place: Place) -> Option<&str> {
        self.json["sql"][place.key()].as_str()
    }

    /// What the file says of its way, for this pair or else for the target.
    fn told(&self, key: &str, from: Place, to: Place) -> Option<Arrival> {
        let told = &self.json[key];
        let pair = &told[format!("{}>{}", from.key(), to.key())];
        let told = if pair.is_null() { &told[to.key()] } else { pair };
        match told {
            Json::Null => None,
            Json::String(word) if word == "exact" => Some(Arrival::Exact),
            Json::Object(told) if told.contains_key("dirty") => Some(Arrival::Dirty(text(&told["dirty"]).unwrap())),
            Json::Object(told) => Some(Arrival::Changed { is: text(&told["is"]), why: told.get("why").and_then(text) }),
            other => panic!("{}: {other} says nothing", self.say),
        }
    }
}
