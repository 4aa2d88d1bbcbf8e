//! A plugin that misbehaves on demand: a reader, a writer, a transformer and a lookup whose parameters say which call fails, when, how
//! and how often. Where nothing is asked of them they work, so that the rest of a job can be watched.

use transship_plugin_api::{Parameter, Plugin};

mod fault;
mod journal;
mod listing;
mod lookup;
mod reader;
mod table;
mod transformer;
mod wait;
mod writer;

const FAIL: Parameter = Parameter::optional(
    "fail",
    "object or list of objects",
    "",
    "a fault: at (the call), after (so many records), how (error:KIND, panic, hang, hang_until_cancelled, \
     hang_until_interrupted, hang_after_cancelled, wait_for_file, go_on), message, retryable, split, times, counter, marker, file",
);
const JOURNAL: Parameter =
    Parameter::optional("journal", "string", "", "a file that gets a line for each call, in the order of the calls");
const LOG: Parameter = Parameter::optional("log", "string", "", "a text that is logged at every level");
const DIRTY_EVERY: Parameter =
    Parameter::optional("dirtyEvery", "integer", "never", "every so many records one is reported as dirty");
const PASSWORD: Parameter = Parameter::optional("password", "string", "", "a secret: it has no other use");
const TOKEN: Parameter = Parameter::optional("token", "string", "", "a secret: it has no other use");

const READER: &[Parameter] = &[
    Parameter::optional("records", "integer", "100", "records in each split"),
    Parameter::optional("splits", "integer", "1", "how many splits there are, or are in each listing"),
    Parameter::optional(
        "listings",
        "integer",
        "0",
        "how many listings there are; 0: the reader itself lists its splits",
    ),
    Parameter::optional("batch", "integer", "10", "records in a batch, whatever the engine asks for"),
    Parameter::optional("textBytes", "integer", "8", "how long the text of a record is"),
    Parameter::optional("longRecord", "integer", "", "the number of a record whose text is a hundred times as long"),
    Parameter::optional("markEvery", "integer", "never", "so many records after which it gives a mark"),
    Parameter::optional("mark", r#""flush" or "watermark""#, "flush", "the mark"),
    Parameter::optional("idle", "boolean", "false", "whether it says `nothing yet` for ever instead of ending"),
    Parameter::optional("hideSchema", "boolean", "false", "whether the schema is known only once a split is open"),
    Parameter::optional("hideSize", "boolean", "false", "whether nobody is told how many records a split has"),
    Parameter::optional("label", "string", "split N", "what each split is called"),
    Parameter::optional("cause", "string", "it does not like it", "why a record is dirty"),
    DIRTY_EVERY,
    FAIL,
    JOURNAL,
    LOG,
    PASSWORD,
    TOKEN,
];

const WRITER: &[Parameter] = &[
    Parameter::optional("target", "string", "", "a file that gets the ids of the records, one a line"),
    Parameter::optional("commit", r#""atomic", "task" or "append""#, "task", "when they show"),
    Parameter::optional("maxOpenTasks", "integer", "0", "how many tasks may be open at once; 0: any number"),
    Parameter::optional("idempotent", "boolean", "false", "whether it says that writing again does no harm"),
    Parameter::optional("lie", "integer", "0", "how many records too many its report tells"),
    Parameter::optional("plan", "list of strings", "", "what it says it will do"),
    DIRTY_EVERY,
    FAIL,
    JOURNAL,
    LOG,
    PASSWORD,
    TOKEN,
];

const TRANSFORMER: &[Parameter] = &[
    Parameter::optional("dropEvery", "integer", "never", "every so many records one is dropped"),
    Parameter::optional("holdBack", "boolean", "false", "whether it gives nothing before it is flushed"),
    DIRTY_EVERY,
    FAIL,
    JOURNAL,
    LOG,
    PASSWORD,
    TOKEN,
];

const LOOKUP: &[Parameter] = &[
    Parameter::optional("mostKeys", "integer", "any number", "how many keys a call may have"),
    Parameter::optional("delayMillis", "integer", "", "answers come from another thread, after so long for each call"),
    Parameter::optional("missingEvery", "integer", "never", "ids that this divides are not found"),
    Parameter::optional("failEvery", "integer", "never", "ids that this divides cannot be looked up"),
    Parameter::optional("failFirst", "integer", "0", "so many calls fail first, and may be tried again"),
    Parameter::optional("oddEvery", "integer", "never", "calls with an id that this divides are not answered, but…"),
    Parameter::optional("how", r#""silent", "drop", "panic" or "panic_later""#, "silent", "…this happens"),
    FAIL,
    JOURNAL,
];

transship_plugin_api::export_plugin!(
    Plugin::new("faulty", env!("CARGO_PKG_VERSION"))
        .reader(&["faultyreader"], "Counts up, and fails where it is told to.", READER, reader::new)
        .writer(
            &["faultywriter"],
            "Notes the ids that it is given, and fails where it is told to.",
            WRITER,
            writer::new
        )
        .transformer(
            &["faultytransformer"],
            "Drops and holds records, and fails where it is told to.",
            TRANSFORMER,
            transformer::new
        )
        .lookup(&["faultylookup"], "Finds a text for each id, and fails where it is told to.", LOOKUP, lookup::new)
);
