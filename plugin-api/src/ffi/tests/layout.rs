//! The header and its mirror agree, as the C compiler sees it: sizes, offsets and numbers. The header is plain C99, and C++.

use std::fmt::Write;
use std::mem::{offset_of, size_of};
use std::path::Path;
use std::process::Command;

use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;

use crate::ffi::abi::*;
use crate::ffi::structure::{RawArray, RawSchema};

/// Asserts, in C, the size of a struct and the offset of each of its members. A member that is not listed does not compile.
macro_rules! same_layout {
    ($assertions:ident, $c:literal, $mirror:ident { $($member:ident),* $(,)? }) => {
        #[expect(dead_code, reason = "only its compilation matters: the pattern has to name every member")]
        fn names_all(mirror: &$mirror) {
            let $mirror { $($member: _),* } = mirror;
        }
        let size = size_of::<$mirror>();
        writeln!($assertions, "_Static_assert(sizeof({0}) == {size}, \"size of {0}\");", $c).unwrap();
        $(
            let (member, offset) = (stringify!($member), offset_of!($mirror, $member));
            writeln!($assertions, "_Static_assert(offsetof({0}, {member}) == {offset}, \"{0}.{member}\");", $c).unwrap();
        )*
    };
}

macro_rules! same_numbers {
    ($assertions:ident, $($name:ident),* $(,)?) => {
        $(writeln!($assertions, "_Static_assert({0} == {1}, \"{0}\");", stringify!($name), $name).unwrap();)*
    };
}

fn assertions() -> String {
    let mut c = String::from("#include \"transship.h\"\n");
    {
        same_layout!(
            c,
            "struct ArrowArray",
            RawArray {
                length,
                null_count,
                offset,
                n_buffers,
                n_children,
                buffers,
                children,
                dictionary,
                release,
                private_data,
            }
        );
    }
    {
        same_layout!(
            c,
            "struct ArrowSchema",
            RawSchema { format, name, metadata, flags, n_children, children, dictionary, release, private_data }
        );
    }
    {
        same_layout!(c, "ts_text", TsText { data, len, release, private_data });
    }
    {
        same_layout!(c, "ts_error", TsError { size, kind, retryable, message, message_len, release, private_data });
    }
    {
        same_layout!(c, "ts_batch", TsBatch { size, array, n_bytes, first, positions, resume, resume_len, read_share });
    }
    {
        same_layout!(c, "ts_mark", TsMark { kind, reserved, value });
    }
    {
        same_layout!(
            c,
            "ts_dirty",
            TsDirty {
                size,
                has_position,
                reserved,
                position,
                column,
                column_len,
                value,
                value_len,
                cause,
                cause_len,
                record,
                record_len,
                place,
                place_len,
            }
        );
    }
    {
        same_layout!(
            c,
            "ts_host",
            TsHost {
                size,
                data,
                log_level,
                reserved,
                log,
                dirty,
                is_cancelled,
                retain,
                release,
                get_extension,
                started,
                doing,
            }
        );
    }
    {
        same_layout!(c, "ts_reader", TsReader { table, data });
    }
    {
        same_layout!(c, "ts_reader_task", TsReaderTask { table, data });
    }
    {
        same_layout!(c, "ts_listing", TsListing { table, data });
    }
    {
        same_layout!(c, "ts_writer", TsWriter { table, data });
    }
    {
        same_layout!(c, "ts_writer_task", TsWriterTask { table, data });
    }
    {
        same_layout!(c, "ts_lookup", TsLookup { table, data });
    }
    {
        same_layout!(c, "ts_lookup_plugin", TsLookupPlugin { size, new_lookup });
    }
    {
        same_layout!(c, "ts_lookup_table", TsLookupTable { size, prepare, start, cancel, release });
    }
    {
        same_layout!(c, "ts_lookup_host", TsLookupHost { size, complete, fail, is_wanted });
    }
    {
        same_layout!(c, "ts_found", TsFound { size, rows, key_of_row, failed, n_failed });
    }
    {
        same_layout!(c, "ts_failed_key", TsFailedKey { key, kind, retryable, reserved, message, message_len });
    }
    {
        same_layout!(c, "ts_transformer", TsTransformer { table, data });
    }
    {
        same_layout!(
            c,
            "ts_plugin",
            TsPlugin {
                size,
                abi_version,
                reserved,
                description,
                description_len,
                new_reader,
                new_writer,
                new_transformer,
                get_extension,
            }
        );
    }
    {
        same_layout!(
            c,
            "ts_reader_table",
            TsReaderTable { size, prepare, attach, schema, splits, open, post, release, listing }
        );
    }
    {
        same_layout!(c, "ts_listing_table", TsListingTable { size, splits, release });
    }
    {
        same_layout!(c, "ts_reader_task_table", TsReaderTaskTable { size, prepare, next, ack, post, cancel, release });
    }
    {
        same_layout!(
            c,
            "ts_writer_table",
            TsWriterTable { size, info, plan, prepare, attach, open, commit, abort, post, release }
        );
    }
    {
        same_layout!(
            c,
            "ts_writer_task_table",
            TsWriterTaskTable { size, prepare, write, mark, flush, checkpoint, commit, abort, cancel, release }
        );
    }
    {
        same_layout!(c, "ts_transformer_table", TsTransformerTable { size, schema, push, flush, pull, release });
    }
    same_numbers!(
        c,
        TS_ABI_VERSION,
        TS_OK,
        TS_CONFIG,
        TS_CONNECT,
        TS_IO,
        TS_SCHEMA,
        TS_DATA,
        TS_UNSUPPORTED,
        TS_CANCELLED,
        TS_INTERNAL,
        TS_LOG_OFF,
        TS_LOG_ERROR,
        TS_LOG_WARN,
        TS_LOG_INFO,
        TS_LOG_DEBUG,
        TS_LOG_TRACE,
        TS_ITEM_END,
        TS_ITEM_BATCH,
        TS_ITEM_MARK,
        TS_ITEM_IDLE,
        TS_ITEM_SCHEMA,
        TS_MARK_WATERMARK,
        TS_MARK_FLUSH,
        TS_MARK_EPOCH,
    );
    c
}

