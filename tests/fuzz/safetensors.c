/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors.c - fuzz: any bytes as a file of weights; every tensor it gives
 * out can be read to its end.
 */
#include "model/safetensors.h"

#include "base/alloc.h"
#include "base/json.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void read_named(const struct safetensors *tensors, const char *name)
{
    struct safetensors_tensor tensor;
    float value;

    if (safetensors_find(tensors, name, &tensor, NULL) == CLEW_OK) {
        for (size_t i = 0; i < tensor.count; i++) {
            safetensors_read(&tensor, i, 1, &value);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    /* in memory of its own size, so that a read past it is seen */
    char *copy = alloc_copy((const char *)data, len);
    struct safetensors *tensors = NULL;

    if (copy &&
        safetensors_new((struct str){copy, len}, &tensors, NULL) == CLEW_OK) {
        read_named(tensors, "t");
        read_named(tensors, "u");
        read_named(tensors, "__metadata__");
    }
    safetensors_free(tensors);
    alloc_free(copy);
    return 0;
}
