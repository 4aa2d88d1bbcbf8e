/*
 * transship.h: what a transship plugin and the program that loads it promise each other. Version 1.
 *
 * A plugin is a shared library that exports one symbol, transship_plugin_init. Through it the program ("the engine") gets
 * a table of functions that make readers, writers and transformers. Records travel as Arrow arrays, by the Arrow C data
 * interface; everything else as UTF-8 JSON, numbers and opaque pointers. This file is all that an author needs:
 * examples/minimal.c is a whole plugin. Authors in Rust use the crate transship-plugin-api and never see any of this.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *
 * 1. Rules that hold for every function
 * -------------------------------------
 *
 * Status.      A function that can fail returns an int32_t: TS_OK (0), or one of the TS_ kinds of error. Its last parameter
 *              is a ts_error for the details. The engine always passes one. A callee may leave it untouched; the kind is
 *              then all that is known.
 *
 * In, out.     Out parameters are never null. The caller sets them to zero before the call, but for a first member `size`,
 *              which it sets to the sizeof of the struct as it knows it. After TS_OK they hold what the function says of
 *              them. After a failed call the caller ignores them, but releases every ArrowArray, ArrowSchema, ts_text and
 *              ts_error in them whose `release` is not null. A handle (ts_reader...) is ignored then: nothing was made.
 *
 * Texts.       A text is a pointer and a length in bytes, UTF-8, not terminated by a zero byte. A null pointer is a text
 *              that is absent, whatever the length. Texts and structs that a caller passes in are lent for the call: a
 *              callee copies what it keeps. Texts that a callee returns come as a ts_text and are released by the caller;
 *              what a ts_batch lends is said there.
 *
 * JSON.        Where a text is JSON, its shape is given here. Members that are not known are ignored; new ones may be added
 *              in later revisions. Where a plugin returns JSON and has nothing to say, an absent or empty text is `null`.
 *              No JSON that a plugin returns may hold a secret: splits, states and reports are printed, stored and sent
 *              to other processes.
 *
 * Memory.      Whoever allocates also frees; the other side calls a `release`. The two sides may use different heaps.
 *
 * Moving.      An ArrowArray or ArrowSchema is moved by copying the struct and setting `release` of the one left behind to
 *              null. A parameter of type `struct ArrowSchema *`, `struct ArrowArray *`, `ts_batch *` or `ts_found *` that
 *              goes in is an offer: the callee may move the schema or the array, or the array in the struct, and owns it
 *              then, also if the call fails in the end. What it does not move the caller releases after the call.
 *
 * Threads.     [any]   at any time, from any thread, several at once.
 *              [job]   one call at a time for one reader, writer or transformer, though not always from the same thread.
 *              [task]  one call at a time for one task, though not always from the same thread. Several tasks run at the
 *                      same time, and their reader or writer is called meanwhile: what they share needs a lock.
 *              [list]  as [task], for one listing of a reader: beside other listings, the reader and its tasks.
 *              Memory that was written in one call is visible in the next (the engine synchronises between them).
 *
 * Leaving.     No exception and no longjmp may leave a function, on either side. A plugin does not call exit or abort, sets
 *              no signal handlers, and writes nothing to stdout or stderr: it has a log.
 *
 * Unloading.   A library is never unloaded. Its threads may run, and its arrays be used, until the process ends, which may
 *              come without a release of what is still alive.
 *
 *
 * 2. Versions
 * -----------
 *
 * TS_ABI_VERSION changes when an old plugin and a new engine, or the reverse, cannot work together. Both sides name theirs,
 * and the load fails with both in the message if they differ. In every version transship_plugin_init has this signature,
 * and ts_plugin begins with `size` and `abi_version`.
 *
 * Within a version, tables and structs that begin with `size` grow at the end, and nowhere else. Who allocates one sets
 * `size`. Who reads one uses a member only if offsetof(member) + sizeof(member) <= size, and a function only if it is
 * also not null. TS_HAS says both. A function that is null is a power that the object does not have; each function below
 * says what is done without it. Structs without `size` never change. All members of ts_host up to `started` are there.
 *
 * Powers that few plugins have are extensions: tables that either side asks the other for by name and revision, with
 * get_extension. Names that begin with "transship." are reserved. There is one: "transship.lookup/1", at the end of this
 * file. Reserved for what is being made: TS_ITEM_SCHEMA (the schema changes in mid-stream).
 *
 *
 * 3. Arrow, and where it is easy to go wrong
 * ------------------------------------------
 *
 * A schema is an ArrowSchema of format "+s" with a child for each column; a batch is a struct ArrowArray with a child for
 * each column, in the same order. The schema crosses once, before the first batch, and every batch has to agree with it.
 *
 *   - A validity bitmap has a set bit for each value that is there, lowest bit first: row i is bit (i % 8) of byte (i / 8).
 *     Without nulls the bitmap may be a null pointer, but it keeps its place in `buffers`.
 *   - The struct array has a validity buffer of its own: n_buffers is 1, buffers[0] is a null pointer. A record is never
 *     null itself.
 *   - Strings and lists have length + 1 offsets, also when length is 0. The first need not be 0. Offsets never decrease,
 *     not even over a null, whose value may be empty or garbage: look at the bitmap first, always.
 *   - `offset` counts rows, in every buffer, and adds up: row i of a column is at child->offset + struct->offset + i. A
 *     child has at least struct->offset + struct->length rows; it may have more.
 *   - null_count may be -1: not counted. If it is 0 the bitmap need not be looked at.
 *   - Buffers are aligned to 8 bytes at least; 64 are better. 16-byte decimals may come aligned to 8.
 *   - Booleans are bits, like the bitmap.
 *   - Children are released by their parent's release, not by the consumer. A consumer may move a child out (and set the
 *     child's release to null), so a parent's release calls a child's only if it is not null. Children need a release.
 *   - A release sets its struct's `release` to null, frees what private_data owns, and may be called from any thread,
 *     after the task and the reader that made the array were released. Never call it twice, nor read after it.
 *   - Buffers are immutable once an array has been handed over, and may be shared: a writer does not scribble in them.
 *
 * The engine checks the structure of arrays that it looks into, and with plugins that it was told not to trust every value.
 * It cannot check that a buffer is as long as the numbers say.
 *
 * Types keep their meaning from reader to writer: an exact decimal is "d:precision,scale", not a double; a time stamp that
 * names an instant has a zone ("tsu:UTC"), one that does not has none ("tsu:"); text is UTF-8 ("u"). Metadata of a field,
 * key "ARROW:extension:name", says more about it: "arrow.json" and "arrow.uuid" are JSON text and 16-byte UUIDs, and
 * "transship.number" is number text without a fixed scale. A writer that cannot store a type says so at `open`, with
 * TS_SCHEMA and the column's name; a value that it cannot store is a dirty record.
 */
