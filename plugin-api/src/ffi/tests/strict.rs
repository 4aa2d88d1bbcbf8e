//! Null pointers, missing functions, other versions, garbage: an error, never a crash.

use std::mem::{offset_of, size_of};
use std::ptr;
use std::time::Duration;

use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::SchemaRef;
use arrow_schema::ffi::FFI_ArrowSchema;
use serde_json::Value;

use super::fixtures::{in_process, records, schema, some_host};
use super::raw::{
    self, NO_PLUGIN, NO_READER, NO_READER_TASK, NO_TRANSFORMER, NO_WRITER, NO_WRITER_TASK, open_writer_task, put_text,
    some_info,
};
use crate::batch::{Batch, Origin};
use crate::error::{Error, Kind, Result};
use crate::ffi::abi::*;
use crate::ffi::export::{ExportedPlugin, init};
use crate::ffi::guard::outcome;
use crate::reader::{Item, Mark, ReadOptions, Reader, ReaderTask, Split, SplitRequest};
use crate::writer::{CommitClass, Report, Run, WriterInfo};
use crate::{HostRef, Plugin};

fn kind<T>(result: Result<T>) -> Kind {
    result.map(drop).unwrap_err().kind()
}

#[track_caller]
fn assert_error<T>(result: Result<T>, kind: Kind, message: &str) {
    let error = result.map(drop).unwrap_err();
    assert_eq!((error.kind(), error.message()), (kind, message));
}

const REQUEST: SplitRequest = SplitRequest { channels: 1, max: 1 };

// Versions.

#[test]
fn a_plugin_refuses_an_engine_of_another_version_and_names_both() {
    static PLUGIN: std::sync::OnceLock<ExportedPlugin> = std::sync::OnceLock::new();
    let (mut table, mut error) = (ptr::null(), TsError::empty());
    // SAFETY: the host is not looked at before the version is found to be wrong.
    let status = unsafe { init(&PLUGIN, || Plugin::new("p", "0"), 2, ptr::null(), &mut table, &mut error) };
    assert_eq!(status, TS_UNSUPPORTED);
    assert!(table.is_null());
    assert_error(
        outcome(status, error, "the plugin"),
        Kind::Unsupported,
        "the plugin speaks version 1 of the plugin contract, the program version 2: use a plugin and a program that were \
         built from the same version",
    );
}

#[test]
fn the_engine_refuses_a_plugin_of_another_version_and_names_both() {
    let table = TsPlugin { abi_version: 7, ..NO_PLUGIN };
    assert_error(
        raw::plugin(&table),
        Kind::Unsupported,
        "in-process: the plugin speaks version 7 of the plugin contract, this program version 1: use a plugin and a program \
         that were built from the same version",
    );
}

// Tables that are missing, short, or have holes.

#[test]
fn a_plugin_without_a_usable_table_is_refused() {
    assert_error(
        raw::plugin(ptr::null()),
        Kind::Internal,
        "in-process: the plugin said that it is ready, but gave no table",
    );
    let short = TsPlugin { size: offset_of!(TsPlugin, description), ..NO_PLUGIN };
    assert_error(
        raw::plugin(&short),
        Kind::Internal,
        "in-process: the plugin's table is too short for a description: 16 bytes",
    );
    let silent = NO_PLUGIN;
    assert_eq!(kind(raw::plugin(&silent)), Kind::Internal);
    for garbage in [&b"{"[..], b"[]", b"{\"name\":1,\"version\":\"\"}", b"\xff\xfe", b""] {
        let table = TsPlugin { description: garbage.as_ptr(), description_len: garbage.len(), ..NO_PLUGIN };
        assert_eq!(kind(raw::plugin(&table)), Kind::Internal, "{garbage:?}");
    }
}

