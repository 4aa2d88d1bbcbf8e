/*
 * A plugin whose parameter {"how": "..."} says in which way it breaks the contract of transship.h: what no author in Rust can
 * do without trying hard. Without it the reader gives ten good records, and the writer takes what comes.
 *
 * It breaks only what the engine can find out. Memory that is promised is there: whoever looks at it without checking
 * first gets garbage, not a crash, so a test sees which of the two it was.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "transship.h"

enum { ROWS = 10, HOW = 40 };

typedef struct {
    char how[HOW];
    int given; /* calls of splits or next that had something to give */
} object;

static const char NOT_UTF8[] = "caf\xe9";

static int is(const object *self, const char *how) { return strcmp(self->how, how) == 0; }

/* The text behind "how": in the parameters, which the engine writes without spaces. */
static object *new_object(const char *parameter, size_t len) {
    static const char KEY[] = "\"how\":\"";
    size_t key = sizeof KEY - 1;
    object *self = calloc(1, sizeof *self);
    for (size_t at = 0; self && at + key < len; at++) {
        if (memcmp(parameter + at, KEY, key) != 0) continue;
        for (size_t i = 0; i + 1 < HOW && at + key + i < len && parameter[at + key + i] != '"'; i++)
            self->how[i] = parameter[at + key + i];
    }
    return self;
}

static object *copy(const object *other) {
    object *self = calloc(1, sizeof *self);
    if (self) memcpy(self->how, other->how, HOW);
    return self;
}

static int32_t fail(ts_error *error, int32_t kind, const char *message) {
    error->kind = kind;
    error->message = message;
    error->message_len = strlen(message);
    return kind;
}

static ts_text literal(const char *text) { return (ts_text){text, strlen(text), NULL, NULL}; }

/* ---- Schema and batch -------------------------------------------------------------------------------------------------- */

typedef struct {
    struct ArrowSchema column[2];
    struct ArrowSchema *list[2];
} made_schema;

static void release_column(struct ArrowSchema *column) { column->release = NULL; }

static void release_schema(struct ArrowSchema *schema) {
    free(schema->private_data);
    schema->release = NULL;
}

static int32_t task_prepare(ts_reader_task *task, struct ArrowSchema *out, ts_error *error) {
    object *self = task->data;
    if (is(self, "schema_absent")) return TS_OK;
    made_schema *made = calloc(1, sizeof *made);
    if (!made) return fail(error, TS_INTERNAL, "out of memory");
    made->column[0] = (struct ArrowSchema){.format = "l", .name = "id", .release = release_column};
    made->column[1] =
        (struct ArrowSchema){.format = "u", .name = "name", .flags = ARROW_FLAG_NULLABLE, .release = release_column};
    made->list[0] = &made->column[0], made->list[1] = &made->column[1];
    *out = (struct ArrowSchema){.format = "+s", .name = "", .n_children = 2, .children = made->list,
                                .release = release_schema, .private_data = made};
    if (is(self, "schema_of_one_column")) *out = made->column[0], out->private_data = made, out->release = release_schema;
    if (is(self, "schema_format_absent")) made->column[1].format = NULL;
    if (is(self, "schema_format_unknown")) made->column[1].format = "no such type";
    if (is(self, "schema_child_absent")) made->list[1] = NULL;
    if (is(self, "schema_child_released")) made->column[1].release = NULL;
    if (is(self, "schema_children_absent")) out->children = NULL;
    if (is(self, "schema_children_negative")) out->n_children = -1;
    if (is(self, "schema_name_not_utf8")) made->column[1].name = NOT_UTF8;
    return TS_OK;
}

typedef struct {
    struct ArrowArray id, name, extra;
    struct ArrowArray *list[3];
    const void *struct_buffers[1], *id_buffers[3], *name_buffers[3];
    int64_t ids[ROWS];
    int32_t offsets[ROWS + 1];
    char names[ROWS * 8];
    uint8_t bitmap[8];
} made_batch;

static void release_child(struct ArrowArray *child) { child->release = NULL; }

static void release_batch(struct ArrowArray *array) {
    free(array->private_data);
    array->release = NULL;
}

