/*
 * A whole transship plugin in C99: a reader that counts and a writer that makes a file of tab-separated lines.
 *
 *     cc -std=c99 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden -I plugin-api/include \
 *        -o libtransship_minimal.so plugin-api/examples/minimal.c
 *
 * What the calls mean, who owns what, and when they come is said in transship.h and not said again here.
 *
 * minimalreader: {"records": 2500} gives that many records of two columns: id (int64) and name (text; each third is null).
 * minimalwriter: {"path": "out.tsv"} takes columns of these two types. Each task writes a file of its own, out.tsv.TASK; it is
 * called out.tsv.TASK.part until the task's commit renames it, so that nobody takes half a file for a whole one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transship.h"

/* ---- Errors and texts ------------------------------------------------------------------------------------------------ */

static void release_error(ts_error *error) {
    free(error->private_data);
    error->release = NULL;
}

/* Fills in the error and returns its kind, for `return fail(...)`. */
static int32_t fail(ts_error *error, int32_t kind, const char *format, ...) {
    char *message = malloc(512);
    va_list arguments;
    va_start(arguments, format);
    int length = message ? vsnprintf(message, 512, format, arguments) : 0;
    va_end(arguments);
    error->kind = kind;
    error->message = message;
    error->message_len = length < 0 ? 0 : length < 512 ? (size_t)length : 511;
    error->private_data = message;
    error->release = release_error;
    return kind;
}

static void release_text(ts_text *text) {
    free(text->private_data);
    text->release = NULL;
}

/* ---- Just enough JSON: the value behind "key" in a text ----------------------------------------------------------------
 * It looks for the key anywhere, so it is good for flat objects whose values do not hold keys. Use a library instead. */

static const char *find(const char *json, size_t len, const char *key) {
    size_t key_len = strlen(key);
    for (size_t i = 0; i + key_len + 3 < len; i++) {
        if (json[i] == '"' && memcmp(json + i + 1, key, key_len) == 0 && json[i + 1 + key_len] == '"') {
            i += key_len + 2;
            while (i < len && (json[i] == ':' || json[i] == ' ')) i++;
            return i < len ? json + i : NULL;
        }
    }
    return NULL;
}

/* A whole number, or `otherwise` if there is none. It ends at the latest at the object's closing brace. */
static int64_t find_number(const char *json, size_t len, const char *key, int64_t otherwise) {
    const char *at = find(json, len, key);
    int64_t number = 0;
    if (!at || *at < '0' || *at > '9') return otherwise;
    for (; at < json + len && *at >= '0' && *at <= '9'; at++) {
        if (number > INT64_MAX / 10 - 1) return otherwise;
        number = number * 10 + (*at - '0');
    }
    return number;
}

/* A string as a new C string, or null. Of escapes it knows \" \\ and \/. */
static char *find_string(const char *json, size_t len, const char *key) {
    const char *at = find(json, len, key), *end = json + len;
    if (!at || *at != '"') return NULL;
    char *text = malloc((size_t)(end - at)), *out = text;
    for (at++; text && at < end && *at != '"'; at++) {
        if (*at == '\\' && ++at == end) break;
        *out++ = *at;
    }
    if (text) *out = 0;
    return text;
}

/* ---- The reader ------------------------------------------------------------------------------------------------------ */

enum { SPLIT_RECORDS = 1000 };

typedef struct { int64_t records, split_from; } counter;
typedef struct { int64_t from, at, to, batch_records; char resume[32]; } counting;

static int32_t reader_splits(ts_reader *reader, const char *request, size_t len, ts_text *splits, ts_error *error) {
    counter *self = reader->data;
    int64_t max = find_number(request, len, "max", 1);
    size_t room = (size_t)(max < 1000 ? max : 1000) * 256 + 3, used = 1;
    char *text = malloc(room);
    if (!text) return fail(error, TS_INTERNAL, "out of memory");
    text[0] = '[';
    for (int64_t n = 0; n < max && n < 1000 && self->split_from < self->records; n++) {
        int64_t from = self->split_from, to = from + SPLIT_RECORDS;
        if (to > self->records) to = self->records;
        used += (size_t)snprintf(text + used, room - used,
                                 "%s{\"id\":\"%" PRId64 "\",\"label\":\"records %" PRId64 " to %" PRId64 "\","
                                 "\"records\":%" PRId64 ",\"detail\":{\"from\":%" PRId64 ",\"to\":%" PRId64 "}}",
                                 n ? "," : "", from, from, to, to - from, from, to);
        self->split_from = to;
    }
    text[used++] = ']';
    *splits = (ts_text){text, used, release_text, text};
    return TS_OK;
}

