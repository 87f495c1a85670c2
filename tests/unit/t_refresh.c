/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics for the planner: taken once there is something to plan for. */
#include "support/one_talk.h"
#include "support/test.h"

#include "store/db.h"

#include <stdio.h>
#include <string.h>

DB_SQL_SYSTEM(SELECT_ROWS, "SELECT CAST(reltuples AS BIGINT) FROM pg_class"
                           " WHERE relname = 'turns'");

static enum clew_status do_count(struct store_tx *tx, void *arg,
                                 struct clew_error *err)
{
    int64_t *count = arg;
    struct db_rows rows;
    enum clew_status status =
        db_query(tx, &SELECT_ROWS, DB_NO_ARGS, &rows, err);

    if (status != CLEW_OK) {
        return status;
    }
    *count = db_next(&rows) ? db_get_int(&rows, 0) : -2;
    return db_end(&rows, err);
}

/* Turns the planner knows of, after it was asked to look. */
static int64_t known_turns(void)
{
    struct store *store = talk.world.engine.store;
    struct clew_error err = {0};
    int64_t count = 0;

    assert_int_equal(store_refresh(store, &err), CLEW_OK);
    assert_int_equal(store_read_system(store, do_count, &count, &err), CLEW_OK);
    return count;
}

static void tell(unsigned count)
{
    char text[1500]; /* shorter than what is kept beside the table */

    for (unsigned i = 0; i < count; i++) {
        size_t len = 0;

        while (len + 16 < sizeof(text)) { /* not to be compressed away */
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%x ",
                                    (i + 1) * 7919u * (unsigned)(len + 1));
        }
        talk_say(&talk, 'u', text);
    }
}

static void the_planner_learns_of_what_was_brought_in(void **state)
{
    struct clew_error err = {0};

    (void)state;
    talk_open(&talk);
    assert_int_equal(store_refresh(talk.world.engine.store, &err), CLEW_OK);
    if (strcmp(store_backend(talk.world.engine.store), "postgres") == 0) {
        tell(2);
        assert_int_equal(known_turns(), -1); /* too few to matter */
        tell(98);
        assert_int_equal(known_turns(), 100);
        tell(10);
        assert_int_equal(known_turns(), 100); /* still near enough */
        tell(140);
        assert_int_equal(known_turns(), 250);
    }
    talk_close(&talk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_planner_learns_of_what_was_brought_in),
    };

    return WORLD_EACH(tests);
}