static int32_t make_batch(const object *self, ts_batch *batch, ts_error *error) {
    made_batch *made = calloc(1, sizeof *made);
    if (!made) return fail(error, TS_INTERNAL, "out of memory");
    for (int row = 0; row < ROWS; row++) {
        made->ids[row] = row;
        made->offsets[row + 1] = 8 * (row + 1);
    }
    memset(made->names, 'n', sizeof made->names);
    made->id_buffers[1] = made->ids;
    made->name_buffers[1] = made->offsets, made->name_buffers[2] = made->names;
    made->id = (struct ArrowArray){.length = ROWS, .n_buffers = 2, .buffers = made->id_buffers, .release = release_child};
    made->name = (struct ArrowArray){.length = ROWS, .n_buffers = 3, .buffers = made->name_buffers, .release = release_child};
    made->extra = made->id;
    made->list[0] = &made->id, made->list[1] = &made->name, made->list[2] = &made->extra;
    batch->array = (struct ArrowArray){.length = ROWS, .n_buffers = 1, .buffers = made->struct_buffers, .n_children = 2,
                                       .children = made->list, .release = release_batch, .private_data = made};
    batch->n_bytes = ROWS * 20;

    struct ArrowArray *array = &batch->array;
    if (is(self, "children_too_few")) array->n_children = 1;
    if (is(self, "children_too_many")) array->n_children = 3;
    if (is(self, "children_negative")) array->n_children = -2;
    if (is(self, "children_absent")) array->children = NULL;
    if (is(self, "child_absent")) made->list[1] = NULL;
    if (is(self, "child_released")) made->name.release = NULL;
    if (is(self, "child_too_short")) made->id.length = ROWS / 2;
    if (is(self, "child_has_children")) made->id.n_children = 1, made->id.children = made->list;
    if (is(self, "length_negative")) array->length = -1;
    if (is(self, "length_impossible")) array->length = INT64_MAX;
    if (is(self, "offset_negative")) made->name.offset = -1;
    if (is(self, "offset_impossible")) made->name.offset = INT64_MAX;
    if (is(self, "null_count_negative")) made->id.null_count = -7;
    if (is(self, "null_count_too_large")) made->name.null_count = ROWS + 1;
    if (is(self, "nulls_without_bitmap")) made->name.null_count = 3;
    if (is(self, "null_count_wrong")) made->name.null_count = 3, made->name_buffers[0] = made->bitmap;
    if (is(self, "null_where_none_may_be")) made->id.null_count = ROWS, made->id_buffers[0] = made->bitmap;
    if (is(self, "buffers_too_few")) made->name.n_buffers = 2;
    if (is(self, "buffers_too_many")) made->id.n_buffers = 3;
    if (is(self, "buffers_negative")) made->id.n_buffers = -2;
    if (is(self, "buffers_absent")) made->name.buffers = NULL;
    if (is(self, "values_absent")) made->id_buffers[1] = NULL;
    if (is(self, "texts_absent")) made->name_buffers[2] = NULL;
    if (is(self, "offsets_absent")) made->name_buffers[1] = NULL;
    if (is(self, "offsets_odd")) made->name_buffers[1] = (const char *)made->offsets + 1;
    if (is(self, "offsets_decrease")) made->offsets[5] = 8;
    if (is(self, "offsets_negative")) made->offsets[0] = -8;
    if (is(self, "offsets_end_before_start")) made->offsets[0] = 80, made->offsets[ROWS] = 0;
    if (is(self, "text_not_utf8")) made->names[33] = (char)0xff;
    if (is(self, "text_cut_in_a_letter")) made->names[31] = (char)0xc3, made->names[32] = (char)0xa9;
    if (is(self, "batch_released")) free(made), array->release = NULL;
    return TS_OK;
}

/* ---- The reader -------------------------------------------------------------------------------------------------------- */

static int32_t task_next(ts_reader_task *task, uint64_t timeout_micros, int32_t *kind, ts_batch *batch, ts_mark *mark,
                         ts_error *error) {
    object *self = task->data;
    (void)timeout_micros;
    if (self->given++) return *kind = TS_ITEM_END, TS_OK;
    *kind = TS_ITEM_BATCH;
    if (is(self, "item_unknown")) return *kind = 99, TS_OK;
    if (is(self, "item_reserved")) return *kind = TS_ITEM_SCHEMA, TS_OK;
    if (is(self, "mark_unknown")) return *kind = TS_ITEM_MARK, mark->kind = 99, TS_OK;
    if (is(self, "batch_absent")) return TS_OK;
    if (is(self, "status_unknown")) return fail(error, 4711, "a status that nobody knows");
    if (is(self, "status_negative")) return fail(error, -1, "a status below zero");
    if (is(self, "error_without_message")) return TS_IO;
    if (is(self, "error_not_utf8")) return fail(error, TS_IO, NOT_UTF8);
    if (is(self, "resume_not_json")) batch->resume = "{", batch->resume_len = 1;
    return make_batch(self, batch, error);
}

