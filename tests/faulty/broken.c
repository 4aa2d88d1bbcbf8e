/*
 * Libraries that are no good plugins, each made by compiling this file with one macro defined. What is wrong with them shows
 * when they are opened. What goes wrong later, in the calls of a plugin, is in malformed.c.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "transship.h"

#define DESCRIPTION "{\"name\":\"broken\",\"version\":\"1\",\"readers\":[{\"names\":[\"brokenreader\"]}]}"

#if defined(NO_SYMBOL)

TS_EXPORT int32_t some_other_function(void) { return 0; }

#else

#if defined(UNRESOLVED)
int32_t function_that_no_library_has(void);
#endif

TS_EXPORT int32_t transship_plugin_init(uint32_t host_abi_version, const ts_host *host, const ts_plugin **plugin,
                                        ts_error *error) {
    static ts_plugin table = {.size = sizeof table, .abi_version = TS_ABI_VERSION, .description = DESCRIPTION,
                              .description_len = sizeof DESCRIPTION - 1};
    (void)host_abi_version, (void)host, (void)error;
    *plugin = &table;
#if defined(OTHER_VERSION)
    table.abi_version = 99;
#elif defined(REFUSES)
    error->kind = TS_UNSUPPORTED;
    error->message = "this plugin wants a program of the future";
    error->message_len = 41;
    return TS_UNSUPPORTED;
#elif defined(SAYS_NOTHING)
    return TS_INTERNAL;
#elif defined(NO_TABLE)
    *plugin = 0;
#elif defined(SHORT_TABLE)
    table.size = 16;
#elif defined(NO_DESCRIPTION)
    table.description = 0;
#elif defined(GARBAGE)
    table.description = "}{";
    table.description_len = 2;
#elif defined(NOT_UTF8)
    table.description = "\xff\xfe";
    table.description_len = 2;
#elif defined(UNRESOLVED)
    return function_that_no_library_has();
#endif
    return TS_OK;
}

#endif