static void release_columns(struct ArrowSchema *schema) {
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release) schema->children[i]->release(schema->children[i]);
    free(schema->private_data);
    schema->release = NULL;
}

static void release_column(struct ArrowSchema *column) { column->release = NULL; /* its memory is its parent's */ }

static int32_t task_schema(ts_reader_task *task, struct ArrowSchema *out, ts_error *error) {
    struct columns { struct ArrowSchema column[2]; struct ArrowSchema *list[2]; } *made = calloc(1, sizeof *made);
    (void)task;
    if (!made) return fail(error, TS_INTERNAL, "out of memory");
    made->column[0] = (struct ArrowSchema){.format = "l", .name = "id", .release = release_column};
    made->column[1] =
        (struct ArrowSchema){.format = "u", .name = "name", .flags = ARROW_FLAG_NULLABLE, .release = release_column};
    made->list[0] = &made->column[0];
    made->list[1] = &made->column[1];
    *out = (struct ArrowSchema){
        .format = "+s", .name = "", .n_children = 2, .children = made->list, .release = release_columns, .private_data = made};
    return TS_OK;
}

/* The memory of a batch: its arrays, their lists, and behind them the values. One block, freed by the parent's release. */
typedef struct {
    struct ArrowArray id, name;
    struct ArrowArray *children[2];
    const void *struct_buffers[1], *id_buffers[2], *name_buffers[3];
} columns;

static void release_array(struct ArrowArray *array) {
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release) array->children[i]->release(array->children[i]);
    free(array->private_data); /* null in the children */
    array->release = NULL;
}

static int32_t task_next(ts_reader_task *task, uint64_t timeout_micros, int32_t *kind, ts_batch *batch, ts_mark *mark,
                         ts_error *error) {
    counting *self = task->data;
    (void)timeout_micros, (void)mark; /* it never has to wait, and makes no marks */
    if (self->at == self->to) return *kind = TS_ITEM_END, TS_OK;
    int64_t rows = self->to - self->at < self->batch_records ? self->to - self->at : self->batch_records;

    /* Room for the ids, n + 1 offsets and the bitmap, each rounded up to 8 bytes, and 28 bytes for each name. */
    size_t n = (size_t)rows, ids = n * 8, offsets = ((n + 1) * 4 + 7) / 8 * 8, bitmap = (n + 63) / 64 * 8;
    columns *made = calloc(1, sizeof *made + ids + offsets + bitmap + n * 28);
    if (!made) return fail(error, TS_INTERNAL, "out of memory");
    int64_t *id = (int64_t *)(made + 1), nulls = 0;
    int32_t *offset = (int32_t *)(id + n);
    uint8_t *valid = (uint8_t *)offset + offsets;
    char *names = (char *)valid + bitmap;
    for (size_t row = 0; row < n; row++) {
        id[row] = self->at + (int64_t)row;
        offset[row + 1] = offset[row];
        if (id[row] % 3 == 2) {
            nulls++;
            continue;
        }
        valid[row / 8] |= (uint8_t)(1 << row % 8);
        offset[row + 1] += snprintf(names + offset[row], 28, "name %" PRId64, id[row]);
    }
    made->struct_buffers[0] = NULL;
    made->id_buffers[1] = id;
    made->name_buffers[0] = valid, made->name_buffers[1] = offset, made->name_buffers[2] = names;
    made->id = (struct ArrowArray){.length = rows, .n_buffers = 2, .buffers = made->id_buffers, .release = release_array};
    made->name = (struct ArrowArray){
        .length = rows, .null_count = nulls, .n_buffers = 3, .buffers = made->name_buffers, .release = release_array};
    made->children[0] = &made->id, made->children[1] = &made->name;
    batch->array = (struct ArrowArray){.length = rows, .n_buffers = 1, .buffers = made->struct_buffers, .n_children = 2,
                                       .children = made->children, .release = release_array, .private_data = made};

    batch->n_bytes = ids + offsets + bitmap + (uint64_t)offset[n];
    batch->first = (uint64_t)self->at;
    self->at += rows;
    batch->resume_len = (size_t)snprintf(self->resume, sizeof self->resume, "%" PRId64, self->at);
    batch->resume = self->resume; /* lent until the next call */
    batch->read_share = (double)(self->at - self->from) / (double)(self->to - self->from); /* for progress */
    *kind = TS_ITEM_BATCH;
    return TS_OK;
}

