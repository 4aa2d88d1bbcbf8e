//! Jobs between the faulty reader and the faulty writer, and the journal of calls that they leave.

use serde_json::{Value, json};

use crate::job::{Job, plugin};
use crate::scratch::Scratch;

/// A job from the faulty reader to the faulty writer. Unless the parameters say otherwise the ids of the records go to the
/// file `out`, and every call to the file `journal`.
pub fn faulty(reader: Value, writer: Value) -> Job {
    Job::new(faulty_reader(reader), faulty_writer(writer))
}

/// The faulty reader with these parameters.
pub fn faulty_reader(parameter: Value) -> Value {
    plugin("faultyreader", with_defaults(parameter, json!({ "journal": "journal" })))
}

/// The faulty writer with these parameters.
pub fn faulty_writer(parameter: Value) -> Value {
    plugin("faultywriter", with_defaults(parameter, json!({ "journal": "journal", "target": "out" })))
}

/// The faulty transformer with these parameters.
pub fn faulty_transformer(parameter: Value) -> Value {
    plugin("faultytransformer", with_defaults(parameter, json!({ "journal": "journal" })))
}

fn with_defaults(parameter: Value, mut defaults: Value) -> Value {
    let (Value::Object(given), Value::Object(all)) = (parameter, &mut defaults) else {
        panic!("parameters are an object");
    };
    all.extend(given);
    defaults
}

impl Scratch {
    /// How often the journal has a line that begins so.
    pub fn calls(&self, beginning: &str) -> usize {
        self.lines("journal").iter().filter(|line| line.starts_with(beginning)).count()
    }

    /// The ids that the faulty writer has made visible, in ascending order.
    pub fn ids(&self) -> Vec<u64> {
        let mut ids: Vec<u64> = self.lines("out").iter().map(|line| line.parse().expect("a line is an id")).collect();
        ids.sort_unstable();
        ids
    }
}