static void task_release(ts_reader_task *task) {
    free(task->data);
    task->data = NULL;
}

static const struct ts_reader_task_table READER_TASK = {
    .size = sizeof READER_TASK, .prepare = task_prepare, .next = task_next, .release = task_release};
static const struct ts_reader_task_table WITHOUT_NEXT = {
    .size = sizeof WITHOUT_NEXT, .prepare = task_prepare, .release = task_release};
/* As an author of the future's past: what comes after `prepare` is not there yet. */
static const struct ts_reader_task_table SHORT = {.size = offsetof(struct ts_reader_task_table, next),
                                                  .prepare = task_prepare, .next = task_next, .release = task_release};

static int32_t reader_splits(ts_reader *reader, const char *request, size_t len, ts_text *splits, ts_error *error) {
    object *self = reader->data;
    (void)request, (void)len, (void)error;
    if (self->given++) return *splits = literal("[]"), TS_OK;
    *splits = literal("[{\"id\":\"a\",\"label\":\"ten records\",\"detail\":null}]");
    if (is(self, "splits_not_json")) *splits = literal("[{]");
    if (is(self, "splits_no_list")) *splits = literal("{\"id\":\"a\"}");
    if (is(self, "splits_not_utf8")) *splits = literal(NOT_UTF8);
    if (is(self, "split_without_id")) *splits = literal("[{\"label\":\"ten records\",\"detail\":null}]");
    if (is(self, "splits_of_one_id"))
        *splits = literal("[{\"id\":\"a\",\"label\":\"first\",\"detail\":null},{\"id\":\"a\",\"label\":\"second\",\"detail\":null}]");
    return TS_OK;
}

static int32_t reader_open(ts_reader *reader, const char *split, size_t split_len, const char *options, size_t options_len,
                           const ts_host *host, ts_reader_task *task, ts_error *error) {
    object *self = copy(reader->data);
    (void)split, (void)split_len, (void)options, (void)options_len, (void)host;
    if (!self) return fail(error, TS_INTERNAL, "out of memory");
    if (is(self, "task_absent")) return free(self), TS_OK;
    *task = (ts_reader_task){&READER_TASK, self};
    if (is(self, "next_absent")) task->table = &WITHOUT_NEXT;
    if (is(self, "table_too_short")) task->table = &SHORT;
    return TS_OK;
}

static int32_t reader_prepare(ts_reader *reader, ts_text *state, ts_error *error) {
    object *self = reader->data;
    (void)error;
    if (is(self, "state_not_json")) *state = literal("state");
    return TS_OK;
}

static void reader_release(ts_reader *reader) {
    free(reader->data);
    reader->data = NULL;
}

static const struct ts_reader_table READER = {.size = sizeof READER, .prepare = reader_prepare, .splits = reader_splits,
                                              .open = reader_open, .release = reader_release};

static int32_t new_reader(const ts_plugin *plugin, const char *name, size_t name_len, const char *parameter, size_t len,
                          const ts_host *host, ts_reader *reader, ts_error *error) {
    object *self = new_object(parameter, len);
    (void)plugin, (void)name, (void)name_len, (void)host;
    if (!self) return fail(error, TS_INTERNAL, "out of memory");
    if (is(self, "reader_absent")) return free(self), TS_OK;
    *reader = (ts_reader){&READER, self};
    return TS_OK;
}

/* ---- The writer -------------------------------------------------------------------------------------------------------- */

static int32_t writer_info(ts_writer *writer, ts_text *info, ts_error *error) {
    object *self = writer->data;
    (void)error;
    *info = literal("{\"commit\":\"task\",\"max_open_tasks\":0,\"target\":\"nowhere\",\"idempotent\":false}");
    if (is(self, "info_absent")) *info = (ts_text){NULL, 0, NULL, NULL};
    if (is(self, "info_not_json")) *info = literal("task");
    if (is(self, "info_unknown_class"))
        *info = literal("{\"commit\":\"soon\",\"max_open_tasks\":0,\"target\":\"nowhere\",\"idempotent\":false}");
    return TS_OK;
}

static int32_t writer_prepare(ts_writer *writer, const char *run, size_t run_len, struct ArrowSchema *schema, ts_text *state,
                              ts_error *error) {
    object *self = writer->data;
    (void)run, (void)run_len, (void)schema, (void)error;
    if (is(self, "state_not_json")) *state = literal("state");
    return TS_OK;
}