static void task_release(ts_reader_task *task) {
    free(task->data);
    task->data = NULL;
}

static const struct ts_reader_task_table READER_TASK = {
    .size = sizeof READER_TASK, .prepare = task_schema, .next = task_next, .release = task_release};

static int32_t reader_open(ts_reader *reader, const char *split, size_t split_len, const char *options, size_t options_len,
                           const ts_host *host, ts_reader_task *task, ts_error *error) {
    counting *self = calloc(1, sizeof *self);
    (void)reader, (void)host;
    if (!self) return fail(error, TS_INTERNAL, "out of memory");
    self->from = find_number(split, split_len, "from", 0);
    self->at = find_number(options, options_len, "position", self->from);
    self->to = find_number(split, split_len, "to", 0);
    self->batch_records = find_number(options, options_len, "batch_records", 8192);
    *task = (ts_reader_task){&READER_TASK, self};
    return TS_OK;
}

static void reader_release(ts_reader *reader) {
    free(reader->data);
    reader->data = NULL;
}

static const struct ts_reader_table READER = {
    .size = sizeof READER, .splits = reader_splits, .open = reader_open, .release = reader_release};

static int32_t new_reader(const ts_plugin *plugin, const char *name, size_t name_len, const char *parameter, size_t len,
                          const ts_host *host, ts_reader *reader, ts_error *error) {
    (void)plugin, (void)name, (void)name_len, (void)host;
    int64_t records = find_number(parameter, len, "records", -1);
    if (records < 0) return fail(error, TS_CONFIG, "parameter.records is required, a whole number from 0 on");
    counter *self = calloc(1, sizeof *self);
    if (!self) return fail(error, TS_INTERNAL, "out of memory");
    self->records = records;
    *reader = (ts_reader){&READER, self};
    return TS_OK;
}

/* ---- The writer ------------------------------------------------------------------------------------------------------ */

typedef struct { char *path; } tsv;
typedef struct {
    const ts_host *host;       /* alive until the task is released */
    char *path, *part;         /* the file of this task, and what it is called until it is whole */
    FILE *file;
    struct ArrowSchema schema; /* moved here from open */
    uint64_t written, bytes;
} writing;

static int32_t writer_info(ts_writer *writer, ts_text *info, ts_error *error) {
    static const char INFO[] = "{\"commit\":\"task\",\"max_open_tasks\":0,\"target\":\"minimal\",\"idempotent\":false}";
    (void)writer, (void)error;
    *info = (ts_text){INFO, sizeof INFO - 1, NULL, NULL};
    return TS_OK;
}

/* PATH.SUFFIX, as a new C string. */
static char *beside(const char *path, const char *suffix) {
    char *name = malloc(strlen(path) + strlen(suffix) + 2);
    if (name) sprintf(name, "%s.%s", path, suffix);
    return name;
}

/* A cell of a batch: false if it is null. `row` counts from the start of the column's buffers. */
static int is_valid(const struct ArrowArray *column, int64_t row) {
    const uint8_t *bitmap = column->buffers[0];
    return !bitmap || (bitmap[row / 8] >> row % 8 & 1);
}

