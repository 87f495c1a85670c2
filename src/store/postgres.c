/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres.c - the PostgreSQL driver.
 */
#include "store/driver.h"

static enum clew_status driver_open(const struct store_options *options,
                                    struct driver **out_driver,
                                    struct clew_error *err)
{
    (void)options;
    (void)out_driver;
    return clew_fail(err, CLEW_UNSUPPORTED,
                     "this build has no PostgreSQL driver");
}

const struct driver_ops postgres_driver = {
    .name = "postgres",
    .open = driver_open,
};