/// Compiles a source without making anything of it.
#[track_caller]
fn compiles(compiler: &str, flags: &[&str], file: &str, source: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    std::fs::write(&path, source).unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let output = Command::new(compiler)
        .args(flags)
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I"])
        .args([&include, &path])
        .output()
        .unwrap_or_else(|error| panic!("{compiler} is needed for this test: {error}"));
    assert!(output.status.success(), "{}\n{source}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn header_and_mirror_have_the_same_layout() {
    assert_eq!(size_of::<FFI_ArrowArray>(), size_of::<RawArray>());
    assert_eq!(size_of::<FFI_ArrowSchema>(), size_of::<RawSchema>());
    compiles("cc", &["-std=c11"], "layout.c", &assertions());
}

#[test]
fn the_header_is_plain_c99_alone_and_after_the_arrow_structs() {
    compiles("cc", &["-std=c99"], "alone.c", "#include \"transship.h\"\n");
    let guarded = "#define ARROW_C_DATA_INTERFACE\nstruct ArrowSchema { void (*release)(struct ArrowSchema *); };\n\
                   struct ArrowArray { void (*release)(struct ArrowArray *); };\n#include \"transship.h\"\n";
    compiles("cc", &["-std=c99"], "guarded.c", guarded);
}

#[test]
fn the_header_says_whether_a_table_has_a_member() {
    let source = "#include \"transship.h\"\n\
                  int has(const ts_host *host) { return TS_HAS(host, get_extension) && host->get_extension != 0; }\n";
    compiles("cc", &["-std=c99"], "has.c", source);
}

#[test]
fn the_header_is_also_cplusplus() {
    compiles("c++", &[], "header.cpp", "#include \"transship.h\"\nint main() { return TS_OK; }\n");
}