/* Whether a record can be written: a tab or a line end in a text would break the file. If not, it is dirty. */
static int32_t check_record(writing *self, const ts_batch *batch, int64_t row, int *good, ts_error *error) {
    *good = 1;
    for (int64_t c = 0; c < self->schema.n_children; c++) {
        const struct ArrowArray *column = batch->array.children[c];
        int64_t at = column->offset + batch->array.offset + row;
        if (*self->schema.children[c]->format != 'u' || !is_valid(column, at)) continue;
        const int32_t *offset = column->buffers[1];
        const char *text = (const char *)column->buffers[2] + offset[at];
        size_t len = (size_t)(offset[at + 1] - offset[at]);
        if (len == 0 || (!memchr(text, '\t', len) && !memchr(text, '\n', len))) continue;
        static const char CAUSE[] = "a text with a tab or a line end does not fit into a tab-separated line";
        const char *name = self->schema.children[c]->name;
        ts_dirty record = {.size = sizeof record, .has_position = 1, .column = name, .column_len = strlen(name),
                           .value = text, .value_len = len, .cause = CAUSE, .cause_len = sizeof CAUSE - 1};
        record.position = batch->positions ? batch->positions[row] : batch->first + (uint64_t)row;
        *good = 0;
        return self->host->dirty(self->host, &record, error);
    }
    return TS_OK;
}

static int32_t task_write(ts_writer_task *task, ts_batch *batch, ts_error *error) {
    writing *self = task->data;
    for (int64_t row = 0; row < batch->array.length; row++) {
        int good;
        int32_t status = check_record(self, batch, row, &good, error);
        if (status != TS_OK) return status;
        if (!good) continue;
        for (int64_t c = 0; c < self->schema.n_children; c++) {
            const struct ArrowArray *column = batch->array.children[c];
            int64_t at = column->offset + batch->array.offset + row;
            if (c) fputc('\t', self->file);
            if (!is_valid(column, at)) {
                fputs("\\N", self->file);
            } else if (*self->schema.children[c]->format == 'l') {
                fprintf(self->file, "%" PRId64, ((const int64_t *)column->buffers[1])[at]);
            } else {
                const int32_t *offset = column->buffers[1];
                size_t len = (size_t)(offset[at + 1] - offset[at]);
                if (len) fwrite((const char *)column->buffers[2] + offset[at], 1, len, self->file);
            }
        }
        fputc('\n', self->file);
        self->written++;
    }
    if (ferror(self->file)) return fail(error, TS_IO, "cannot write %s", self->part);
    self->bytes += batch->n_bytes;
    return TS_OK; /* the array was only looked at: the engine releases it */
}

static int32_t task_prepare(ts_writer_task *task, ts_error *error) {
    writing *self = task->data;
    self->file = fopen(self->part, "wb");
    return self->file ? TS_OK : fail(error, TS_IO, "cannot create %s: %s", self->part, strerror(errno));
}

static int32_t task_flush(ts_writer_task *task, ts_error *error) {
    writing *self = task->data;
    return fflush(self->file) == 0 ? TS_OK : fail(error, TS_IO, "cannot write %s: %s", self->part, strerror(errno));
}

static int32_t task_commit(ts_writer_task *task, ts_text *report, ts_error *error) {
    writing *self = task->data;
    int failed = fclose(self->file);
    self->file = NULL;
    if (failed || rename(self->part, self->path) != 0)
        return fail(error, TS_IO, "cannot make %s: %s", self->path, strerror(errno));
    char *text = malloc(100);
    if (!text) return fail(error, TS_INTERNAL, "out of memory");
    sprintf(text, "{\"written\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", self->written, self->bytes);
    *report = (ts_text){text, strlen(text), release_text, text};
    return TS_OK;
}

static int32_t task_abort(ts_writer_task *task, ts_error *error) {
    writing *self = task->data;
    (void)error;
    if (self->file) fclose(self->file);
    self->file = NULL;
    remove(self->part); /* one of the two is not there, or none: nothing to do then */
    remove(self->path);
    return TS_OK;
}

static void writer_task_release(ts_writer_task *task) {
    writing *self = task->data;
    if (!self) return;
    if (self->file) fclose(self->file);
    if (self->schema.release) self->schema.release(&self->schema);
    free(self->path);
    free(self->part);
    free(self);
    task->data = NULL;
}

