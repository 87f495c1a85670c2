/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_value.c - values in PostgreSQL's binary format.
 *
 * Parameters go out with their type named, so the server never guesses one;
 * results come back as whatever the expression's type is, and the few numeric
 * types are read alike.
 */
#include "store/postgres_internal.h"

#include <endian.h>
#include <string.h>

/* Built-in type numbers, fixed by PostgreSQL's catalogue. */
enum {
    TYPE_BOOL = 16,
    TYPE_BYTEA = 17,
    TYPE_INT8 = 20,
    TYPE_INT2 = 21,
    TYPE_INT4 = 23,
    TYPE_TEXT = 25,
    TYPE_FLOAT4 = 700,
    TYPE_FLOAT8 = 701,
    TYPE_BYTEA_ARRAY = 1001,
    TYPE_TEXT_ARRAY = 1009,
    TYPE_INT8_ARRAY = 1016,
    TYPE_NUMERIC = 1700
};

/* All lists of one statement, encoded. */
#define MAX_LISTS_BYTES (64u * 1024 * 1024)

Oid postgres_type_of(const struct db_value *value)
{
    switch (value->type) {
    case DB_NULL:
        return 0;
    case DB_INT:
        return TYPE_INT8;
    case DB_REAL:
        return TYPE_FLOAT8;
    case DB_TEXT:
        return TYPE_TEXT;
    case DB_BYTES:
    case DB_UUID:
        return TYPE_BYTEA;
    case DB_UUIDS:
        return TYPE_BYTEA_ARRAY;
    case DB_INTS:
        return TYPE_INT8_ARRAY;
    case DB_TEXTS:
        return TYPE_TEXT_ARRAY;
    }
    return 0;
}

static void append_int32(struct buf *out, size_t value)
{
    uint32_t wire = htobe32((uint32_t)value);

    buf_append(out, &wire, sizeof(wire));
}

/* An array: dimensions, null flag, item type, length, first index, items. */
static void append_list(struct buf *out, const struct db_value *value)
{
    append_int32(out, value->len > 0 ? 1 : 0);
    append_int32(out, 0);
    append_int32(out, value->type == DB_UUIDS  ? TYPE_BYTEA
                      : value->type == DB_INTS ? TYPE_INT8
                                               : TYPE_TEXT);
    if (value->len == 0) {
        return;
    }
    append_int32(out, value->len);
    append_int32(out, 1);
    for (size_t i = 0; i < value->len; i++) {
        if (value->type == DB_UUIDS) {
            append_int32(out, sizeof(struct uuid));
            buf_append(out, ((const struct uuid *)value->p)[i].b,
                       sizeof(struct uuid));
        } else if (value->type == DB_TEXTS) {
            struct str text = ((const struct str *)value->p)[i];

            append_int32(out, text.len);
            buf_append(out, text.s, text.len);
        } else {
            uint64_t wire = htobe64((uint64_t)((const int64_t *)value->p)[i]);

            append_int32(out, sizeof(wire));
            buf_append(out, &wire, sizeof(wire));
        }
    }
}

static void encode(struct pg_args *out, size_t i, const struct db_value *value)
{
    uint64_t bits = (uint64_t)value->i;
    size_t start = out->lists.len;

    out->formats[i] = 1;
    out->values[i] = NULL;
    out->lengths[i] = 0;
    switch (value->type) {
    case DB_NULL:
        break;
    case DB_REAL:
        memcpy(&bits, &value->r, sizeof(bits));
        __attribute__((fallthrough));
    case DB_INT:
        out->scratch[i] = htobe64(bits);
        out->values[i] = (const char *)&out->scratch[i];
        out->lengths[i] = sizeof(bits);
        break;
    case DB_TEXT:
    case DB_BYTES:
    case DB_UUID:
        out->values[i] = value->p;
        out->lengths[i] = (int)value->len;
        break;
    case DB_UUIDS:
    case DB_INTS:
    case DB_TEXTS:
        append_list(&out->lists, value);
        out->scratch[i] = start; /* the buffer may still move */
        out->lengths[i] = (int)(out->lists.len - start);
        break;
    }
}

