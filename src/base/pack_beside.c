/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_beside.c - deflate with a dictionary. See pack_beside.h.
 *
 * The window is small: so is the memory for it, which is most of what packing
 * a short text costs.
 */
#include "base/pack_beside.h"

#include "base/alloc.h"
#include "base/pack.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

/* The form of a text that begins with this byte. */
#define FORM 2
#define HEAD_BYTES 2 /* the form and the check */
/* 8 KiB, which the dictionary and what is said beside fit into. */
#define WINDOW_BITS 13
#define MEMORY_LEVEL 5
#define BESIDE_BYTES 6000
#define CHUNK_BYTES 4096

/* What the fields of memories and summaries are made of, the most common last.
 * Never changed once stores were written with it: another is another form. */
static const char phrases[] =
    "{\"examples\":[\"\",\"\"],\"ways\":[\"\"],\"efforts\":[\"\"],\"n_used\":"
    "\"log\":[{\"at\":\"\",\"text\":\"\",\"by\":\"\"}],\"outcome\":\"worked\","
    "\"skill_id\":\"\",\"skill_outcome\":\"\",\"trigger\":\"\",\"until\":\""
    "T00:00:00.000Z\",\"when\":\"202T00:00:00.000Z\",\"twin_of\":\"\",\"due\""
    ",\"changes\":[{\"status\":\"abandoned\",\"at\":\"202"
    ",\"changes\":[{\"status\":\"resolved\",\"at\":\"202:00.000Z\",\"chat_id\":"
    "\"01\",\"seq\":,\"resolution\":\"\"[assistant: ,\"confidence\":"
    "0.699999988079071}]}\"resolution_confidence\":0.699999988079071,\""
    "{\"goal\":\",\"confidence\":0.9199999570846558}"
    "{\"confidence\":0.8500000238418579,\"source\":\"assistant\","
    "\"statement\":\"{\"confidence\":0.8500000238418579,\"source\":\"user\","
    "\"statement\":\"\"}"
    " should which there been when what would about into they their more some"
    " could time just than people because other after first please thanks"
    " thank know like need want make help think good great today tomorrow day"
    " week month year where who how much many work does not don't can't I'm"
    " I'll you're it's that's is there any with this that have from your will"
    " are was for you can the and to a in of I it is on \nDecided: \"Wanted: \""
    " (user); \" (assistant); \"\nFound: \" (user).\nLeft open: \"Topics: "
    "\nNames: . The . I . You ";
#define PHRASE_BYTES (sizeof(phrases) - 1)
_Static_assert(PHRASE_BYTES + BESIDE_BYTES <= (1u << WINDOW_BITS) - 262,
               "all of it is within reach");

static void *take_memory(void *arg, unsigned count, unsigned size)
{
    (void)arg;
    return alloc_array(NULL, count, size);
}

static void give_memory(void *arg, void *ptr)
{
    (void)arg;
    alloc_free(ptr);
}

/* The phrases, and then what is nearer. */
struct dictionary {
    unsigned char bytes[PHRASE_BYTES + BESIDE_BYTES];
    unsigned len;
};

static void fill(struct dictionary *d, struct str beside)
{
    size_t n = beside.len < BESIDE_BYTES ? beside.len : BESIDE_BYTES;

    memcpy(d->bytes, phrases, PHRASE_BYTES);
    if (n > 0) {
        memcpy(d->bytes + PHRASE_BYTES, beside.s, n);
    }
    d->len = (unsigned)(PHRASE_BYTES + n);
}

static char check_of(struct str text)
{
    return (char)(unsigned char)(str_hash(text) >> 56);
}

/* Let zlib go on until it ends, and keep what it gives. */
static enum clew_status run(z_stream *stream, int (*step)(z_stream *, int),
                            struct buf *out)
{
    unsigned char chunk[CHUNK_BYTES];
    int rc = Z_OK;

    while (rc == Z_OK) {
        stream->next_out = chunk;
        stream->avail_out = sizeof(chunk);
        rc = step(stream, Z_FINISH);
        if (rc == Z_BUF_ERROR && stream->avail_out == 0) {
            rc = Z_OK; /* there is more */
        }
        (void)buf_append(out, chunk, sizeof(chunk) - stream->avail_out);
        if (buf_status(out) != CLEW_OK) {
            return buf_status(out); /* of this, or of what came before */
        }
    }
    if (rc == Z_MEM_ERROR) {
        return CLEW_NO_MEMORY;
    }
    return rc == Z_STREAM_END && stream->avail_in == 0 ? CLEW_OK : CLEW_CORRUPT;
}

enum clew_status pack_beside(struct str text, struct str beside,
                             struct buf *out)
{
    z_stream stream = {.zalloc = take_memory, .zfree = give_memory};
    struct dictionary d;
    enum clew_status status = CLEW_NO_MEMORY;

    if (text.len > UINT_MAX) {
        return CLEW_TOO_LARGE;
    }
    if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -WINDOW_BITS,
                     MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        return CLEW_NO_MEMORY;
    }
    fill(&d, beside);
    stream.next_in = (z_const Bytef *)(uintptr_t)text.s;
    stream.avail_in = (unsigned)text.len;
    (void)buf_append_char(out, FORM); /* it sticks */
    (void)buf_append_char(out, check_of(text));
    if (deflateSetDictionary(&stream, d.bytes, d.len) == Z_OK) {
        status = run(&stream, deflate, out);
    }
    (void)deflateEnd(&stream); /* frees; its result says nothing new */
    return status;
}

enum clew_status unpack_beside(struct str bytes, struct str beside,
                               struct buf *out)
{
    z_stream stream = {.zalloc = take_memory, .zfree = give_memory};
    size_t before = out->len;
    struct dictionary d;
    enum clew_status status;

    if (bytes.len == 0 || bytes.s[0] != FORM) {
        return unpack(bytes, out);
    }
    if (bytes.len <= HEAD_BYTES || bytes.len > UINT_MAX) {
        return CLEW_CORRUPT;
    }
    if (inflateInit2(&stream, -WINDOW_BITS) != Z_OK) {
        return CLEW_NO_MEMORY;
    }
    fill(&d, beside);
    stream.next_in = (z_const Bytef *)(uintptr_t)(bytes.s + HEAD_BYTES);
    stream.avail_in = (unsigned)(bytes.len - HEAD_BYTES);
    status = inflateSetDictionary(&stream, d.bytes, d.len) == Z_OK
                 ? run(&stream, inflate, out)
                 : CLEW_NO_MEMORY; /* for the window: all else is given */
    (void)inflateEnd(&stream);     /* frees; its result says nothing new */
    return status == CLEW_OK && check_of(str_sub(buf_str(out), before,
                                                 out->len)) != bytes.s[1]
               ? CLEW_CORRUPT
               : status;
}