static const struct ts_writer_task_table WRITER_TASK = {
    .size = sizeof WRITER_TASK, .prepare = task_prepare, .write = task_write, .flush = task_flush, .commit = task_commit,
    .abort = task_abort, .release = writer_task_release};

static int32_t writer_open(ts_writer *writer, const char *info, size_t info_len, struct ArrowSchema *schema,
                           const ts_host *host, ts_writer_task *task, ts_error *error) {
    tsv *target = writer->data;
    for (int64_t c = 0; c < schema->n_children; c++) {
        const struct ArrowSchema *column = schema->children[c];
        if (strcmp(column->format, "l") != 0 && strcmp(column->format, "u") != 0)
            return fail(error, TS_SCHEMA, "column \"%s\" has the type %s, but minimalwriter takes int64 and text only",
                        column->name ? column->name : "", column->format);
    }
    char *id = find_string(info, info_len, "task");
    writing *self = calloc(1, sizeof *self);
    if (self && id) self->path = beside(target->path, id);
    if (self && self->path) self->part = beside(self->path, "part");
    free(id);
    *task = (ts_writer_task){&WRITER_TASK, self};
    if (!self || !self->part) {
        writer_task_release(task);
        return fail(error, TS_INTERNAL, "the task has no id, or there is no memory for it");
    }
    self->host = host;
    self->schema = *schema; /* a move: copy the struct, and leave an empty one behind */
    schema->release = NULL;
    return TS_OK;
}

static void writer_release(ts_writer *writer) {
    tsv *self = writer->data;
    if (!self) return;
    free(self->path);
    free(self);
    writer->data = NULL;
}

static const struct ts_writer_table WRITER = {
    .size = sizeof WRITER, .info = writer_info, .open = writer_open, .release = writer_release};

static int32_t new_writer(const ts_plugin *plugin, const char *name, size_t name_len, const char *parameter, size_t len,
                          const ts_host *host, ts_writer *writer, ts_error *error) {
    (void)plugin, (void)name, (void)name_len, (void)host;
    char *path = find_string(parameter, len, "path");
    if (!path || !*path) {
        free(path);
        return fail(error, TS_CONFIG, "parameter.path is required, the name of the file to write");
    }
    tsv *self = calloc(1, sizeof *self);
    if (!self) {
        free(path);
        return fail(error, TS_INTERNAL, "out of memory");
    }
    self->path = path;
    *writer = (ts_writer){&WRITER, self};
    return TS_OK;
}

/* ---- The plugin ------------------------------------------------------------------------------------------------------ */

static const char DESCRIPTION[] =
    "{\"name\":\"minimal\",\"version\":\"1.0.0\","
    "\"readers\":[{\"names\":[\"minimalreader\"],\"about\":\"Counts.\",\"parameters\":["
    "{\"name\":\"records\",\"takes\":\"integer\",\"required\":true,\"about\":\"How many records to make.\"}]}],"
    "\"writers\":[{\"names\":[\"minimalwriter\"],\"about\":\"Writes tab-separated lines.\",\"parameters\":["
    "{\"name\":\"path\",\"takes\":\"string\",\"required\":true,\"about\":\"The file to write.\"}]}]}";

static const ts_plugin PLUGIN = {
    .size = sizeof PLUGIN, .abi_version = TS_ABI_VERSION, .description = DESCRIPTION,
    .description_len = sizeof DESCRIPTION - 1, .new_reader = new_reader, .new_writer = new_writer};

TS_EXPORT int32_t transship_plugin_init(uint32_t host_abi_version, const ts_host *host, const ts_plugin **plugin,
                                        ts_error *error) {
    (void)host;
    if (host_abi_version != TS_ABI_VERSION)
        return fail(error, TS_UNSUPPORTED, "the plugin speaks version %u of the plugin contract, the program version %u",
                    TS_ABI_VERSION, (unsigned)host_abi_version);
    *plugin = &PLUGIN;
    return TS_OK;
}