enum clew_status postgres_args_init(struct pg_args *out,
                                    const struct db_value *args, size_t n)
{
    buf_init(&out->lists, MAX_LISTS_BYTES);
    for (size_t i = 0; i < n; i++) {
        encode(out, i, &args[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (args[i].type == DB_UUIDS || args[i].type == DB_INTS ||
            args[i].type == DB_TEXTS) {
            out->values[i] = out->lists.data + out->scratch[i];
        }
    }
    return buf_status(&out->lists);
}

void postgres_args_release(struct pg_args *args)
{
    buf_release(&args->lists);
}

static int16_t read_int16(const char *bytes)
{
    uint16_t wire;

    memcpy(&wire, bytes, sizeof(wire));
    return (int16_t)be16toh(wire);
}

static int32_t read_int32(const char *bytes)
{
    uint32_t wire;

    memcpy(&wire, bytes, sizeof(wire));
    return (int32_t)be32toh(wire);
}

static int64_t read_int64(const char *bytes)
{
    uint64_t wire;

    memcpy(&wire, bytes, sizeof(wire));
    return (int64_t)be64toh(wire);
}

/* A numeric is digits of base 10000 with the weight of the first; sums of
 * integers come as one. */
static double read_numeric(const char *bytes, int len)
{
    int n_digits = len >= 8 ? read_int16(bytes) : 0;
    int weight = len >= 8 ? read_int16(bytes + 2) : 0;
    bool is_negative = len >= 8 && read_int16(bytes + 4) == 0x4000;
    double value = 0;

    for (int i = 0; i < n_digits && 8 + 2 * i + 2 <= len; i++) {
        value = value * 10000 + read_int16(bytes + 8 + 2 * i);
        weight--;
    }
    for (; weight >= 0; weight--) {
        value *= 10000;
    }
    for (; weight < -1; weight++) {
        value /= 10000;
    }
    return is_negative ? -value : value;
}

/* The whole part, exactly; out of range it stops at the range's end. */
static int64_t read_numeric_int(const char *bytes, int len)
{
    int n_digits = len >= 8 ? read_int16(bytes) : 0;
    int weight = len >= 8 ? read_int16(bytes + 2) : -1;
    bool is_negative = len >= 8 && read_int16(bytes + 4) == 0x4000;
    int64_t value = 0;

    for (int i = 0; i <= weight; i++) {
        int digit = i < n_digits && 8 + 2 * i + 2 <= len
                        ? read_int16(bytes + 8 + 2 * i)
                        : 0;

        if (__builtin_mul_overflow(value, 10000, &value) ||
            __builtin_add_overflow(value, is_negative ? -digit : digit,
                                   &value)) {
            return is_negative ? INT64_MIN : INT64_MAX;
        }
    }
    return value;
}

static double read_float(const char *bytes, int len)
{
    int64_t bits;
    double value;

    if (len == 4) {
        int32_t few = read_int32(bytes);
        float narrow;

        memcpy(&narrow, &few, sizeof(narrow));
        return (double)narrow;
    }
    bits = read_int64(bytes);
    memcpy(&value, &bits, sizeof(value));
    return value;
}

int64_t postgres_decode_int(const PGresult *result, int row, int column)
{
    const char *bytes = PQgetvalue(result, row, column);
    int len = PQgetlength(result, row, column);

    if (PQgetisnull(result, row, column)) {
        return 0;
    }
    switch (PQftype(result, column)) {
    case TYPE_INT8:
        return read_int64(bytes);
    case TYPE_INT4:
        return read_int32(bytes);
    case TYPE_INT2:
        return read_int16(bytes);
    case TYPE_BOOL:
        return bytes[0] != 0;
    case TYPE_FLOAT4:
    case TYPE_FLOAT8:
        return (int64_t)read_float(bytes, len);
    case TYPE_NUMERIC:
        return read_numeric_int(bytes, len);
    default: /* type numbers are open-ended */
        return 0;
    }
}

double postgres_decode_real(const PGresult *result, int row, int column)
{
    const char *bytes = PQgetvalue(result, row, column);
    int len = PQgetlength(result, row, column);

    if (PQgetisnull(result, row, column)) {
        return 0;
    }
    switch (PQftype(result, column)) {
    case TYPE_FLOAT4:
    case TYPE_FLOAT8:
        return read_float(bytes, len);
    case TYPE_NUMERIC:
        return read_numeric(bytes, len);
    default: /* the rest are whole numbers */
        return (double)postgres_decode_int(result, row, column);
    }
}
