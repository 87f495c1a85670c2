/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd.c - whole texts through a descriptor. See fd.h.
 */
#include "base/fd.h"

#include <errno.h>
#include <unistd.h>

bool fd_write_all(int fd, struct str bytes)
{
    while (bytes.len > 0) {
        ssize_t n = write(fd, bytes.s, bytes.len);

        if (n > 0) {
            bytes = str_sub(bytes, (size_t)n, bytes.len);
        } else if (n == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

enum clew_status fd_read_all(int fd, struct buf *out)
{
    char part[16384];

    for (;;) {
        ssize_t n = read(fd, part, sizeof(part));

        if (n == 0) {
            return CLEW_OK;
        }
        if (n < 0 && errno != EINTR) {
            return CLEW_UNAVAILABLE;
        }
        if (n > 0 && buf_append(out, part, (size_t)n) != CLEW_OK) {
            return buf_status(out);
        }
    }
}