#ifndef TRANSSHIP_H
#define TRANSSHIP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The two structs of the Arrow C data interface, as its specification gives them. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    /* Array type description */
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;

    /* Release callback */
    void (*release)(struct ArrowSchema *);
    /* Opaque producer-specific data */
    void *private_data;
};

struct ArrowArray {
    /* Array data description */
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;

    /* Release callback */
    void (*release)(struct ArrowArray *);
    /* Opaque producer-specific data */
    void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#define TS_ABI_VERSION 1u

/* Whether a table or struct (by pointer) has a member that may be read. For functions: TS_HAS(t, f) && (t)->f. */
#define TS_HAS(pointer, member) \
    ((pointer)->size >= (size_t)((const char *)&(pointer)->member - (const char *)(pointer)) + sizeof((pointer)->member))

/* Puts before a definition what makes it visible in a library that hides its symbols. */
#if defined(_WIN32)
#define TS_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define TS_EXPORT __attribute__((visibility("default")))
#else
#define TS_EXPORT
#endif

/* What a call came to. */
enum {
    TS_OK = 0,
    TS_CONFIG = 1,      /* a parameter is missing, misspelt or impossible: the person has to change the job file */
    TS_CONNECT = 2,     /* the system could not be reached, or refused the credentials */
    TS_IO = 3,          /* reading or writing failed: a file, a socket, a full disk */
    TS_SCHEMA = 4,      /* a table, column or type is not what was expected */
    TS_DATA = 5,        /* a value cannot be read, converted or stored */
    TS_UNSUPPORTED = 6, /* the plugin cannot do what was asked */
    TS_CANCELLED = 7,   /* the work was given up because the engine asked for it, or too many records were dirty */
    TS_INTERNAL = 8     /* a bug: a broken invariant, a violated contract; any other number is taken for this one */
};

/* Levels of the log, each including those before it. */
enum { TS_LOG_OFF = 0, TS_LOG_ERROR = 1, TS_LOG_WARN = 2, TS_LOG_INFO = 3, TS_LOG_DEBUG = 4, TS_LOG_TRACE = 5 };

/* What next and pull have found. */
enum {
    TS_ITEM_END = 0,   /* there will be nothing more (of pull: nothing more now) */
    TS_ITEM_BATCH = 1, /* a batch */
    TS_ITEM_MARK = 2,  /* a mark */
    TS_ITEM_IDLE = 3,  /* nothing yet: ask again */
    TS_ITEM_SCHEMA = 4 /* reserved */
};

/* Kinds of marks. A mark keeps its place among the batches, from the reader to the writer. */
enum {
    TS_MARK_WATERMARK = 1, /* no record with an event time before `value` (microseconds since 1970 UTC) will follow */
    TS_MARK_FLUSH = 2,     /* what came so far should become visible at the target soon */
    TS_MARK_EPOCH = 3      /* the epoch with the number `value` ends; only the engine makes these */
};

/*
 * A text that is handed over. `release` may be null if there is nothing to free (a string literal). Otherwise the receiver
 * calls it once, from any thread; it sets `release` to null, and called again with that it does nothing.
 */
typedef struct ts_text {
    const char *data;
    size_t len;
    void (*release)(struct ts_text *text);
    void *private_data;
} ts_text;

/*
 * What went wrong. The callee fills it in when it returns anything but TS_OK, and only then; it writes no member beyond
 * `size`. The message says what is wrong, where, and what to try: lower case, no full stop, the offending value in it, and
 * never a secret. It reaches people as it is. `release` as in ts_text.
 */
typedef struct ts_error {
    size_t size;
    int32_t kind;      /* the status again */
    int32_t retryable; /* 1: the same work may succeed if it is tried again; 0: it will not */
    const char *message;
    size_t message_len;
    void (*release)(struct ts_error *error);
    void *private_data;
} ts_error;

/*
 * Records, and where they came from.
 *
 * The array is owned; see "Moving" above. `positions` and `resume` are lent. In a batch that goes in (write, push), until
 * the call returns. In a batch that comes out (next, pull), until the next call on the same object, cancel excepted: a
 * reader keeps them where it likes and need not free them one by one.
 */
typedef struct ts_batch {
    size_t size;
    struct ArrowArray array;
    uint64_t n_bytes;          /* the size of the records, counted by who builds the batch; see below */
    uint64_t first;            /* the place of the first record in its split, in the split's unit (a line, a record) */
    const uint64_t *positions; /* the place of each record, array.length of them; null: first, first + 1, first + 2... */
    const char *resume;        /* JSON of the reader's own: where to go on after this batch (see read options); may be null */
    size_t resume_len;
    double read_share;         /* from next: how much of the split is read with this batch, up to 1; 0: not told; see below */
} ts_batch;
/*
 * n_bytes need not be exact: it is what capacities, limits and rates count. Good is the payload of the columns: the width
 * of fixed values, the bytes and offsets of the others. Transformers and writers keep first and positions with the records,
 * so that a record which the target refuses can be found in the source.
 *
 * read_share is for progress: an estimate will do, and a reader that tells its splits' bytes or records need not give it, but
 * where it knows better (the place in a file, in a range of keys). A library built with an older header has no such member.
 */

/* A mark. `reserved` is 0. */
typedef struct ts_mark {
    int32_t kind; /* TS_MARK_... */
    int32_t reserved;
    int64_t value;
} ts_mark;

/* A record that cannot be read, converted or stored, and why. Every text but `cause` may be null. */
typedef struct ts_dirty {
    size_t size;
    int32_t has_position; /* whether `position` is set */
    int32_t reserved;
    uint64_t position; /* its place in the source, in the split's unit */
    const char *column; /* the name of the column at fault */
    size_t column_len;
    const char *value; /* the value at fault, as text */
    size_t value_len;
    const char *cause; /* what is wrong with it */
    size_t cause_len;
    const char *record; /* the whole record: a JSON object of column name to value, or a JSON string with the raw text */
    size_t record_len;
    const char *place; /* more about the place, a JSON object: the byte offset in a file, a key */
    size_t place_len;
} ts_dirty;

/*
 * The engine, as a plugin sees it. Each object gets a host of its own: the engine knows by it which job or task speaks. A
 * host lives until the release of the object that it was passed for returns, the one of transship_plugin_init until that
 * returns. Who needs it longer (a log, a thread of its own) retains it.
 *
 * All functions are [any]. Texts that are not UTF-8 are repaired with replacement characters, here and nowhere else.
 */
typedef struct ts_host {
    size_t size;
    void *data;        /* the engine's */
    int32_t log_level; /* TS_LOG_...: what is more detailed need not be formatted, for nobody hears it */
    int32_t reserved;
    /* Takes a log record. `target` says where in the plugin it comes from; the message has no line end. */
    void (*log)(const struct ts_host *host, int32_t level, const char *target, size_t target_len, const char *message,
                size_t message_len);
    /*
     * Takes a dirty record. It is counted and kept, and the work goes on without it. TS_CANCELLED when there are too many:
     * return that from the call at hand, with the error as it is. (Pass the `error` that the engine gave for that call.)
     */
    int32_t (*dirty)(const struct ts_host *host, const ts_dirty *record, ts_error *error);
    /* 1 when the work should be given up, else 0. Ask it in every loop that can last, and return TS_CANCELLED. */
    int32_t (*is_cancelled)(const struct ts_host *host);
    /* Keeps the host alive until release has been called as often as retain. */
    void (*retain)(const struct ts_host *host);
    void (*release)(const struct ts_host *host);
    /* The table of an extension of the engine, valid as long as the host; null if it has none with this id. */
    const void *(*get_extension)(const struct ts_host *host, const char *id, size_t id_len);
    /*
     * [task] Tells when a writer began its work on records of the batch that it was given last: `moments`, in microseconds since
     * 1970-01-01 UTC, are those of the rows `first_row` to `first_row + count - 1`. From them the engine knows how long each record
     * waited. A writer that handles all records of a batch at once need not tell it.
     */
    void (*started)(const struct ts_host *host, uint64_t first_row, const uint64_t *moments, size_t count);
    /*
     * Tells what the calling thread is about to wait for: a statement, a request. It is shown to a person if that lasts, and in perf
     * records; it counts until the next one. No secrets. An older engine has no such member: see TS_HAS.
     */
    void (*doing)(const struct ts_host *host, const char *what, size_t what_len);
} ts_host;

/*
 * Handles. An object is a table of functions and a pointer of the plugin's own. The plugin fills in both when it makes the
 * object; the table is constant and stays where it is until the process ends, and many objects share it. Every function
 * gets a pointer to the handle. The struct may lie at another address in each call, so its address means nothing. Only
 * release writes to it.
 */
typedef struct ts_reader {
    const struct ts_reader_table *table;
    void *data;
} ts_reader;

typedef struct ts_reader_task {
    const struct ts_reader_task_table *table;
    void *data;
} ts_reader_task;

typedef struct ts_listing {
    const struct ts_listing_table *table;
    void *data;
} ts_listing;

typedef struct ts_writer {
    const struct ts_writer_table *table;
    void *data;
} ts_writer;

typedef struct ts_writer_task {
    const struct ts_writer_task_table *table;
    void *data;
} ts_writer_task;

typedef struct ts_transformer {
    const struct ts_transformer_table *table;
    void *data;
} ts_transformer;

/*
 * In each of the tables below:
 *
 * release  [job], [task] or [list]  Frees the object, whatever state it is in; it cannot fail, and it sets `data` to null. On a
 *          handle whose `data` is null it does nothing. No call on the object is under way, and none follows. Null:
 *          there is nothing to free. A reader or writer is released after all its tasks and listings.
 *
 * After a call on an object has failed (TS_CANCELLED is no exception), the engine makes no further call on it but abort,
 * where there is one, cancel and release. A failed open is the failure of that task alone. Other objects are not affected by
 * a failure, nor are the reader and writer of a task that failed: the engine may open another task for the same split.
 */

/*
 * A source, opened for one job. Order of calls: prepare, schema, then splits or listing and open in any mix, then post. In another
 * process of the same run attach stands in for prepare. `transship check` makes a reader and releases it again.
 */
typedef struct ts_reader_table {
    size_t size;
    /*
     * [job] Connects, and checks what can be checked before data moves. `state`: any JSON, for attach. Null: nothing to
     * prepare, and the state is null.
     */
    int32_t (*prepare)(ts_reader *reader, ts_text *state, ts_error *error);
    /* [job] Takes up what prepare returned in another process. Null: nothing to take up. */
    int32_t (*attach)(ts_reader *reader, const char *state, size_t state_len, ts_error *error);
    /*
     * [job] The schema that all splits share, if it is known before one is opened: a writer may need it to make a table.
     * If it is not known, return TS_OK and leave `schema` as it is. Null: not known.
     */
    int32_t (*schema)(ts_reader *reader, struct ArrowSchema *schema, ts_error *error);
    /*
     * [job] The next few splits. It is called again until it returns an empty list, as fast as tasks start. It changes
     * nothing at the source. Required.
     *
     * `request`: {"channels": 4, "max": 16}
     *     channels: how many tasks run at once (make several times as many splits of a large source)
     *     max: how many splits to return at most (at least 1)
     * `splits`: a list of
     *     {"id": "orders.csv/0", "label": "orders.csv, bytes 0 to 67108864", "unit": "line",
     *      "bytes": 67108864, "records": 500000, "limit": {"name": "db://host:1234", "open": 2}, "detail": {...}}
     *     id: names the split in its job, the same in every run over the same source
     *     label: what people call it
     *     unit: what positions of its records count; may be left out: "record"
     *     bytes, records: its size, if known or estimated; may be left out
     *     limit: of the splits that name this one, at most so many are open at once, over all jobs of a run; may be left out
     *     detail: any JSON, all that the reader needs to find it again
     */
    int32_t (*splits)(ts_reader *reader, const char *request, size_t request_len, ts_text *splits, ts_error *error);
    /*
     * [job] Makes the task that reads a split. It must be quick: connecting and opening belong into the task's prepare.
     * `host` is the task's. Required.
     *
     * `split`: one of those that splits returned, maybe in another process
     * `options`: {"batch_records": 8192, "batch_bytes": 2097152, "max_record_bytes": 268435456, "position": null}
     *     batch_records, batch_bytes: send a batch when it has this many records or about this many bytes
     *     max_record_bytes: a record of more bytes is dirty
     *     position: `resume` of the last batch that is safe at the target: go on after it; null: from the start
     */
    int32_t (*open)(ts_reader *reader, const char *split, size_t split_len, const char *options, size_t options_len,
                    const ts_host *host, ts_reader_task *task, ts_error *error);
    /* [job] Runs after the target is committed; not called when the job failed. Null: nothing to do. */
    int32_t (*post)(ts_reader *reader, ts_error *error);
    void (*release)(ts_reader *reader);
    /*
     * [job] The next part of the source that can be listed by itself: a folder, a table. It must be quick, as open must: what
     * takes time belongs into the listing's splits. Each part is given once. If there are no more, return TS_OK and leave
     * `listing` as it is; it is not called again then. The engine lists several parts at once, begins with another one only
     * when it needs more splits, and calls splits above only if there was no part at all. Null: there are no such parts.
     *
     * `request`: as in splits
     */
    int32_t (*listing)(ts_reader *reader, const char *request, size_t request_len, ts_listing *listing, ts_error *error);
} ts_reader_table;

/*
 * A part of a source whose splits are looked for by themselves. It may be released before its end. There is no host of its own:
 * the reader's tells whether the job is given up.
 */
typedef struct ts_listing_table {
    size_t size;
    /*
     * [list] The next few splits of this part, as soon as there are some. It is called again until it returns an empty list. It
     * changes nothing at the source. `request` and `splits` as in splits of the reader. Required.
     */
    int32_t (*splits)(ts_listing *listing, const char *request, size_t request_len, ts_text *splits, ts_error *error);
    void (*release)(ts_listing *listing);
} ts_listing_table;

/* One attempt at reading one split. Order of calls: prepare, next until TS_ITEM_END, post; ack after any next. */
typedef struct ts_reader_task_table {
    size_t size;
    /* [task] Opens the split and tells the schema of all batches that follow. Required. */
    int32_t (*prepare)(ts_reader_task *task, struct ArrowSchema *schema, ts_error *error);
    /*
     * [task] The next item. If the source has nothing to give, wait at most `timeout_micros` microseconds, then answer
     * TS_ITEM_IDLE. `kind` is always set. TS_ITEM_BATCH: `batch` is filled in. TS_ITEM_MARK: `mark` is. Required.
     */
    int32_t (*next)(ts_reader_task *task, uint64_t timeout_micros, int32_t *kind, ts_batch *batch, ts_mark *mark,
                    ts_error *error);
    /*
     * [task] Everything up to `position` (the `resume` of a batch) is safe at the target: the source may forget it. Null:
     * the source has no use for it.
     */
    int32_t (*ack)(ts_reader_task *task, const char *position, size_t position_len, ts_error *error);
    /* [task] Runs after the last item; not called when the attempt failed. Null: nothing to do. */
    int32_t (*post)(ts_reader_task *task, ts_error *error);
    /*
     * The one function that may be called while another call on the same task is under way: from another thread, at any
     * time between open and release, more than once. It asks that call, and those that follow, to return TS_CANCELLED
     * soon, and itself returns at once. Null: the task asks host->is_cancelled often enough.
     */
    void (*cancel)(ts_reader_task *task);
    void (*release)(ts_reader_task *task);
} ts_reader_task_table;

/*
 * A target, opened for one job. Order of calls: info, plan at any time after it, prepare, open for each attempt, then commit
 * or abort, then post. In another process of the same run attach stands in for prepare. Only prepare and what follows it
 * may change the target: `transship check` and `transship plan` call nothing else.
 */
typedef struct ts_writer_table {
    size_t size;
    /*
     * [job] What the engine must know of the target; it does not touch it. Always the same answer. Required.
     *
     * `info`: {"commit": "task", "max_open_tasks": 0, "target": "sqlite:/data/shop.db", "idempotent": false}
     *     commit: when records become visible: "atomic", at the job's commit; "task", at each task's; "append", as written
     *     max_open_tasks: how many tasks may be open at once for this target, over all jobs of a run; 0 or left out:
     *         any number
     *     target: names the target, so that jobs with the same one share that limit
     *     idempotent: whether writing the same records again leaves the target as it was (an upsert, a replace); false if
     *         left out
     */
    int32_t (*info)(ts_writer *writer, ts_text *info, ts_error *error);
    /* [job] What it will do to the target, for people: a JSON list of strings, one line each. Null: nothing to tell. */
    int32_t (*plan)(ts_writer *writer, ts_text *plan, ts_error *error);
    /*
     * [job] Connects, checks, and makes the target ready. `schema` is an offer; null if it is not known before a split is
     * opened. `state`: any JSON, for attach. Null: nothing to prepare, and the state is null.
     *
     * `run`: {"id": "5c4f...", "job": "orders.json"}
     *     id: a UUID, new for every run
     *     job: the job's name, for names and comments at the target
     */
    int32_t (*prepare)(ts_writer *writer, const char *run, size_t run_len, struct ArrowSchema *schema, ts_text *state,
                       ts_error *error);
    /* [job] Takes up what prepare returned in another process. Null: nothing to take up. */
    int32_t (*attach)(ts_writer *writer, const char *state, size_t state_len, ts_error *error);
    /*
     * [job] Makes the task that writes records of `schema` (an offer, never null). It must be quick: connecting and
     * creating belong into the task's prepare. `host` is the task's. Required.
     *
     * `task`: {"run": "5c4f...", "task": "9be0...", "attempt": "77a1...", "number": 1}
     *     run: the run's id
     *     task: the task's id, the same in every attempt and run over the same splits of this run
     *     attempt: a UUID, new for every attempt
     *     number: which attempt it is, from 1
     */
    int32_t (*open)(ts_writer *writer, const char *task, size_t task_len, struct ArrowSchema *schema, const ts_host *host,
                    ts_writer_task *out, ts_error *error);
    /*
     * [job] Makes visible what the tasks wrote. Called again with the same reports it does nothing more. Null: nothing to
     * do.
     *
     * `reports`: a list of the reports of the tasks, exactly one for each, that of the attempt that counts
     */
    int32_t (*commit)(ts_writer *writer, const char *reports, size_t reports_len, ts_error *error);
    /*
     * [job] Removes what can be removed of a job that failed, given the reports of the tasks that had committed. It may
     * follow a prepare or commit that failed. Called again it does nothing more. Null: nothing can be removed.
     */
    int32_t (*abort)(ts_writer *writer, const char *reports, size_t reports_len, ts_error *error);
    /* [job] Runs after commit; not called when the job failed. Null: nothing to do. */
    int32_t (*post)(ts_writer *writer, ts_error *error);
    void (*release)(ts_writer *writer);
} ts_writer_table;

/* One attempt at writing. Order of calls: prepare, then write, mark and flush in any order, then commit or abort. */
typedef struct ts_writer_task_table {
    size_t size;
    /* [task] Connects and opens what this attempt writes to. Null: nothing to do. */
    int32_t (*prepare)(ts_writer_task *task, ts_error *error);
    /*
     * [task] Takes a batch (an offer). A record that the target does not accept goes to host->dirty, and the rest of the
     * batch is written. Required.
     */
    int32_t (*write)(ts_writer_task *task, ts_batch *batch, ts_error *error);
    /* [task] Takes note of a mark between two batches. Null: marks mean nothing to it. */
    int32_t (*mark)(ts_writer_task *task, const ts_mark *mark, ts_error *error);
    /* [task] When it returns, all that was written is durable, or handed over to the target. Required. */
    int32_t (*flush)(ts_writer_task *task, ts_error *error);
    /*
     * [task] Ends an epoch: what was written since the last checkpoint is safe. `report` as in commit, of this epoch alone;
     * `null` if there are no checkpoints. Null: there are none.
     */
    int32_t (*checkpoint)(ts_writer_task *task, uint64_t epoch, ts_text *report, ts_error *error);
    /*
     * [task] Finishes the attempt. If it fails, abort follows. Required. An error that is retryable says that surely
     * nothing was committed: with the class "task" only then another attempt is made.
     *
     * `report`: {"written": 500000, "bytes": 67108864, "detail": {...}}
     *     written: how many records the target accepted: dirty ones are not among them
     *     duplicates: how many it had already, where the job says to leave such records out; may be left out
     *     bytes: how many bytes went to the target; 0 or left out: the engine takes the sum of n_bytes
     *     detail: any JSON, what the writer's commit and abort need; may be left out
     */
    int32_t (*commit)(ts_writer_task *task, ts_text *report, ts_error *error);
    /*
     * [task] Removes what this attempt left at the target, as far as its commit class allows. Called again it does nothing
     * more. With the class "atomic" it may follow a commit, if the engine refuses the report of it. Null: nothing can be
     * removed.
     */
    int32_t (*abort)(ts_writer_task *task, ts_error *error);
    /* As cancel of ts_reader_task. */
    void (*cancel)(ts_writer_task *task);
    void (*release)(ts_writer_task *task);
} ts_writer_task_table;

/*
 * What stands between reader and writer: it changes, drops, holds or adds records. Order of calls: schema, then push for
 * each batch, with pull after each until TS_ITEM_END; flush before a mark and at the end of the input, with pull likewise.
 */
typedef struct ts_transformer_table {
    size_t size;
    /* [job] The schema that comes out, given the one that goes in (an offer). Required. */
    int32_t (*schema)(ts_transformer *transformer, struct ArrowSchema *input, struct ArrowSchema *output, ts_error *error);
    /* [job] Takes a batch (an offer). Required. */
    int32_t (*push)(ts_transformer *transformer, ts_batch *batch, ts_error *error);
    /* [job] Makes everything ready that was held back. Required. */
    int32_t (*flush)(ts_transformer *transformer, ts_error *error);
    /* [job] The next batch that is ready: TS_ITEM_BATCH, or TS_ITEM_END when there is none now. Required. */
    int32_t (*pull)(ts_transformer *transformer, int32_t *kind, ts_batch *batch, ts_error *error);
    void (*release)(ts_transformer *transformer);
} ts_transformer_table;

/*
 * A plugin. The table and its description stay where they are until the process ends, and do not change.
 *
 * new_reader, new_writer, new_transformer  [any]  Makes an object from its `parameter` object in the job file. It checks
 *          the parameters (TS_CONFIG, with the key in the message) and touches neither network nor target. `name` is the
 *          name or alias that the job uses, one of those in the description. `host` is the object's. Null: the plugin has
 *          no such objects.
 *          Where the job file has an object `common` beside `job`, it is in the parameter object under the key `common`
 *          (unless a plugin's own parameter has that name). What matters in it is `common.column`: how dates become text
 *          and text becomes dates, in all columns that say nothing else:
 *              datetimeFormat, dateFormat, timeFormat: patterns in the letters of Java's SimpleDateFormat. A written one is
 *                  followed to the letter; else yyyy-MM-dd HH:mm:ss, yyyy-MM-dd and HH:mm:ss, and a fraction where there
 *                  is one
 *              extraFormats: more patterns for reading; they replace the default list ["yyyyMMdd"] item by item
 *              timeZone: "GMT+8", "Asia/Shanghai": by whose clock instants are written. A time stamp that has no zone is
 *                  never shifted
 *              encoding: of texts that become bytes, and bytes that become text; else UTF-8
 *
 * description: {"name": "minimal", "version": "1.0.0", "readers": [COMPONENT...], "writers": [...], "transformers": [...],
 *               "lookups": [...]}
 *     name: that of the library, which lies in the file libtransship_NAME.so (or .dylib, or transship_NAME.dll)
 *     version: the plugin's own, not that of this contract
 *     readers, writers, transformers, lookups: may be left out
 *     urls: how the URLs of its system begin, ["jdbc:sqlite:"]; where several plugins have a component of one name
 *         ("rdbmsreader"), the URL among the job's parameters says which is meant; may be left out
 *     COMPONENT: {"names": ["minimalreader"], "about": "Counts.", "parameters": [PARAMETER...]}
 *         names: its name in job files, then its aliases
 *         about: what it does, in one sentence; may be left out
 *         parameters: what it knows; the engine warns of others; may be left out
 *     PARAMETER: {"name": "records", "takes": "integer", "required": true, "default": "", "about": "How many."}
 *         name: its key; of an object inside, with the path: "connection[].jdbcUrl"
 *         takes: what a value may be, for people and for the engine's check of job files: one of the words below, or several
 *             with a comma or "or" between. Of other words the engine knows no meaning, and any value passes.
 *             string: numbers and booleans pass too
 *             number, integer, boolean: strings that hold one pass too
 *             object
 *             list of strings, list of objects, list of numbers...: one item stands for a list of one
 *             list: of anything
 *             any: anything
 *             "csv", 2, true, ["*"]: this very value, as JSON; strings match in any case
 *         required: a job without it is refused, or one where it is null or blank; of a key inside: the object needs it
 *         required, default, about: may be left out
 */
typedef struct ts_plugin {
    size_t size;
    uint32_t abi_version; /* TS_ABI_VERSION */
    uint32_t reserved;
    const char *description;
    size_t description_len;
    int32_t (*new_reader)(const struct ts_plugin *plugin, const char *name, size_t name_len, const char *parameter,
                          size_t parameter_len, const ts_host *host, ts_reader *reader, ts_error *error);
    int32_t (*new_writer)(const struct ts_plugin *plugin, const char *name, size_t name_len, const char *parameter,
                          size_t parameter_len, const ts_host *host, ts_writer *writer, ts_error *error);
    int32_t (*new_transformer)(const struct ts_plugin *plugin, const char *name, size_t name_len, const char *parameter,
                               size_t parameter_len, const ts_host *host, ts_transformer *transformer, ts_error *error);
    /* [any] The table of an extension of the plugin, valid until the process ends; null if it has none with this id. */
    const void *(*get_extension)(const struct ts_plugin *plugin, const char *id, size_t id_len);
} ts_plugin;

/*
 * The extension "transship.lookup/1": lookups
 * -------------------------------------------
 *
 * A lookup is asked for the rows of another system by their keys: keys go in, a row each, and rows come out, none, one or
 * several for each key. Many calls are open at once, and the plugin answers them from whatever thread, in whatever order.
 * Order, time-outs, retries and caches are the engine's. A plugin that has lookups lists them in its description and returns
 * a ts_lookup_plugin for this id from ts_plugin.get_extension; the host that a lookup gets returns a ts_lookup_host.
 *
 * A call is named by a number, never by a pointer. It is answered once, by complete, by fail, or by a start that fails. The
 * first answer counts; another one, or one that comes after the engine has given up the call, does nothing. A call that the
 * plugin never answers is over when its time is (the engine's time-out), and at the release. A number is never used twice.
 */
typedef struct ts_lookup {
    const struct ts_lookup_table *table;
    void *data;
} ts_lookup;

/* What the plugin returns for "transship.lookup/1". */
typedef struct ts_lookup_plugin {
    size_t size;
    /* [any] As new_reader of ts_plugin. Required. */
    int32_t (*new_lookup)(const struct ts_plugin *plugin, const char *name, size_t name_len, const char *parameter,
                          size_t parameter_len, const ts_host *host, ts_lookup *lookup, ts_error *error);
} ts_lookup_plugin;

/*
 * A lookup, opened for one job and shared by all its tasks. Order of calls: prepare once, then start as often as there are
 * keys; cancel at any time after prepare. A start that fails is the failure of that call alone: others follow.
 */
typedef struct ts_lookup_table {
    size_t size;
    /*
     * [job] Connects and checks. `keys` (an offer, never null): the columns of the keys, in the order in which the job names
     * them. `rows`: the columns of the rows that will be found. `most_keys`: how many keys a call may have; left at 0: any
     * number. Required.
     */
    int32_t (*prepare)(ts_lookup *lookup, struct ArrowSchema *keys, struct ArrowSchema *rows, uint64_t *most_keys,
                       ts_error *error);
    /*
     * [any] Looks up keys: a struct array (an offer) of the columns told to prepare, with at least one row. It returns at once;
     * the answer is given later or, if it is known already, before it returns. Required.
     */
    int32_t (*start)(ts_lookup *lookup, uint64_t call, struct ArrowArray *keys, ts_error *error);
    /*
     * [any] after prepare, beside other calls and more than once: the job is given up, calls under way need no answer. What
     * waits for a server is interrupted. Returns at once. Null: there is nothing to interrupt.
     */
    void (*cancel)(ts_lookup *lookup);
    /* [job] It may answer calls until it returns; then the plugin's threads are done with the host, or have retained it. */
    void (*release)(ts_lookup *lookup);
} ts_lookup_table;

/* A key that could not be looked up. The message as in ts_error. `reserved` is 0. */
typedef struct ts_failed_key {
    uint32_t key;      /* its row among the keys of the call */
    int32_t kind;      /* TS_CONNECT... */
    int32_t retryable; /* 1: it may succeed if it is tried again; 0: it will not */
    int32_t reserved;
    const char *message;
    size_t message_len;
} ts_failed_key;

/* What was found for the keys of a call. `rows` is an offer; everything else is lent. */
typedef struct ts_found {
    size_t size;
    struct ArrowArray rows;      /* a struct array of the columns that prepare told */
    const uint32_t *key_of_row;  /* the key of each row, rows.length of them; null: row i is that of key i. Rows of one key keep
                                    their order; a key without a row was not found */
    const ts_failed_key *failed; /* keys that could not be looked up: they have no rows; the others are not concerned */
    size_t n_failed;
} ts_found;

/* What a lookup's host returns for "transship.lookup/1". `host` is the lookup's own. All members of version 1 are there. */
typedef struct ts_lookup_host {
    size_t size;
    /* [any] Gives what was found. */
    void (*complete)(const ts_host *host, uint64_t call, ts_found *found);
    /* [any] Says that the call failed, for all its keys. `kind`, `retryable` and the message (lent) as in ts_error. */
    void (*fail)(const ts_host *host, uint64_t call, int32_t kind, int32_t retryable, const char *message,
                 size_t message_len);
    /* [any] 1 while somebody waits for the answer, else 0: a call that waits for its turn need not be made any more. */
    int32_t (*is_wanted)(const ts_host *host, uint64_t call);
} ts_lookup_host;

/*
 * The one symbol that a plugin exports. It is called once for each time that the engine opens the library, first of all. It
 * must be quick: no files, no network, no threads.
 *
 * host_abi_version  the engine's TS_ABI_VERSION. If it is not one that the plugin knows, return TS_UNSUPPORTED.
 * host              belongs to no job: retain it, and use it for the log of the library as a whole.
 * plugin            where to put the pointer to the plugin's table.
 */
TS_EXPORT int32_t transship_plugin_init(uint32_t host_abi_version, const ts_host *host, const ts_plugin **plugin,
                                        ts_error *error);

/* The type of transship_plugin_init. */
typedef int32_t (*ts_plugin_init)(uint32_t host_abi_version, const ts_host *host, const ts_plugin **plugin,
                                  ts_error *error);

#ifdef __cplusplus
}
#endif

#endif /* TRANSSHIP_H */
