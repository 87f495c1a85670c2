/* SPDX-License-Identifier: Apache-2.0 */
/* Session ids of MCP over HTTP: of one tenant and one user, and of this form.
 */
#include "support/test.h"
#include "support/world.h"

#include "api/answer/cursor.h"
#include "engine/key/secret.h"
#include "mcp/ticket.h"

static enum clew_status read_as(struct world *world, struct tickets *tickets,
                                const struct scope *scope, const char *user_id,
                                struct str id)
{
    struct mcp_peer peer = {.user_id = user_id};
    enum clew_status status =
        ticket_read(tickets, &world->arena, scope, id, &peer, NULL);

    if (status == CLEW_OK) {
        assert_string_equal(peer.version, "2025-06-18");
        assert_string_equal(peer.client, "a client");
    }
    return status;
}

static void an_id_is_of_its_tenant_and_its_user(void **state)
{
    static const char *const users[] = {NULL, "ada", "bob", " ada", "-"};
    enum { N_USERS = sizeof(users) / sizeof(users[0]) };
    struct world world;
    struct tickets *tickets = NULL;

    (void)state;
    world_open(&world);
    assert_int_equal(tickets_new(&world.engine, &tickets, NULL), CLEW_OK);
    for (size_t i = 0; i < N_USERS; i++) {
        struct mcp_peer peer = {
            .version = "2025-06-18", .client = "a client", .user_id = users[i]};
        struct str id = ticket_make(tickets, &world.arena, &world.scope, &peer);

        assert_non_null(id.s);
        for (size_t k = 0; k < N_USERS; k++) {
            assert_int_equal(
                read_as(&world, tickets, &world.scope, users[k], id),
                i == k ? CLEW_OK : CLEW_NOT_FOUND);
            assert_int_equal(
                read_as(&world, tickets, &world.other, users[k], id),
                CLEW_NOT_FOUND);
        }
    }
    tickets_free(tickets);
    world_close(&world);
}

static void an_id_of_before_is_unknown(void **state)
{
    unsigned char key[SECRET_SIZE];
    struct cursor_scope seal = {.key = key, .list = "mcp session"};
    struct world world;
    struct tickets *tickets = NULL;
    struct str id;

    (void)state;
    world_open(&world);
    assert_int_equal(tickets_new(&world.engine, &tickets, NULL), CLEW_OK);
    assert_int_equal(secret_get(&world.engine, "mcp", key, NULL), CLEW_OK);
    seal.tenant = world.scope.tenant;
    id = cursor_format(&seal, &world.arena,
                       str_of(arena_printf(&world.arena,
                                           "0011223344556677 %lld 2025-06-18 "
                                           "a client",
                                           (long long)WORLD_NOW)));
    assert_int_equal(read_as(&world, tickets, &world.scope, NULL, id),
                     CLEW_NOT_FOUND);
    assert_int_equal(read_as(&world, tickets, &world.scope, "ada", id),
                     CLEW_NOT_FOUND);
    tickets_free(tickets);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_is_of_its_tenant_and_its_user),
        cmocka_unit_test(an_id_of_before_is_unknown),
    };

    return WORLD_EACH(tests);
}
