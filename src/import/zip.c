/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zip.c - the directory of an archive and streams of its entries. See zip.h.
 */
#include "import/zip.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define END_BYTES 22
#define END_SEARCH (END_BYTES + 65535)
#define ENTRY_BYTES 46
#define LOCAL_BYTES 30
#define MARK_END 0x06054b50u
#define MARK_END64 0x06064b50u
#define MARK_ENTRY 0x02014b50u
#define MARK_LOCAL 0x04034b50u
#define WIDE 0xffffffffu
#define STREAM_BYTES 65536

/* --- numbers -------------------------------------------------------------- */

static uint32_t u16(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static uint32_t u32(const unsigned char *at)
{
    return u16(at) | u16(at + 2) << 16;
}

static int64_t i64(const unsigned char *at)
{
    uint64_t value = (uint64_t)u32(at) | (uint64_t)u32(at + 4) << 32;

    return value > INT64_MAX ? -1 : (int64_t)value;
}

static bool read_at(FILE *file, int64_t offset, void *out, size_t len)
{
    return offset >= 0 && fseeko(file, offset, SEEK_SET) == 0 &&
           fread(out, 1, len, file) == len;
}

bool zip_is(FILE *file)
{
    unsigned char mark[4];
    bool is_zip = fread(mark, 1, 4, file) == 4 &&
                  (u32(mark) == MARK_LOCAL || u32(mark) == MARK_END);

    rewind(file);
    return is_zip;
}

/* --- the directory -------------------------------------------------------- */

struct directory {
    int64_t offset;
    int64_t n_entries;
};

static enum clew_status broken(struct clew_error *err, const char *what)
{
    return clew_fail(err, CLEW_INVALID, "the zip file is damaged: %s", what);
}

/* The record of 64 bits that stands before the end, if there is one. */
static bool find_wide(FILE *file, int64_t end, struct directory *out)
{
    unsigned char locator[20];
    unsigned char record[56];

    if (!read_at(file, end - 20, locator, sizeof(locator)) ||
        u32(locator) != 0x07064b50u ||
        !read_at(file, i64(locator + 8), record, sizeof(record)) ||
        u32(record) != MARK_END64) {
        return false;
    }
    out->n_entries = i64(record + 32);
    out->offset = i64(record + 48);
    return true;
}

/* The end record is the last thing in the file, behind it a comment. */
static enum clew_status find_directory(FILE *file, struct directory *out,
                                       struct clew_error *err)
{
    static unsigned char tail[END_SEARCH];
    int64_t size;
    size_t len;

    if (fseeko(file, 0, SEEK_END) != 0) {
        return clew_fail(err, CLEW_UNAVAILABLE, "the zip cannot be read");
    }
    size = ftello(file);
    len = size < END_SEARCH ? (size_t)size : END_SEARCH;
    if (len < END_BYTES || !read_at(file, size - (int64_t)len, tail, len)) {
        return broken(err, "it is cut off");
    }
    for (size_t i = len - END_BYTES + 1; i > 0; i--) {
        const unsigned char *at = tail + i - 1;

        if (u32(at) != MARK_END) {
            continue;
        }
        out->n_entries = u16(at + 10);
        out->offset = u32(at + 16);
        if ((out->n_entries == 0xffff || out->offset == WIDE) &&
            !find_wide(file, size - (int64_t)len + (int64_t)i - 1, out)) {
            return broken(err, "its directory is not where it says");
        }
        return CLEW_OK;
    }
    return broken(err, "it is cut off: its directory is missing");
}

/* Sizes that did not fit into 32 bits are in an extra field, in this order. */
static bool read_wide(struct zip_entry *entry, const unsigned char *extra,
                      size_t len)
{
    int64_t *wide[] = {&entry->size_bytes, &entry->packed_bytes,
                       &entry->offset};
    size_t at = 0;

    while (at + 4 <= len) {
        size_t size = u16(extra + at + 2);
        size_t from = at + 4;

        if (from + size > len) {
            return false;
        }
        for (size_t i = 0; u16(extra + at) == 1 && i < 3; i++) {
            if (*wide[i] == WIDE) {
                if (from + 8 > at + 4 + size) {
                    return false;
                }
                *wide[i] = i64(extra + from);
                from += 8;
            }
        }
        at += 4 + size;
    }
    return entry->size_bytes >= 0 && entry->packed_bytes >= 0 &&
           entry->offset >= 0;
}

/* A name that stays in the archive: nothing is written by it, but it is shown
 * and compared. */
static bool is_decent(const char *name, size_t len)
{
    return len > 0 && len <= ZIP_MAX_NAME && name[0] != '/' &&
           memchr(name, '\0', len) == NULL && strstr(name, "../") == NULL;
}

static enum clew_status check_entry(const struct zip_entry *entry,
                                    struct clew_error *err)
{
    if (entry->size_bytes > ZIP_MAX_ENTRY_BYTES ||
        (entry->size_bytes > (64 << 20) &&
         entry->size_bytes / ZIP_MAX_RATIO > entry->packed_bytes)) {
        return clew_fail(err, CLEW_TOO_LARGE,
                         "\"%.100s\" in the zip file would unpack to %lld MB",
                         entry->name, (long long)(entry->size_bytes >> 20));
    }
    return CLEW_OK;
}

/* The entry at `*offset`, which moves behind it. */
static enum clew_status read_entry(struct zip *zip, int64_t *offset,
                                   struct clew_error *err)
{
    unsigned char head[ENTRY_BYTES];
    char text[ZIP_MAX_NAME + 1];
    static unsigned char extra[65536];
    struct zip_entry *entry = &zip->entries[zip->n_entries];
    size_t name_len;
    size_t extra_len;

    if (!read_at(zip->file, *offset, head, sizeof(head)) ||
        u32(head) != MARK_ENTRY) {
        return broken(err, "its directory is cut off");
    }
    name_len = u16(head + 28);
    extra_len = u16(head + 30);
    if (name_len > ZIP_MAX_NAME) {
        return clew_fail(err, CLEW_TOO_LARGE,
                         "a name in the zip file is too long");
    }
    text[name_len] = '\0';
    if (fread(text, 1, name_len, zip->file) != name_len ||
        fread(extra, 1, extra_len, zip->file) != extra_len) {
        return broken(err, "its directory is cut off");
    }
    *entry = (struct zip_entry){.packed_bytes = u32(head + 20),
                                .size_bytes = u32(head + 24),
                                .offset = u32(head + 42),
                                .crc = u32(head + 16),
                                .method = (int)u16(head + 10),
                                .is_encrypted = (head[8] & 1) != 0};
    if (!is_decent(text, name_len) || !read_wide(entry, extra, extra_len)) {
        return broken(err, "an entry of its directory is wrong");
    }
    entry->name = alloc_string(text);
    if (!entry->name) {
        return clew_no_memory(err);
    }
    zip->n_entries++;
    *offset += ENTRY_BYTES + (int64_t)name_len + (int64_t)extra_len +
               (int64_t)u16(head + 32);
    return check_entry(entry, err);
}

static int by_name(const void *a, const void *b)
{
    const struct zip_entry *x = a;
    const struct zip_entry *y = b;

    return strcmp(x->name, y->name);
}

enum clew_status zip_open(struct zip *zip, FILE *file, struct clew_error *err)
{
    struct directory directory = {0};
    enum clew_status status;
    int64_t offset;

    *zip = (struct zip){.file = file};
    status = find_directory(file, &directory, err);
    if (status == CLEW_OK &&
        (directory.n_entries < 0 || directory.n_entries > ZIP_MAX_ENTRIES)) {
        status =
            clew_fail(err, CLEW_TOO_LARGE, "the zip file holds too many files");
    }
    if (status == CLEW_OK) {
        zip->entries = alloc_zero((size_t)directory.n_entries + 1,
                                  sizeof(zip->entries[0]));
        status = zip->entries ? CLEW_OK : clew_no_memory(err);
    }
    offset = directory.offset;
    for (int64_t i = 0; i < directory.n_entries && status == CLEW_OK; i++) {
        status = read_entry(zip, &offset, err);
    }
    if (status == CLEW_OK) {
        qsort(zip->entries, zip->n_entries, sizeof(zip->entries[0]), by_name);
    }
    return status;
}

void zip_close(struct zip *zip)
{
    for (size_t i = 0; i < zip->n_entries; i++) {
        alloc_free(zip->entries[i].name);
    }
    alloc_free(zip->entries);
    *zip = (struct zip){0};
}

/* --- the stream of an entry ----------------------------------------------- */

struct stream {
    struct zip *zip;
    const struct zip_entry *entry;
    int64_t at;    /* in the file, of the next packed byte */
    int64_t left;  /* packed bytes */
    int64_t n_out; /* bytes given out */
    uLong crc;     /* of them */
    bool is_deflated;
    bool has_ended;
    z_stream z;
    unsigned char packed[65536];
};

static ssize_t fail(struct stream *s, const char *what)
{
    (void)clew_fail(&s->zip->trouble, CLEW_INVALID,
                    "\"%.100s\" in the zip file is damaged: %s", s->entry->name,
                    what);
    return -1;
}

/* More packed bytes; false at their end. */
static bool refill(struct stream *s)
{
    size_t len = s->left < (int64_t)sizeof(s->packed) ? (size_t)s->left
                                                      : sizeof(s->packed);

    if (len == 0 || !read_at(s->zip->file, s->at, s->packed, len)) {
        return false;
    }
    s->at += (int64_t)len;
    s->left -= (int64_t)len;
    s->z.next_in = s->packed;
    s->z.avail_in = (uInt)len;
    return true;
}

/* Unpack up to `len` bytes; -1 if they are no deflate stream. */
static ssize_t inflate_some(struct stream *s, char *out, size_t len)
{
    s->z.next_out = (unsigned char *)out;
    s->z.avail_out = (uInt)len;
    while (s->z.avail_out == (uInt)len && !s->has_ended) {
        int result;

        if (s->z.avail_in == 0 && !refill(s)) {
            return fail(s, "it is cut off");
        }
        result = inflate(&s->z, Z_NO_FLUSH);
        if (result == Z_STREAM_END) {
            s->has_ended = true;
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            return fail(s, "it cannot be unpacked");
        }
    }
    return (ssize_t)(len - s->z.avail_out);
}

static ssize_t copy_some(struct stream *s, char *out, size_t len)
{
    size_t n;

    if (s->z.avail_in == 0 && s->left == 0) {
        s->has_ended = true;
        return 0;
    }
    if (s->z.avail_in == 0 && !refill(s)) {
        return fail(s, "it is cut off");
    }
    n = s->z.avail_in < len ? s->z.avail_in : len;
    memcpy(out, s->z.next_in, n);
    s->z.next_in += n;
    s->z.avail_in -= (uInt)n;
    return (ssize_t)n;
}

static ssize_t stream_read(void *cookie, char *out, size_t len)
{
    struct stream *s = cookie;
    ssize_t n;

    if (s->has_ended || len == 0) {
        return 0;
    }
    len = len > (1 << 20) ? (1 << 20) : len;
    n = s->is_deflated ? inflate_some(s, out, len) : copy_some(s, out, len);
    if (n < 0) {
        return n;
    }
    s->n_out += n;
    s->crc = crc32(s->crc, (const unsigned char *)out, (uInt)n);
    if (s->n_out > s->entry->size_bytes) {
        return fail(s, "it is longer than its directory says");
    }
    if (s->has_ended && (s->n_out != s->entry->size_bytes ||
                         (uint32_t)s->crc != s->entry->crc)) {
        return fail(s, "its checksum is wrong");
    }
    return n;
}

static int stream_close(void *cookie)
{
    struct stream *s = cookie;

    if (s->is_deflated) {
        (void)inflateEnd(&s->z); /* nothing is left to flush */
    }
    alloc_free(s);
    return 0;
}

enum clew_status zip_read(struct zip *zip, const struct zip_entry *entry,
                          FILE **out_file, struct clew_error *err)
{
    static const cookie_io_functions_t functions = {.read = stream_read,
                                                    .close = stream_close};
    unsigned char head[LOCAL_BYTES];
    struct stream *s;
    FILE *file;

    if (entry->is_encrypted || (entry->method != 0 && entry->method != 8)) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "\"%.100s\" in the zip file is %s", entry->name,
                         entry->is_encrypted ? "encrypted"
                                             : "packed in an unknown way");
    }
    if (!read_at(zip->file, entry->offset, head, sizeof(head)) ||
        u32(head) != MARK_LOCAL) {
        return broken(err, "an entry is not where its directory says");
    }
    s = alloc_zero(1, sizeof(*s));
    if (!s) {
        return clew_no_memory(err);
    }
    s->zip = zip;
    s->entry = entry;
    s->at = entry->offset + LOCAL_BYTES + (int64_t)u16(head + 26) +
            (int64_t)u16(head + 28);
    s->left = entry->packed_bytes;
    s->crc = crc32(0, NULL, 0);
    if (entry->method == 8) {
        if (inflateInit2(&s->z, -MAX_WBITS) != Z_OK) {
            alloc_free(s);
            return clew_no_memory(err);
        }
        s->is_deflated = true;
    }
    file = fopencookie(s, "r", functions);
    if (!file) {
        (void)stream_close(s);
        return clew_no_memory(err);
    }
    (void)setvbuf(file, NULL, _IOFBF, STREAM_BYTES); /* slower without */
    *out_file = file;
    return CLEW_OK;
}
