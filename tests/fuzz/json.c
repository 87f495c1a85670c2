/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.c - fuzz: any bytes as a JSON body; what is written can be read again,
 * and writing settles: a second round changes nothing any more.
 */
#include "base/json.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Parse and write. The first text may hold anything, later ones only JSON. */
static bool round_trip(struct str text, struct buf *out)
{
    struct clew_error err;
    json_t *json = NULL;
    bool ok = json_parse(text, &json, &err) == CLEW_OK &&
              json_write(out, json) == CLEW_OK;

    json_decref(json);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static bool is_set_up;

    struct buf texts[3];

    if (!is_set_up) {
        json_setup(); /* as the program does: digits are kept */
        is_set_up = true;
    }
    for (size_t i = 0; i < 3; i++) {
        buf_init(&texts[i], 1 << 26);
    }
    if (round_trip((struct str){(const char *)data, len}, &texts[0])) {
        if (!round_trip(buf_str(&texts[0]), &texts[1]) ||
            !round_trip(buf_str(&texts[1]), &texts[2]) ||
            !str_eq(buf_str(&texts[1]), buf_str(&texts[2]))) {
            abort();
        }
    }
    for (size_t i = 0; i < 3; i++) {
        buf_release(&texts[i]);
    }
    return 0;
}
