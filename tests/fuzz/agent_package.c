/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_package.c - fuzz: any bytes as an agent package.
 */
#include "base/arena.h"
#include "engine/keep/agents.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char text[] = "I'm getting an error. It crashes every time.";
    struct arena arena;
    struct agent agent;
    struct intent intent;
    struct clew_error err = {0};
    int line = 0;

    arena_init(&arena, 1u << 24);
    if (agent_parse(&arena, "p.yaml", (struct str){(const char *)data, len},
                    &agent, &line, &err) == CLEW_OK) {
        if (intent_of(&arena, str_of(text), (struct str){0}, &intent) !=
            CLEW_OK) {
            abort();
        }
        for (size_t i = 0; i < agent.n_fields; i++) {
            (void)agent_value(&agent.fields[i],
                              agent_match(&agent, str_of(text), &intent, false),
                              str_of(text), &intent);
        }
    } else if (line < 1 || !strstr(err.message, "p.yaml:")) {
        abort();
    }
    arena_release(&arena);
    return 0;
}
