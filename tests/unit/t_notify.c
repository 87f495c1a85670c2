/* SPDX-License-Identifier: Apache-2.0 */
/* t_notify.c - what a service manager is told. */
#include "support/test.h"

#include "cli/serve/notify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A manager's socket on a path or, with a first '@', on a name; says its
 * name in NOTIFY_SOCKET. */
static int listen_as(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(name);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    memcpy(address.sun_path, name, len);
    if (name[0] == '@') {
        address.sun_path[0] = '\0';
    }
    assert_int_equal(
        bind(fd, (struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
        0);
    assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
    return fd;
}

static void check_told(int fd)
{
    char text[32] = "";

    assert_true(notify("READY=1"));
    assert_int_equal(recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT), 7);
    assert_string_equal(text, "READY=1");
    (void)close(fd);
}

static void a_manager_on_a_path_is_told(void **state)
{
    char folder[] = "/tmp/clew-notify-XXXXXX";
    char path[64];

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/socket", folder);
    check_told(listen_as(path));
    assert_false(notify("READY=1")); /* it is gone */
    (void)unlink(path);
    (void)rmdir(folder);
}

static void a_manager_on_a_name_is_told(void **state)
{
    char name[64];

    (void)state;
    (void)snprintf(name, sizeof(name), "@clew-test-%ld", (long)getpid());
    check_told(listen_as(name));
}

static void without_a_manager_nothing_happens(void **state)
{
    char path[200];

    (void)state;
    assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
    assert_false(notify("READY=1"));
    memset(path, 'x', sizeof(path));
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(setenv("NOTIFY_SOCKET", path, 1), 0);
    assert_false(notify("READY=1"));
    assert_int_equal(setenv("NOTIFY_SOCKET", "vsock:2:1", 1), 0);
    assert_false(notify("READY=1"));
    assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_manager_on_a_path_is_told),
        cmocka_unit_test(a_manager_on_a_name_is_told),
        cmocka_unit_test(without_a_manager_nothing_happens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
