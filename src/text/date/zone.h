/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zone.h - local time and UTC. text_zone_offset() is in analysis.h.
 *
 * A zone that is not known is taken as UTC here. Local times are milliseconds
 * since 1970 as a clock on the wall would count them.
 * Thread-safety: safe.
 */
#ifndef TEXT_ZONE_H
#define TEXT_ZONE_H

#include "base/str.h"
#include "text/analysis.h"

#include <stdint.h>

int64_t zone_to_local(struct str name, int64_t time_ms);
/*
 * The moment the wall clock shows `local_ms`: of two, the first; of none (the
 * hour that is skipped), the one the old offset gives.
 */
int64_t zone_to_utc(struct str name, int64_t local_ms);

#endif