#[test]
fn a_table_that_ends_early_lacks_what_would_come_behind() {
    unsafe extern "C" fn never(
        _: *const TsPlugin,
        _: *const u8,
        _: usize,
        _: *const u8,
        _: usize,
        _: *const TsHost,
        _: *mut TsReader,
        _: *mut TsError,
    ) -> i32 {
        std::process::abort();
    }
    let description = r#"{"name":"short","version":"0"}"#;
    let table = TsPlugin {
        size: offset_of!(TsPlugin, new_reader) + 1,
        description: description.as_ptr(),
        description_len: description.len(),
        new_reader: Some(never),
        ..NO_PLUGIN
    };
    let loaded = raw::plugin(&table).unwrap();
    let absent = "in-process has no readers, so none named \"x\"";
    assert_error(loaded.reader("x", &Value::Null, some_host()), Kind::Unsupported, absent);
    assert_eq!(kind(loaded.writer("x", &Value::Null, some_host())), Kind::Unsupported);
    assert_eq!(kind(loaded.transformer("x", &Value::Null, some_host())), Kind::Unsupported);
    assert!(loaded.extension("transship.lookup/1").is_none());
}

#[test]
fn an_object_without_a_table_was_never_made() {
    assert_error(raw::reader(ptr::null()), Kind::Internal, "the plugin said that it made a reader, but gave none");
    assert_error(
        raw::reader_task(ptr::null()),
        Kind::Internal,
        "the plugin said that it made a reader task, but gave none",
    );
    assert_eq!(kind(raw::writer(ptr::null())), Kind::Internal);
    assert_eq!(kind(raw::writer_task(ptr::null())), Kind::Internal);
    assert_eq!(kind(raw::transformer(ptr::null())), Kind::Internal);
}

#[test]
fn a_reader_without_functions_can_do_what_needs_none() {
    static EMPTY: TsReaderTable = TsReaderTable { ..NO_READER };
    static SHORT: TsReaderTable = TsReaderTable { size: 0, splits: Some(splits_of_garbage), ..NO_READER };
    for table in [&EMPTY, &SHORT] {
        let mut reader = raw::reader(table).unwrap();
        assert_eq!(reader.prepare().unwrap(), Value::Null);
        reader.attach(&Value::Null).unwrap();
        assert_eq!(reader.schema().unwrap(), None);
        assert_error(reader.splits(&REQUEST), Kind::Unsupported, "the plugin's reader has no function `splits`");
        let split = Split::new("", "", Value::Null);
        let opened = reader.open(&split, &ReadOptions::default(), some_host());
        assert_error(opened, Kind::Unsupported, "the plugin's reader has no function `open`");
        reader.post().unwrap();
    }
}

#[test]
fn a_reader_task_without_functions_can_do_what_needs_none() {
    static EMPTY: TsReaderTaskTable = TsReaderTaskTable { ..NO_READER_TASK };
    let mut task = raw::reader_task(&EMPTY).unwrap();
    assert_eq!(kind(task.prepare()), Kind::Unsupported);
    assert_eq!(kind(task.next(Duration::ZERO)), Kind::Unsupported);
    task.ack(&Value::Null).unwrap();
    task.post().unwrap();
    assert!(task.cancel_handle().is_none());
}

#[test]
fn a_writer_without_functions_can_do_what_needs_none() {
    static EMPTY: TsWriterTable = TsWriterTable { ..NO_WRITER };
    assert_error(raw::writer(&EMPTY), Kind::Unsupported, "the plugin's writer has no function `info`");
    static INFO: TsWriterTable = TsWriterTable { info: Some(some_info), ..NO_WRITER };
    let mut writer = raw::writer(&INFO).unwrap();
    assert!(writer.plan().is_empty());
    assert_eq!(writer.prepare(&Run { id: String::new(), job: String::new() }, Some(schema())).unwrap(), Value::Null);
    writer.attach(&Value::Null).unwrap();
    writer.commit(&[]).unwrap();
    writer.abort(&[Report::default()]).unwrap();
    writer.post().unwrap();
}

