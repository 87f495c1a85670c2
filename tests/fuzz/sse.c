/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sse.c - any bytes as a streamed reply of each API, in two pieces.
 */
#include "engine/call/canon.h"
#include "proxy/reply.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum canon_api api;
    struct canon_reply canon;
    struct reply reply;
    json_t *body;
    size_t cut;

    if (size < 2) {
        return 0;
    }
    api = (enum canon_api)(data[0] % 3);
    cut = 2 + data[1] % (size - 1);
    cut = cut > size ? size : cut;
    reply_init(&reply, api, (data[0] & 128) == 0);
    reply_feed(&reply, (const char *)data + 2, cut - 2);
    reply_feed(&reply, (const char *)data + cut, size - cut);
    body = reply_take(&reply);
    if (canon_reply_of(body, &canon) == CLEW_OK) {
        canon_reply_release(&canon);
    }
    json_decref(body);
    reply_release(&reply);
    return 0;
}
