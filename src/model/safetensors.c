/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors.c - header, bounds, conversion. See safetensors.h.
 *
 * A file is a little-endian u64 length, that many bytes of JSON, then data.
 */
#include "model/safetensors.h"

#include "base/alloc.h"
#include "base/json.h"

#include <string.h>

#define LENGTH_BYTES 8

struct safetensors {
    json_t *header;
    struct str data;
};

enum clew_status safetensors_new(struct str file, struct safetensors **out,
                                 struct clew_error *err)
{
    struct safetensors *tensors;
    json_t *header = NULL;
    enum clew_status status;
    uint64_t len = 0;

    if (file.len >= LENGTH_BYTES) {
        memcpy(&len, file.s, LENGTH_BYTES);
    }
    if (len == 0 || len > SAFETENSORS_MAX_HEADER ||
        len > file.len - LENGTH_BYTES) {
        return clew_fail(err, CLEW_CORRUPT, "not a safetensors file");
    }
    status = json_parse(str_sub(file, LENGTH_BYTES, LENGTH_BYTES + len),
                        &header, err);
    if (status != CLEW_OK) {
        return status;
    }
    tensors = alloc_zero(1, sizeof(*tensors));
    if (!tensors || !json_is_object(header)) {
        status = tensors
                     ? clew_fail(err, CLEW_CORRUPT, "not a safetensors file")
                     : CLEW_NO_MEMORY;
        alloc_free(tensors);
        json_decref(header);
        return status;
    }
    tensors->header = header;
    tensors->data = str_sub(file, LENGTH_BYTES + len, file.len);
    *out = tensors;
    return CLEW_OK;
}

void safetensors_free(struct safetensors *tensors)
{
    if (tensors) {
        json_decref(tensors->header);
        alloc_free(tensors);
    }
}

static size_t size_of(enum safetensors_type type)
{
    switch (type) {
    case SAFETENSORS_F32:
        return 4;
    case SAFETENSORS_F16:
    case SAFETENSORS_BF16:
        return 2;
    case SAFETENSORS_I8:
    case SAFETENSORS_U8:
        return 1;
    }
    return 1;
}

bool safetensors_is_float(enum safetensors_type type)
{
    return type <= SAFETENSORS_BF16;
}

static bool read_type(const json_t *entry, enum safetensors_type *out)
{
    static const char *const names[] = {"F32", "F16", "BF16", "I8", "U8"};
    const char *name = json_string_value(json_object_get(entry, "dtype"));

    for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (enum safetensors_type)i;
            return true;
        }
    }
    return false;
}

const char *safetensors_note(const struct safetensors *tensors,
                             const char *name)
{
    return json_string_value(json_object_get(
        json_object_get(tensors->header, "__metadata__"), name));
}

/* A whole number from 0 to `max`; false on anything else. */
static bool read_size(const json_t *value, uint64_t max, size_t *out)
{
    json_int_t number = json_integer_value(value);

    if (!json_is_integer(value) || number < 0 || (uint64_t)number > max) {
        return false;
    }
    *out = (size_t)number;
    return true;
}

static bool read_shape(const json_t *entry, size_t max_count,
                       struct safetensors_tensor *out)
{
    const json_t *shape = json_object_get(entry, "shape");

    out->n_dims = json_array_size(shape);
    out->count = 1;
    if (!json_is_array(shape) || out->n_dims > SAFETENSORS_MAX_DIMS) {
        return false;
    }
    for (size_t i = 0; i < out->n_dims; i++) {
        size_t dim;

        if (!read_size(json_array_get(shape, i), max_count, &dim) || dim == 0 ||
            out->count > max_count / dim) {
            return false;
        }
        out->dims[i] = dim;
        out->count *= dim;
    }
    return true;
}

enum clew_status safetensors_find(const struct safetensors *tensors,
                                  const char *name,
                                  struct safetensors_tensor *out,
                                  struct clew_error *err)
{
    const json_t *entry = json_object_get(tensors->header, name);
    const json_t *range = json_object_get(entry, "data_offsets");
    struct safetensors_tensor tensor = {0};
    size_t from = 0;
    size_t to = 0;

    if (!entry) {
        return clew_fail(err, CLEW_NOT_FOUND, "no tensor \"%s\"", name);
    }
    if (!read_type(entry, &tensor.type)) {
        return clew_fail(err, CLEW_UNSUPPORTED,
                         "tensor \"%s\" is of a type that is not read", name);
    }
    if (!read_size(json_array_get(range, 0), tensors->data.len, &from) ||
        !read_size(json_array_get(range, 1), tensors->data.len, &to) ||
        from > to ||
        !read_shape(entry, (to - from) / size_of(tensor.type), &tensor) ||
        tensor.count * size_of(tensor.type) != to - from) {
        return clew_fail(err, CLEW_CORRUPT,
                         "tensor \"%s\" does not fit its file", name);
    }
    tensor.bytes = tensors->data.s + from;
    *out = tensor;
    return CLEW_OK;
}

static float from_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static float from_half(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t exponent = (half >> 10) & 0x1F;
    uint32_t fraction = half & 0x3FF;

    if (exponent == 0x1F) {
        return from_bits(sign | 0x7F800000u | fraction << 13);
    }
    if (exponent == 0) {
        float tiny = (float)fraction * 0x1p-24f;

        return sign ? -tiny : tiny;
    }
    return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

void safetensors_read(const struct safetensors_tensor *tensor, size_t from,
                      size_t count, float *out)
{
    const char *p = tensor->bytes + from * size_of(tensor->type);

    for (size_t i = 0; i < count; i++) {
        uint16_t half;

        switch (tensor->type) {
        case SAFETENSORS_F32:
            memcpy(&out[i], p + i * 4, 4);
            break;
        case SAFETENSORS_F16:
            memcpy(&half, p + i * 2, 2);
            out[i] = from_half(half);
            break;
        case SAFETENSORS_BF16:
            memcpy(&half, p + i * 2, 2);
            out[i] = from_bits((uint32_t)half << 16);
            break;
        case SAFETENSORS_I8:
            out[i] = (float)(signed char)p[i];
            break;
        case SAFETENSORS_U8:
            out[i] = (float)(unsigned char)p[i];
            break;
        }
    }
}
