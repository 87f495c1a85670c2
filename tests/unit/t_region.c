/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that become a segment: nobody else's are touched on the way. */
#include "support/test.h"

#include "index/region.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE (3u << 20)

static char path[64];

static int make_path(void **state)
{
    int fd;

    (void)state;
    snprintf(path, sizeof(path), "/tmp/clew-region-XXXXXX");
    fd = mkstemp(path);
    return fd >= 0 ? close(fd) : -1;
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

/* A file of `size` bytes, all `byte`; its mapping comes back. */
static const uint8_t *write_file(size_t size, int byte)
{
    const uint8_t *base = NULL;
    struct region region;
    size_t at = 0;

    assert_int_equal(region_open(&region, path, NULL), CLEW_OK);
    assert_int_equal(region_add(&region, size, &at, NULL), CLEW_OK);
    memset(region.base + at, byte, size);
    assert_int_equal(region_take(&region, &base, NULL), CLEW_OK);
    region_close(&region);
    return base;
}

/* A writer that took over from another may give a file's name once more. */
static void who_reads_a_file_keeps_it_when_its_name_is_used_again(void **state)
{
    const uint8_t *first = write_file(LARGE, 'a');
    const uint8_t *second = write_file(64, 'b');

    (void)state;
    assert_int_equal(first[0], 'a');
    assert_int_equal(first[LARGE - 1], 'a');
    assert_int_equal(second[0], 'b');
    assert_int_equal(munmap((void *)(uintptr_t)first, LARGE), 0);
    assert_int_equal(munmap((void *)(uintptr_t)second, 64), 0);
}

static void what_is_mapped_behind_a_file_that_failed_stays(void **state)
{
    const uint8_t *base = NULL;
    struct region region;
    size_t at = 0;
    char *next;

    (void)state;
    assert_int_equal(region_open(&region, path, NULL), CLEW_OK);
    assert_int_equal(region_reserve(&region, LARGE, NULL), CLEW_OK);
    assert_int_equal(region_add(&region, 4096, &at, NULL), CLEW_OK);
    assert_int_equal(close(region.fd), 0);
    region.fd = open("/dev/null", O_RDWR | O_CLOEXEC); /* cannot be cut */
    assert_int_not_equal(region_take(&region, &base, NULL), CLEW_OK);
    /* what the region let go is anybody's */
    next = mmap(region.base + 65536, 4096, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert_ptr_equal(next, region.base + 65536);
    next[0] = 'c';
    region_close(&region);
    assert_int_equal(next[0], 'c');
    assert_int_equal(munmap(next, 4096), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, make_path, remove_path)
    const struct CMUnitTest tests[] = {
        CASE(who_reads_a_file_keeps_it_when_its_name_is_used_again),
        CASE(what_is_mapped_behind_a_file_that_failed_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
