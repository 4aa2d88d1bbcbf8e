/*
 * A lookup in C99 that answers from a thread of its own, in whatever order, and does what no author in Rust can do: it answers
 * calls twice, and answers calls that the engine has given up long ago.
 *
 * ctwice: finds `twice`, two times the key (one column of 8-byte integers).
 *     silentEvery  a call that holds a key divisible by it is not answered in time, but only when many such calls have come
 *     doubleEvery  a call that holds a key divisible by it is answered a second time, with other rows
 *     failEvery    a key divisible by it has failed, alone
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "transship.h"

enum { LATE = 64 };

typedef struct waiting {
    struct waiting *next;
    uint64_t call;
    struct ArrowArray keys;
} waiting;

typedef struct {
    int64_t silent_every, double_every, fail_every;
    const ts_host *host;
    const ts_lookup_host *answers;
    pthread_t thread;
    int running;
    pthread_mutex_t lock;
    pthread_cond_t news;
    /* The last call first: answers come in another order than calls. */
    waiting *calls;
    int over;
    waiting *late;
    int late_count;
} twice;

static int32_t fail(ts_error *error, int32_t kind, const char *message) {
    error->kind = kind;
    error->message = message;
    error->message_len = strlen(message);
    return kind;
}

/* The whole number behind a key, in parameters that the engine writes without spaces; 0 if it is not there. */
static int64_t number(const char *json, size_t len, const char *key) {
    size_t key_len = strlen(key);
    int64_t value = 0;
    for (size_t at = 0; at + key_len + 3 < len; at++) {
        if (json[at] != '"' || memcmp(json + at + 1, key, key_len) != 0 || json[at + 1 + key_len] != '"') continue;
        for (at += key_len + 3; at < len && json[at] >= '0' && json[at] <= '9'; at++) value = value * 10 + (json[at] - '0');
        return value;
    }
    return 0;
}

/* ---- The columns ----------------------------------------------------------------------------------------------------- */

typedef struct {
    struct ArrowSchema column;
    struct ArrowSchema *list[1];
} made_schema;

static void release_column(struct ArrowSchema *column) { column->release = NULL; }

static void release_schema(struct ArrowSchema *schema) {
    if (schema->children[0]->release) schema->children[0]->release(schema->children[0]);
    free(schema->private_data);
    schema->release = NULL;
}

typedef struct {
    struct ArrowArray column;
    struct ArrowArray *list[1];
    const void *no_buffers[1];
    const void *buffers[2];
    int64_t values[];
} made_rows;

static void release_values(struct ArrowArray *column) { column->release = NULL; }

static void release_rows(struct ArrowArray *rows) {
    if (rows->children[0]->release) rows->children[0]->release(rows->children[0]);
    free(rows->private_data);
    rows->release = NULL;
}

/* So many rows; the values are filled in by the caller. */
static made_rows *make_rows(struct ArrowArray *out, int64_t length) {
    made_rows *made = calloc(1, sizeof *made + (size_t)(length + 1) * sizeof made->values[0]);
    if (!made) return NULL;
    made->buffers[1] = made->values;
    made->column = (struct ArrowArray){.length = length, .n_buffers = 2, .buffers = made->buffers, .release = release_values};
    made->list[0] = &made->column;
    *out = (struct ArrowArray){.length = length, .n_buffers = 1, .buffers = made->no_buffers, .n_children = 1,
                               .children = made->list, .release = release_rows, .private_data = made};
    return made;
}

/* ---- The lookup ------------------------------------------------------------------------------------------------------ */

static int64_t key_at(const struct ArrowArray *keys, int64_t row) {
    const struct ArrowArray *column = keys->children[0];
    return ((const int64_t *)column->buffers[1])[column->offset + keys->offset + row];
}

static int holds_multiple(const struct ArrowArray *keys, int64_t every) {
    for (int64_t row = 0; every > 0 && row < keys->length; row++)
        if (key_at(keys, row) % every == 0) return 1;
    return 0;
}

