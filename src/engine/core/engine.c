/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.c - what the configuration says of the whole. See engine.h; open.c
 * makes one.
 */
#include "engine/core/engine.h"

#include "base/background.h"
#include "base/config.h"

bool engine_observes(const struct engine *engine)
{
    return config_bool(engine->config, "capture.observe");
}

struct crew *engine_crew(const struct engine *engine)
{
    return background_is_here() ? engine->later : engine->crew;
}
