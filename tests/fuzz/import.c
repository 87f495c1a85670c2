/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an export: read to the end or refused, messages in order. */
#include "import/import.h"
#include "import/reader.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum clew_status find(void *arg, struct str id, struct import_place *out,
                             struct clew_error *err)
{
    (void)arg;
    (void)err;
    out->is_known = id.len % 5 == 0; /* some were there before */
    out->seq = 1;
    (void)snprintf(out->chat, sizeof(out->chat), "known");
    return CLEW_OK;
}

static enum clew_status add(void *arg, const char *chat,
                            const struct import_message *messages, size_t n,
                            struct import_place *out, struct clew_error *err)
{
    (void)arg;
    (void)err;
    if (n == 0 || (!chat[0] && n != 1)) {
        abort();
    }
    for (size_t i = 0; i < n; i++) {
        if (!messages[i].id.s || !messages[i].role || !messages[i].content) {
            abort();
        }
        out[i].seq = 1;
        (void)snprintf(out[i].chat, sizeof(out[i].chat), "%s",
                       chat[0] ? chat : "new");
    }
    return CLEW_OK;
}

static enum clew_status fork_chat(void *arg, const char *chat, int64_t seq,
                                  char out_chat[IMPORT_CHAT_ID_SIZE],
                                  struct clew_error *err)
{
    (void)arg;
    (void)err;
    if (!chat[0] || seq < 0) {
        abort();
    }
    (void)snprintf(out_chat, IMPORT_CHAT_ID_SIZE, "fork");
    return CLEW_OK;
}

static enum clew_status title(void *arg, const char *chat, struct str text,
                              struct clew_error *err)
{
    (void)arg;
    (void)text;
    (void)err;
    if (!chat[0]) {
        abort();
    }
    return CLEW_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct import_ops ops = {find, add, fork_chat, title};
    struct importer *importer = NULL;
    struct clew_error err = {0};
    enum import_format format;
    FILE *file;

    if (size == 0) {
        return 0;
    }
    file = fmemopen((void *)(uintptr_t)data, size, "r");
    if (!file) {
        return 0;
    }
    if (importer_new(&ops, NULL, &importer, &err) == CLEW_OK &&
        import_read(importer, file, IMPORT_UNKNOWN, &format, &err) != CLEW_OK &&
        err.message[0] == '\0') {
        abort(); /* a fault without words */
    }
    importer_free(importer);
    (void)fclose(file);
    return 0;
}
