/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - fuzz: any bytes as a configuration file.
 */
#include "base/config.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct config *config = NULL;
    struct clew_error err;
    struct buf shown;
    char path[64];
    int fd = memfd_create("clew-fuzz", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, len) != (ssize_t)len) {
        abort();
    }
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (config_load(path, NULL, 0, &config, &err) == CLEW_OK) {
        buf_init(&shown, 1 << 24);
        if (config_show(config, false, &shown) != CLEW_OK) {
            abort();
        }
        buf_release(&shown);
        config_free(config);
    } else if (config) {
        abort();
    }
    (void)close(fd);
    return 0;
}