static void answer(twice *self, const waiting *call, int64_t factor) {
    int64_t length = call->keys.length;
    ts_found found = {.size = sizeof found};
    made_rows *rows = make_rows(&found.rows, length);
    uint32_t *keys = malloc((size_t)length * sizeof *keys);
    ts_failed_key *failed = calloc((size_t)length, sizeof *failed);
    static const char WHY[] = "it is a number that fails";
    int64_t count = 0;
    for (int64_t row = 0; rows && keys && failed && row < length; row++) {
        int64_t key = key_at(&call->keys, row);
        if (self->fail_every > 0 && key % self->fail_every == 0) {
            failed[found.n_failed++] =
                (ts_failed_key){.key = (uint32_t)row, .kind = TS_DATA, .message = WHY, .message_len = sizeof WHY - 1};
        } else {
            keys[count] = (uint32_t)row;
            rows->values[count++] = factor * key;
        }
    }
    if (rows && keys && failed) {
        found.rows.length = rows->column.length = count;
        found.key_of_row = keys;
        found.failed = failed;
        self->answers->complete(self->host, call->call, &found);
    }
    /* What the engine did not take: a second answer, for instance. */
    if (found.rows.release) found.rows.release(&found.rows);
    free(keys);
    free(failed);
}

static void forget(waiting *call) {
    if (call->keys.release) call->keys.release(&call->keys);
    free(call);
}

static void answer_late_ones(twice *self) {
    while (self->late) {
        waiting *call = self->late;
        self->late = call->next;
        answer(self, call, -1);
        forget(call);
    }
    self->late_count = 0;
}

static void work_on(twice *self, waiting *call) {
    if (holds_multiple(&call->keys, self->silent_every)) {
        call->next = self->late;
        self->late = call;
        if (++self->late_count < LATE) return;
        /* Some of them have been given up by now. The newest may not: it stays. */
        waiting *newest = self->late;
        self->late = newest->next;
        for (waiting **at = &self->late; *at;) {
            waiting *old = *at;
            if (self->answers->is_wanted(self->host, old->call)) {
                at = &old->next;
                continue;
            }
            *at = old->next;
            self->late_count--;
            answer(self, old, -1);
            forget(old);
        }
        newest->next = self->late;
        self->late = newest;
        return;
    }
    answer(self, call, 2);
    if (holds_multiple(&call->keys, self->double_every)) {
        static const char WHY[] = "answered already";
        answer(self, call, -1);
        self->answers->fail(self->host, call->call, TS_IO, 1, WHY, sizeof WHY - 1);
    }
    forget(call);
}

static void *run(void *data) {
    twice *self = data;
    for (;;) {
        pthread_mutex_lock(&self->lock);
        while (!self->calls && !self->over) pthread_cond_wait(&self->news, &self->lock);
        waiting *calls = self->calls;
        self->calls = NULL;
        int over = self->over;
        pthread_mutex_unlock(&self->lock);
        while (calls) {
            waiting *call = calls;
            calls = call->next;
            work_on(self, call);
        }
        if (over) return NULL;
    }
}

static int32_t prepare(ts_lookup *lookup, struct ArrowSchema *keys, struct ArrowSchema *rows, uint64_t *most_keys,
                       ts_error *error) {
    twice *self = lookup->data;
    (void)most_keys;
    if (keys->n_children != 1 || (keys->children[0]->format[0] != 'l' && keys->children[0]->format[0] != 'L'))
        return fail(error, TS_SCHEMA, "ctwice takes one key column of 8-byte integers");
    made_schema *made = calloc(1, sizeof *made);
    if (!made) return fail(error, TS_INTERNAL, "out of memory");
    made->column = (struct ArrowSchema){.format = "l", .name = "twice", .release = release_column};
    made->list[0] = &made->column;
    *rows = (struct ArrowSchema){.format = "+s", .name = "", .n_children = 1, .children = made->list,
                                 .release = release_schema, .private_data = made};
    if (pthread_create(&self->thread, NULL, run, self) != 0) return fail(error, TS_INTERNAL, "no thread can be started");
    self->running = 1;
    return TS_OK;
}

