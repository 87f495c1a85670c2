/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg.h - a private PostgreSQL for the length of a test program.
 *
 * Lives in a temporary folder and is reached through a socket in it. It ends
 * with the program, however that ends. If the test runs as root the server
 * runs as "postgres" or "nobody", since it refuses root. Missing binaries are
 * a failure, not a reason to skip.
 */
#ifndef SUPPORT_PG_H
#define SUPPORT_PG_H

#include <stdbool.h>
#include <stddef.h>

/* Start it if it does not run yet. Exits the program on failure. */
void pg_start(void);
/* Stop it as a crash would (`is_crash`) or orderly, and wait for its end. */
void pg_stop(bool is_crash);
/* Make an empty database owned by an ordinary role; its URL goes to `out`. */
void pg_new_database(char *out, size_t size);
/* The same with the store's tables in it: much sooner than making them anew. */
void pg_new_store(char *out, size_t size);
/*
 * A synchronous standby beside it, and the URL of a database that names both.
 * pg_fail_over() kills the first and promotes the second; pg_end_pair() goes
 * back to the first alone (what the second got meanwhile is lost).
 */
void pg_start_pair(void);
void pg_pair_url(const char *url, char *out, size_t size);
void pg_fail_over(void);
void pg_end_pair(void);
/* The URL of the same database for the superuser. */
void pg_admin_url(const char *url, char *out, size_t size);

#endif