#[test]
fn a_writer_need_not_tell_what_most_writers_would_say() {
    unsafe extern "C" fn short(_: *mut TsWriter, out: *mut TsText, _: *mut TsError) -> i32 {
        // SAFETY: the engine gives a place for the text.
        unsafe { put_text(out, br#"{"commit":"append","target":"x"}"#) };
        TS_OK
    }
    unsafe extern "C" fn nameless(_: *mut TsWriter, out: *mut TsText, _: *mut TsError) -> i32 {
        // SAFETY: as above.
        unsafe { put_text(out, br#"{"commit":"append"}"#) };
        TS_OK
    }
    static SHORT: TsWriterTable = TsWriterTable { info: Some(short), ..NO_WRITER };
    static NAMELESS: TsWriterTable = TsWriterTable { info: Some(nameless), ..NO_WRITER };
    let info = raw::writer(&SHORT).unwrap().info();
    let expected = WriterInfo { commit: CommitClass::Append, max_open_tasks: 0, target: "x".into(), idempotent: false };
    assert_eq!(info, expected);
    let error = raw::writer(&NAMELESS).err().unwrap();
    assert!(error.message().contains("missing field `target`"), "{error}");
}

#[test]
fn a_writer_task_without_functions_can_do_what_needs_none() {
    static EMPTY: TsWriterTaskTable = TsWriterTaskTable { ..NO_WRITER_TASK };
    let mut task = raw::writer_task(&EMPTY).unwrap();
    task.prepare().unwrap();
    // The array that was offered and not taken is released: valgrind and Miri would tell.
    assert_eq!(kind(task.write(Batch::measured(records(0, 3), Origin::default()))), Kind::Unsupported);
    task.mark(Mark::Flush).unwrap();
    assert_eq!(kind(task.flush()), Kind::Unsupported);
    assert_eq!(task.checkpoint(1).unwrap(), None);
    assert_eq!(kind(task.commit()), Kind::Unsupported);
    task.abort().unwrap();
    assert!(task.cancel_handle().is_none());
}

#[test]
fn a_transformer_without_functions_can_do_nothing() {
    static EMPTY: TsTransformerTable = TsTransformerTable { ..NO_TRANSFORMER };
    let mut transformer = raw::transformer(&EMPTY).unwrap();
    assert_eq!(kind(transformer.schema(schema())), Kind::Unsupported);
    let batch = Batch::measured(records(0, 1), Origin::default());
    assert_error(
        transformer.push(batch, &mut Vec::new()),
        Kind::Internal,
        "a batch came before its schema: prepare (or schema) must be called first",
    );
    assert_eq!(kind(transformer.flush(&mut Vec::new())), Kind::Unsupported);
}

// What comes back is garbage.

unsafe extern "C" fn splits_of_garbage(
    _: *mut TsReader,
    _: *const u8,
    _: usize,
    splits: *mut TsText,
    _: *mut TsError,
) -> i32 {
    // SAFETY: the engine gives a place for the text.
    unsafe { put_text(splits, b"[{\"id\":1}]") };
    TS_OK
}

#[test]
fn json_of_the_wrong_shape_is_a_broken_contract() {
    static GARBAGE: TsReaderTable = TsReaderTable { splits: Some(splits_of_garbage), ..NO_READER };
    let error = raw::reader(&GARBAGE).unwrap().splits(&REQUEST).unwrap_err();
    assert_eq!(error.kind(), Kind::Internal);
    assert!(error.message().starts_with("the list of splits is not what transship.h says of it: "), "{error}");
}

#[test]
fn a_text_that_is_no_utf8_is_a_broken_contract() {
    unsafe extern "C" fn prepare(_: *mut TsReader, state: *mut TsText, _: *mut TsError) -> i32 {
        // SAFETY: the engine gives a place for the text.
        unsafe { put_text(state, b"\"\xff\"") };
        TS_OK
    }
    static GARBAGE: TsReaderTable = TsReaderTable { prepare: Some(prepare), ..NO_READER };
    let error = raw::reader(&GARBAGE).unwrap().prepare().unwrap_err();
    assert!(error.message().starts_with("the reader's state is no UTF-8: "), "{error}");
}

#[test]
fn an_absent_text_stands_for_null() {
    unsafe extern "C" fn nothing(_: *mut TsReader, _: *mut TsText, _: *mut TsError) -> i32 {
        TS_OK
    }
    static ABSENT: TsReaderTable = TsReaderTable { prepare: Some(nothing), ..NO_READER };
    assert_eq!(raw::reader(&ABSENT).unwrap().prepare().unwrap(), Value::Null);
}

#[test]
fn a_status_says_the_kind_even_where_the_error_says_nothing_or_something_else() {
    unsafe extern "C" fn mute(_: *mut TsReader, _: *mut TsError) -> i32 {
        TS_CONNECT
    }
    unsafe extern "C" fn unknown(_: *mut TsReader, _: *mut TsError) -> i32 {
        99
    }
    unsafe extern "C" fn garbled(_: *mut TsReader, error: *mut TsError) -> i32 {
        // SAFETY: the engine gives a place for the error.
        let error = unsafe { &mut *error };
        (error.kind, error.retryable) = (TS_IO, 1);
        (error.message, error.message_len) = (b"caf\xe9".as_ptr(), 4);
        TS_SCHEMA
    }
    static MUTE: TsReaderTable = TsReaderTable { post: Some(mute), ..NO_READER };
    static UNKNOWN: TsReaderTable = TsReaderTable { post: Some(unknown), ..NO_READER };
    static GARBLED: TsReaderTable = TsReaderTable { post: Some(garbled), ..NO_READER };
    let error = |table| -> Error { raw::reader(table).unwrap().post().unwrap_err() };
    const MUTE_MESSAGE: &str = "a connection error, of which the plugin said nothing";
    let mute = error(&MUTE);
    assert_eq!((mute.kind(), mute.message(), mute.is_retryable()), (Kind::Connect, MUTE_MESSAGE, true));
    let unknown = error(&UNKNOWN);
    let message = "an error with the unknown status 99, of which the plugin said nothing";
    assert_eq!((unknown.kind(), unknown.message()), (Kind::Internal, message));
    let garbled = error(&GARBLED);
    assert_eq!((garbled.kind(), garbled.message()), (Kind::Schema, "caf\u{fffd}"));
    assert!(!garbled.is_retryable());
}

#[test]
fn an_item_of_an_unknown_kind_and_a_batch_without_a_schema_are_broken_contracts() {
    unsafe extern "C" fn reserved(
        _: *mut TsReaderTask,
        _: u64,
        kind: *mut i32,
        _: *mut TsBatch,
        _: *mut TsMark,
        _: *mut TsError,
    ) -> i32 {
        // SAFETY: the engine gives a place for the kind.
        unsafe { kind.write(TS_ITEM_SCHEMA) };
        TS_OK
    }
    unsafe extern "C" fn hollow(
        _: *mut TsReaderTask,
        _: u64,
        kind: *mut i32,
        _: *mut TsBatch,
        _: *mut TsMark,
        _: *mut TsError,
    ) -> i32 {
        // SAFETY: the engine gives a place for the kind.
        unsafe { kind.write(TS_ITEM_BATCH) };
        TS_OK
    }
    unsafe extern "C" fn no_schema(_: *mut TsReaderTask, _: *mut FFI_ArrowSchema, _: *mut TsError) -> i32 {
        TS_OK
    }
    unsafe extern "C" fn a_schema(_: *mut TsReaderTask, out: *mut FFI_ArrowSchema, _: *mut TsError) -> i32 {
        // SAFETY: the engine gives a place for the schema.
        unsafe { out.write(FFI_ArrowSchema::try_from(&*schema()).unwrap()) };
        TS_OK
    }
    static RESERVED: TsReaderTaskTable =
        TsReaderTaskTable { next: Some(reserved), prepare: Some(no_schema), ..NO_READER_TASK };
    static HOLLOW: TsReaderTaskTable =
        TsReaderTaskTable { next: Some(hollow), prepare: Some(a_schema), ..NO_READER_TASK };
    let mut task = raw::reader_task(&RESERVED).unwrap();
    let message = "a malformed schema: a part of it was released already, or never made";
    assert_error(task.prepare(), Kind::Internal, message);
    let message = "the reader gave an item of kind 4, which this program does not know";
    assert_error(task.next(Duration::ZERO), Kind::Internal, message);
    let mut task = raw::reader_task(&HOLLOW).unwrap();
    let message = "a batch came before its schema: prepare must be called first";
    assert_error(task.next(Duration::ZERO), Kind::Internal, message);
    task.prepare().unwrap();
    let message = "a malformed batch: its array was released already, or never made";
    assert_error(task.next(Duration::ZERO), Kind::Internal, message);
}

#[test]
fn a_batch_of_other_columns_than_were_told_never_crosses() {
    struct Liar;
    impl Reader for Liar {
        fn splits(&mut self, _: &SplitRequest) -> Result<Vec<Split>> {
            Ok(Vec::new())
        }
        fn open(&mut self, _: &Split, _: &ReadOptions, _: HostRef) -> Result<Box<dyn ReaderTask>> {
            Ok(Box::new(Liar))
        }
    }
    impl ReaderTask for Liar {
        fn prepare(&mut self) -> Result<SchemaRef> {
            Ok(schema())
        }
        fn next(&mut self, _: Duration) -> Result<Item> {
            Ok(Item::Batch(Batch::measured(records(0, 3).project(&[1, 0]).unwrap(), Origin::default())))
        }
    }
    let loaded = in_process!(Plugin::new("liar", "0").reader(&["liar"], "", &[], |_, _| Ok(Box::new(Liar))));
    let mut reader = loaded.reader("liar", &Value::Null, some_host()).unwrap();
    let split = Split::new("", "", Value::Null);
    let mut task = reader.open(&split, &ReadOptions::default(), some_host()).unwrap();
    task.prepare().unwrap();
    assert_error(
        task.next(Duration::ZERO),
        Kind::Internal,
        "a batch has the columns (name Utf8, id Int64) where its schema was said to be (id Int64, name Utf8)",
    );
}

#[test]
fn a_batch_with_too_few_positions_never_crosses() {
    static TAKES: TsWriterTable = TsWriterTable { info: Some(some_info), open: Some(open_writer_task), ..NO_WRITER };
    static TASK: TsWriterTaskTable = TsWriterTaskTable { ..NO_WRITER_TASK };
    raw::writer(&TAKES).unwrap();
    let mut task = raw::writer_task(&TASK).unwrap();
    let origin = Origin { first: 0, positions: Some([1, 2].into()) };
    let message = "a batch of 3 records has 2 positions";
    assert_error(task.write(Batch::measured(records(0, 3), origin)), Kind::Internal, message);
}

// Null pointers into a Rust plugin.

#[test]
fn null_pointers_into_a_plugin_are_errors() {
    struct Any;
    impl Reader for Any {
        fn splits(&mut self, _: &SplitRequest) -> Result<Vec<Split>> {
            Ok(Vec::new())
        }
        fn open(&mut self, _: &Split, _: &ReadOptions, _: HostRef) -> Result<Box<dyn ReaderTask>> {
            Ok(Box::new(Any))
        }
    }
    impl ReaderTask for Any {
        fn prepare(&mut self) -> Result<SchemaRef> {
            Ok(schema())
        }
        fn next(&mut self, _: Duration) -> Result<Item> {
            Ok(Item::Batch(Batch::measured(records(0, 1), Origin::default())))
        }
    }
    static PLUGIN: std::sync::OnceLock<ExportedPlugin> = std::sync::OnceLock::new();
    let make = || Plugin::new("any", "0").reader(&["any"], "", &[], |_, _| Ok(Box::new(Any)));
    let host = crate::ffi::host::ExportedHost::new(some_host());
    let mut plugin = ptr::null();
    // SAFETY: null, or what the header asks for; that null is an error is what is tested.
    unsafe {
        let hand_over = crate::ffi::export::hand_over;
        assert_eq!(kind(hand_over(&PLUGIN, make, TS_ABI_VERSION, ptr::null_mut())), Kind::Internal);
        hand_over(&PLUGIN, make, TS_ABI_VERSION, &mut plugin).unwrap();
        let new = (*plugin).new_reader.unwrap();
        let (null, mut reader, mut task) = (ptr::null_mut(), TsReader::empty(), TsReaderTask::empty());
        let name = "any";
        let (at, len) = (name.as_ptr(), name.len());

        assert_eq!(new(ptr::null(), at, len, ptr::null(), 0, host.table(), &mut reader, null), TS_INTERNAL);
        assert_eq!(new(plugin, ptr::null(), 0, ptr::null(), 0, host.table(), &mut reader, null), TS_UNSUPPORTED);
        assert_eq!(new(plugin, at, len, b"{".as_ptr(), 1, host.table(), &mut reader, null), TS_INTERNAL);
        assert_eq!(new(plugin, at, len, ptr::null(), 0, ptr::null(), &mut reader, null), TS_INTERNAL);
        assert_eq!(new(plugin, at, len, ptr::null(), 0, host.table(), ptr::null_mut(), null), TS_INTERNAL);
        assert_eq!(new(plugin, at, len, ptr::null(), 0, host.table(), &mut reader, null), TS_OK);

        let table = &*reader.table;
        assert_eq!(table.prepare.unwrap()(ptr::null_mut(), ptr::null_mut(), null), TS_INTERNAL);
        assert_eq!(table.prepare.unwrap()(&mut reader, ptr::null_mut(), null), TS_INTERNAL);
        let mut text = TsText::empty();
        assert_eq!(table.splits.unwrap()(&mut reader, ptr::null(), 0, &mut text, null), TS_INTERNAL);
        assert_eq!(table.schema.unwrap()(&mut reader, ptr::null_mut(), null), TS_OK, "there is none to put there");
        let split = r#"{"id":"","label":"","detail":null}"#;
        let options = r#"{"batch_records":1,"batch_bytes":1,"max_record_bytes":1}"#;
        let open = |host, task| {
            let (split, split_len, options, options_len) =
                (split.as_ptr(), split.len(), options.as_ptr(), options.len());
            table.open.unwrap()(
                &mut reader.clone(),
                split,
                split_len,
                options,
                options_len,
                host,
                task,
                ptr::null_mut(),
            )
        };
        assert_eq!(open(ptr::null(), &mut task), TS_INTERNAL);
        assert_eq!(open(host.table(), ptr::null_mut()), TS_INTERNAL);
        assert_eq!(open(host.table(), &mut task), TS_OK);

        let calls = &*task.table;
        assert_eq!(calls.prepare.unwrap()(&mut task, ptr::null_mut(), null), TS_INTERNAL);
        let mut columns = FFI_ArrowSchema::empty();
        assert_eq!(calls.prepare.unwrap()(&mut task, &mut columns, null), TS_OK);
        let (mut found, mut batch, mut mark) = (0, TsBatch::empty(), TsMark::default());
        let next = calls.next.unwrap();
        assert_eq!(next(&mut task, 0, ptr::null_mut(), &mut batch, &mut mark, null), TS_INTERNAL);
        assert_eq!(next(&mut task, 0, &mut found, ptr::null_mut(), &mut mark, null), TS_INTERNAL);
        assert_eq!(next(&mut task, 0, &mut found, &mut batch, ptr::null_mut(), null), TS_INTERNAL);
        batch.size = size_of::<FFI_ArrowArray>();
        assert_eq!(next(&mut task, 0, &mut found, &mut batch, &mut mark, null), TS_INTERNAL, "a batch without a size");
        batch.size = size_of::<TsBatch>();
        assert_eq!(next(&mut task, 0, &mut found, &mut batch, &mut mark, null), TS_OK);
        calls.cancel.unwrap()(ptr::null_mut());
        calls.release.unwrap()(ptr::null_mut());
        calls.release.unwrap()(&mut task);
        table.release.unwrap()(&mut reader);
        assert_eq!(next(&mut task, 0, &mut found, &mut batch, &mut mark, null), TS_INTERNAL, "after its release");
        assert_eq!(table.prepare.unwrap()(&mut reader, &mut text, null), TS_INTERNAL, "after its release");
    }
}

#[test]
fn an_error_without_room_is_left_alone() {
    let mut error = TsError { size: offset_of!(TsError, message), ..TsError::empty() };
    // SAFETY: the error holds nothing.
    let status = unsafe { crate::ffi::guard::put_error(&mut error, Error::config("there is no room for this")) };
    assert_eq!((status, error.kind), (TS_CONFIG, TS_OK));
    assert!(error.message.is_null() && error.release.is_none());
}

#[test]
fn a_mark_of_an_unknown_kind_is_an_error() {
    assert_eq!(kind(Mark::try_from(TsMark { kind: 9, reserved: 0, value: 0 })), Kind::Internal);
}