static int32_t task_write(ts_writer_task *task, ts_batch *batch, ts_error *error) {
    object *self = task->data;
    self->given += (int)batch->array.length;
    if (is(self, "status_unknown")) return fail(error, 4711, "a status that nobody knows");
    if (is(self, "error_without_message")) return TS_IO;
    if (is(self, "keeps_the_batch")) { /* moved, and freed here instead of by the engine */
        struct ArrowArray mine = batch->array;
        batch->array.release = NULL;
        mine.release(&mine);
    }
    return TS_OK;
}

static int32_t task_flush(ts_writer_task *task, ts_error *error) {
    (void)task, (void)error;
    return TS_OK;
}

static int32_t task_commit(ts_writer_task *task, ts_text *report, ts_error *error) {
    object *self = task->data;
    (void)error;
    *report = literal("{\"written\":10}");
    if (is(self, "report_absent")) *report = (ts_text){NULL, 0, NULL, NULL};
    if (is(self, "report_not_json")) *report = literal("ten");
    if (is(self, "report_not_utf8")) *report = literal(NOT_UTF8);
    if (is(self, "report_without_number")) *report = literal("{\"bytes\":80}");
    if (is(self, "report_negative")) *report = literal("{\"written\":-10}");
    if (is(self, "report_too_many")) *report = literal("{\"written\":11}");
    if (is(self, "report_too_few")) *report = literal("{\"written\":9}");
    if (is(self, "report_enormous")) *report = literal("{\"written\":18446744073709551615}");
    return TS_OK;
}

static void writer_task_release(ts_writer_task *task) {
    free(task->data);
    task->data = NULL;
}

static const struct ts_writer_task_table WRITER_TASK = {.size = sizeof WRITER_TASK, .write = task_write,
                                                        .flush = task_flush, .commit = task_commit,
                                                        .release = writer_task_release};
static const struct ts_writer_task_table WITHOUT_COMMIT = {
    .size = sizeof WITHOUT_COMMIT, .write = task_write, .flush = task_flush, .release = writer_task_release};

static int32_t writer_open(ts_writer *writer, const char *info, size_t info_len, struct ArrowSchema *schema,
                           const ts_host *host, ts_writer_task *task, ts_error *error) {
    object *self = copy(writer->data);
    (void)info, (void)info_len, (void)host, (void)schema;
    if (!self) return fail(error, TS_INTERNAL, "out of memory");
    if (is(self, "task_absent")) return free(self), TS_OK;
    *task = (ts_writer_task){&WRITER_TASK, self};
    if (is(self, "commit_absent")) task->table = &WITHOUT_COMMIT;
    return TS_OK;
}

static void writer_release(ts_writer *writer) {
    free(writer->data);
    writer->data = NULL;
}

static const struct ts_writer_table WRITER = {.size = sizeof WRITER, .info = writer_info, .prepare = writer_prepare,
                                              .open = writer_open, .release = writer_release};

static int32_t new_writer(const ts_plugin *plugin, const char *name, size_t name_len, const char *parameter, size_t len,
                          const ts_host *host, ts_writer *writer, ts_error *error) {
    object *self = new_object(parameter, len);
    (void)plugin, (void)name, (void)name_len, (void)host;
    if (!self) return fail(error, TS_INTERNAL, "out of memory");
    if (is(self, "writer_absent")) return free(self), TS_OK;
    *writer = (ts_writer){&WRITER, self};
    return TS_OK;
}

/* ---- The plugin -------------------------------------------------------------------------------------------------------- */

static const char DESCRIPTION[] =
    "{\"name\":\"malformed\",\"version\":\"1.0.0\","
    "\"readers\":[{\"names\":[\"malformedreader\"],\"about\":\"Breaks the contract.\"}],"
    "\"writers\":[{\"names\":[\"malformedwriter\"],\"about\":\"Breaks the contract.\"}]}";

static const ts_plugin PLUGIN = {
    .size = sizeof PLUGIN, .abi_version = TS_ABI_VERSION, .description = DESCRIPTION,
    .description_len = sizeof DESCRIPTION - 1, .new_reader = new_reader, .new_writer = new_writer};

TS_EXPORT int32_t transship_plugin_init(uint32_t host_abi_version, const ts_host *host, const ts_plugin **plugin,
                                        ts_error *error) {
    (void)host_abi_version, (void)host, (void)error;
    *plugin = &PLUGIN;
    return TS_OK;
}
