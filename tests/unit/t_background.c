/* SPDX-License-Identifier: Apache-2.0 */
/* base/background.h: the thread that begins gives way, and no other. */
#include "support/test.h"

#include "base/background.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct seen {
    int before;
    int after;
    int again; /* of a thread that gave way further by itself */
    char name[16];
};

static int niceness(void)
{
    return getpriority(PRIO_PROCESS, (id_t)gettid());
}

static void *begin(void *arg)
{
    struct seen *seen = arg;

    seen->before = niceness();
    background_begin("clew-tested");
    seen->after = niceness();
    assert_int_equal(setpriority(PRIO_PROCESS, (id_t)gettid(), 15), 0);
    background_begin("clew-tested");
    seen->again = niceness();
    (void)pthread_getname_np(pthread_self(), seen->name, sizeof(seen->name));
    return NULL;
}

static void gives_way_alone(void **state)
{
    struct seen seen = {0};
    int mine = niceness();
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, begin, &seen), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(seen.before, mine);
    assert_true(seen.after > seen.before || seen.before >= 10);
    assert_int_equal(seen.again, 15);
    assert_string_equal(seen.name, "clew-tested");
    assert_int_equal(niceness(), mine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_way_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
