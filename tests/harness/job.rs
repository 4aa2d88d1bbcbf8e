//! Job files, made in a few words.

use serde_json::{Map, Value, json};

/// A job file in the making.
#[derive(Debug, Clone)]
pub struct Job {
    tree: Value,
}

/// A reader, writer or transformer for a job file.
pub fn plugin(name: &str, parameter: Value) -> Value {
    json!({ "name": name, "parameter": parameter })
}

impl Job {
    /// From this reader to this writer, on one channel.
    pub fn new(reader: Value, writer: Value) -> Job {
        let content = json!([{ "reader": reader, "writer": writer }]);
        Job { tree: json!({ "job": { "setting": { "speed": { "channel": 1 } }, "content": content } }) }
    }

    /// With so many channels.
    pub fn channels(self, channels: u32) -> Job {
        self.with("job.setting.speed.channel", channels)
    }

    /// With a transformer behind those that there are.
    pub fn transformer(mut self, transformer: Value) -> Job {
        let content = &mut self.tree["job"]["content"][0];
        match content.get_mut("transformer").and_then(Value::as_array_mut) {
            Some(chain) => chain.push(transformer),
            None => content["transformer"] = json!([transformer]),
        }
        self
    }

    /// With a value at a path of keys: `core.transport.channel.capacity`.
    pub fn with(mut self, path: &str, value: impl Into<Value>) -> Job {
        let mut place = &mut self.tree;
        for key in path.split('.') {
            if place.is_null() {
                *place = Value::Object(Map::new());
            }
            place = &mut place[key];
        }
        *place = value.into();
        self
    }

    /// The file as a value.
    pub fn tree(&self) -> &Value {
        &self.tree
    }
}