static int32_t start(ts_lookup *lookup, uint64_t call, struct ArrowArray *keys, ts_error *error) {
    twice *self = lookup->data;
    waiting *new = calloc(1, sizeof *new);
    if (!new) return fail(error, TS_INTERNAL, "out of memory");
    new->call = call;
    new->keys = *keys;
    keys->release = NULL;
    pthread_mutex_lock(&self->lock);
    new->next = self->calls;
    self->calls = new;
    pthread_cond_signal(&self->news);
    pthread_mutex_unlock(&self->lock);
    return TS_OK;
}

static void release(ts_lookup *lookup) {
    twice *self = lookup->data;
    if (!self) return;
    lookup->data = NULL;
    pthread_mutex_lock(&self->lock);
    self->over = 1;
    pthread_cond_signal(&self->news);
    pthread_mutex_unlock(&self->lock);
    if (self->running) pthread_join(self->thread, NULL);
    answer_late_ones(self);
    pthread_mutex_destroy(&self->lock);
    pthread_cond_destroy(&self->news);
    free(self);
}

static const ts_lookup_table TWICE = {
    .size = sizeof TWICE, .prepare = prepare, .start = start, .cancel = NULL, .release = release};

/* ---- The plugin ------------------------------------------------------------------------------------------------------ */

static int32_t new_lookup(const ts_plugin *plugin, const char *name, size_t name_len, const char *parameter,
                          size_t parameter_len, const ts_host *host, ts_lookup *lookup, ts_error *error) {
    (void)plugin, (void)name, (void)name_len;
    twice *self = calloc(1, sizeof *self);
    if (!self) return fail(error, TS_INTERNAL, "out of memory");
    self->silent_every = number(parameter, parameter_len, "silentEvery");
    self->double_every = number(parameter, parameter_len, "doubleEvery");
    self->fail_every = number(parameter, parameter_len, "failEvery");
    self->host = host;
    self->answers = host->get_extension(host, "transship.lookup/1", strlen("transship.lookup/1"));
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->news, NULL);
    *lookup = (ts_lookup){&TWICE, self};
    return TS_OK;
}

static const ts_lookup_plugin LOOKUPS = {.size = sizeof LOOKUPS, .new_lookup = new_lookup};

static const void *get_extension(const ts_plugin *plugin, const char *id, size_t id_len) {
    static const char LOOKUP[] = "transship.lookup/1";
    (void)plugin;
    return id_len == sizeof LOOKUP - 1 && memcmp(id, LOOKUP, id_len) == 0 ? &LOOKUPS : NULL;
}

static const char DESCRIPTION[] =
    "{\"name\":\"clookup\",\"version\":\"1.0.0\",\"lookups\":[{\"names\":[\"ctwice\"],\"about\":\"Finds two times the key.\","
    "\"parameters\":[{\"name\":\"silentEvery\",\"takes\":\"integer\"},{\"name\":\"doubleEvery\",\"takes\":\"integer\"},"
    "{\"name\":\"failEvery\",\"takes\":\"integer\"}]}]}";

static const ts_plugin PLUGIN = {.size = sizeof PLUGIN,
                                 .abi_version = TS_ABI_VERSION,
                                 .description = DESCRIPTION,
                                 .description_len = sizeof DESCRIPTION - 1,
                                 .get_extension = get_extension};

TS_EXPORT int32_t transship_plugin_init(uint32_t host_abi_version, const ts_host *host, const ts_plugin **plugin,
                                        ts_error *error) {
    (void)host;
    if (host_abi_version != TS_ABI_VERSION) return fail(error, TS_UNSUPPORTED, "clookup speaks another version of the contract");
    *plugin = &PLUGIN;
    return TS_OK;
}
