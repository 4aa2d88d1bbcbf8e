//! `order` and `merge`, as the chain of transformers sees them: what they are told, and that it fits the columns. All records pass
//! here; what they stand for is done by the job, which cuts the chain at them (`lanes`).

use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

use arrow_schema::{DataType, Schema, SchemaRef};
use serde_json::Value;
use transship_plugin_api::plugin::{Component, Parameter};
use transship_plugin_api::{Batch, Error, Params, Result, Transformer};

use super::key_columns::{self, KeyColumns};
use super::step::Step;
use crate::config::amounts;
use crate::keys::Dispatch;

/// What begins the lanes.
pub(super) const ORDER: &str = "order";
/// What ends them.
pub(super) const MERGE: &str = "merge";

/// How records are kept in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderSetting {
    key: KeyColumns,
    created: Option<KeyColumns>,
    /// `None`: as many as the job has channels.
    pub lanes: Option<NonZeroUsize>,
    kind: Kind,
    /// Whether records without a key are one key; else each is a key of its own.
    pub nulls_are_one: bool,
    /// Records that may wait.
    pub capacity: NonZeroUsize,
    /// Bytes that may wait; `None`: as many as a channel holds.
    pub byte_capacity: Option<NonZeroUsize>,
    /// Records that a lane takes at once; `None`: those of a batch.
    pub batch: Option<NonZeroUsize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Dynamic,
    Modulo,
    Hash,
}

const LANES: i64 = 1024;
const CAPACITY: NonZeroUsize = NonZeroUsize::new(65_536).expect("it is not zero");

impl OrderSetting {
    /// What a parameter says.
    #[cfg(test)]
    pub fn of(parameter: &Value) -> Result<OrderSetting> {
        OrderSetting::read(&Params::new(parameter, "parameter")?)
    }

    fn read(params: &Params<'_>) -> Result<OrderSetting> {
        let positive = |key: &str| match params.integer(key)? {
            None => Ok(None),
            Some(number) => match usize::try_from(number).ok().and_then(NonZeroUsize::new) {
                Some(number) => Ok(Some(number)),
                None => Err(params.error(key, format_args!("is {number}, but must be at least 1"))),
            },
        };
        let lanes = positive("lanes")?;
        if lanes.is_some_and(|lanes| lanes.get() as i64 > LANES) {
            return Err(params.error("lanes", format_args!("must be at most {LANES}: each is a thread")));
        }
        let dispatch = [("dynamic", Kind::Dynamic), ("modulo", Kind::Modulo), ("hash", Kind::Hash)];
        let byte_capacity = amounts::bytes(params, "byteCapacity")?.map(|bytes| NonZeroUsize::new(bytes as usize));
        Ok(OrderSetting {
            key: KeyColumns::read(params)?,
            created: match params.value("created") {
                None => None,
                Some(_) => Some(KeyColumns::read_from(params, "created")?),
            },
            lanes,
            kind: params.choice("dispatch", &dispatch)?.unwrap_or(Kind::Dynamic),
            nulls_are_one: params.choice("nullKey", &[("each", false), ("one", true)])?.unwrap_or(false),
            capacity: positive("capacity")?.unwrap_or(CAPACITY),
            byte_capacity: match byte_capacity {
                Some(None) => return Err(params.error("byteCapacity", "must be at least 1")),
                given => given.flatten(),
            },
            batch: positive("batch")?,
        })
    }

    /// The places of the columns of the key.
    ///
    /// # Errors
    /// When one of them is not there.
    pub fn key(&self, schema: &Schema) -> Result<Vec<usize>> {
        self.key.find(schema)
    }

    /// The place of the column that says when a record was made.
    ///
    /// # Errors
    /// When it is not there, or is no timestamp.
    pub fn created(&self, schema: &Schema) -> Result<Option<usize>> {
        let Some(created) = &self.created else { return Ok(None) };
        let places = created.find(schema)?;
        let [place] = places[..] else {
            return Err(Error::config("parameter.created must be one column, not several"));
        };
        match schema.field(place).data_type() {
            DataType::Timestamp(_, _) => Ok(Some(place)),
            other => {
                let name = schema.field(place).name();
                Err(Error::schema(format!(
                    "parameter.created is the column \"{name}\", which is {other}: it must be a timestamp"
                )))
            }
        }
    }

    /// Which of so many lanes gets a key.
    pub fn dispatch(&self, lanes: NonZeroUsize) -> Dispatch {
        match self.kind {
            Kind::Dynamic => Dispatch::Free,
            Kind::Modulo => Dispatch::Modulo(lanes),
            Kind::Hash => Dispatch::Hash(lanes),
        }
    }
}

/// Makes the step of an `order`; the first one reads the setting that all share.
pub(super) fn make(parameter: &Value, shared: &OnceLock<Arc<OrderSetting>>) -> Result<Box<dyn Step>> {
    let setting = match shared.get() {
        Some(setting) => setting.clone(),
        None => {
            let setting = Arc::new(OrderSetting::read(&Params::new(parameter, "parameter")?)?);
            shared.get_or_init(|| setting).clone()
        }
    };
    Ok(Box::new(Passing(Some(setting))))
}

/// Makes the step of a `merge`.
pub(super) fn make_merge() -> Box<dyn Step> {
    Box::new(Passing(None))
}

/// Lets everything pass.
struct Passing(Option<Arc<OrderSetting>>);

impl Transformer for Passing {
    fn schema(&mut self, input: SchemaRef) -> Result<SchemaRef> {
        if let Some(setting) = &self.0 {
            setting.key(&input)?;
            setting.created(&input)?;
        }
        Ok(input)
    }

    fn push(&mut self, batch: Batch, out: &mut Vec<Batch>) -> Result<()> {
        out.push(batch);
        Ok(())
    }

    fn flush(&mut self, _: &mut Vec<Batch>) -> Result<()> {
        Ok(())
    }
}

impl Step for Passing {}

/// What they say of themselves.
pub(super) fn components() -> [Component; 2] {
    let order = Component {
        names: vec![ORDER.into()],
        about: "keeps the records of each key in order while everything behind it runs in several lanes".into(),
        parameters: vec![
            key_columns::KEY,
            Parameter::optional(
                "lanes",
                "integer",
                "as many as channels",
                "lanes that work at once, the writer included",
            ),
            Parameter::optional(
                "nullKey",
                "\"each\" or \"one\"",
                "each",
                "whether records whose key is NULL are each a key of their own, or all one",
            ),
            Parameter::optional("capacity", "integer", "65536", "records that may wait; then readers wait"),
            Parameter::optional(
                "byteCapacity",
                "string or integer",
                "as a channel",
                "bytes that may wait; then readers wait",
            ),
            Parameter::optional("batch", "integer", "as a batch", "records that a lane takes at once, at most"),
            Parameter::optional(
                "created",
                "string or integer",
                "",
                "the timestamp column that says when a record was made, for the latency; else its arrival here counts",
            ),
            Parameter::optional(
                "dispatch",
                "\"dynamic\", \"modulo\" or \"hash\"",
                "dynamic",
                "which lane gets a key: any that is idle, or always the same (for comparison)",
            ),
        ],
    };
    let merge = Component {
        names: vec![MERGE.into()],
        about: "ends the lanes of order: what stands behind it, the writer included, runs once".into(),
        parameters: Vec::new(),
    };
    [order, merge]
}
