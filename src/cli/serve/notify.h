/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.h - tell a service manager how the program is doing.
 *
 * The manager names a socket in NOTIFY_SOCKET and waits for a line on it
 * (systemd: Type=notify). Without one nothing happens, and a lost message is
 * no failure of ours.
 * Thread-safety: safe once the environment no longer changes.
 */
#ifndef CLI_NOTIFY_H
#define CLI_NOTIFY_H

#include <stdbool.h>

/* Send `state`, e.g. "READY=1". False if there is nobody to tell, or it could
 * not be told. */
bool notify(const char *state);

#endif
