/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.c - settings, servers, models and clients. See doctor.h.
 */
#include "cli/doctor/doctor.h"

#include "base/buf.h"
#include "base/config.h"
#include "cli/client/client.h"
#include "cli/setup/clients.h"
#include "cli/setup/file.h"
#include "engine/call/call_price.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROBE_TIMEOUT_MS 3000L

/* --- settings ------------------------------------------------------------- */

static bool is_readable(const char *path)
{
    return access(path, R_OK) == 0;
}

/* A secret in a file that others may read. */
static void look_at_secrets(struct doctor *doctor, const char *path)
{
    const struct config *config = doctor->cli->config;
    struct stat info;

    if (stat(path, &info) == 0 && (info.st_mode & 077) != 0 &&
        (config_str(config, "llm.key")[0] ||
         config_str(config, "embed.key")[0])) {
        doctor_tell(doctor, "settings", DOCTOR_WRONG,
                    "chmod 600 the file, or set the key in the environment "
                    "(CLEW_LLM_KEY)",
                    "%s holds a key, and others on this machine may read it",
                    path);
    }
}

static void look_at_tls(struct doctor *doctor)
{
    static const char *const keys[] = {"server.tls_cert", "server.tls_key",
                                       "proxy.ca_file"};
    const struct config *config = doctor->cli->config;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *file = config_str(config, keys[i]);

        if (file[0] && !is_readable(file)) {
            doctor_tell(doctor, "settings", DOCTOR_WRONG,
                        "put the file there, or set another path",
                        "%s names a file that cannot be read: %s", keys[i],
                        file);
        }
    }
    if (!config_str(config, "server.tls_cert")[0] !=
        !config_str(config, "server.tls_key")[0]) {
        doctor_tell(doctor, "settings", DOCTOR_WRONG,
                    "set server.tls_cert and server.tls_key, or neither",
                    "only one of certificate and key is set");
    }
}

void doctor_settings(struct doctor *doctor)
{
    const struct clew_error *bad = &doctor->cli->config_error;
    struct clew_error prices = {0};
    const char *given = args_str(&doctor->cli->args, "config");
    const char *path;

    if (bad->message[0]) {
        doctor_tell(doctor, "settings", DOCTOR_WRONG,
                    "\"clew config keys\" lists what can be set; what follows "
                    "was looked at with the defaults",
                    "%s", bad->message);
        return;
    }
    given = given ? given : getenv("CLEW_CONFIG");
    path = given && given[0] ? given
                             : arena_printf(&doctor->cli->arena, "%s/clew.yaml",
                                            config_dir(doctor->cli->config));
    if (path && is_readable(path)) {
        doctor_tell(doctor, "settings", DOCTOR_OK, "", "%s", path);
        look_at_secrets(doctor, path);
    } else {
        doctor_tell(doctor, "settings", DOCTOR_OK, "",
                    "no file, so the defaults");
    }
    look_at_tls(doctor);
    if (call_prices_check(
            str_of(config_str(doctor->cli->config, "proxy.prices")), &prices) !=
        CLEW_OK) {
        doctor_tell(doctor, "settings", DOCTOR_WRONG,
                    "write it so, or leave it out: then tokens are shown, "
                    "no cost",
                    "%s", prices.message);
    }
}

/* --- servers -------------------------------------------------------------- */

/* Ask a server how it is. The caller json_decref()s the answer. */
static enum clew_status health_of(struct doctor *doctor, const char *url,
                                  json_t **out, struct clew_error *err)
{
    struct client_options options = {
        .config = doctor->cli->config,
        .url = url,
        .ca_file = args_str(&doctor->cli->args, "ca-file"),
        .timeout_ms = PROBE_TIMEOUT_MS,
    };
    struct client *client = NULL;
    enum clew_status status = client_open(&options, &client, err);

    if (status == CLEW_OK) {
        status = client_call(client, "GET", "/healthz", NULL, out, err);
    }
    client_close(client);
    return status;
}

static void judge_server(struct doctor *doctor, const char *where,
                         const json_t *health)
{
    const char *version = cli_field(health, "version");

    if (!version[0] || !json_object_get(health, "store")) {
        doctor_tell(doctor, "server", DOCTOR_WRONG,
                    "stop that program, or set server.listen to another port",
                    "%s is taken by another program", where);
    } else if (strcmp(version, CLEW_VERSION) != 0) {
        doctor_tell(doctor, "server", DOCTOR_WRONG,
                    "restart the server, so that both are of one version",
                    "%s runs version %s; this program is " CLEW_VERSION, where,
                    version);
    } else if (strcmp(cli_field(health, "status"), "ok") != 0) {
        doctor_tell(doctor, "server", DOCTOR_WRONG,
                    "its log says why; the store may be away or full",
                    "%s runs, but its store does not answer", where);
    } else {
        doctor_tell(doctor, "server", DOCTOR_OK, "", "runs on %s, version %s",
                    where, version);
    }
}

void doctor_server(struct doctor *doctor)
{
    const struct config *config = doctor->cli->config;
    const char *listen = config_str(config, "server.listen");
    bool is_unix = strncmp(listen, "unix:", 5) == 0;
    const char *url =
        is_unix
            ? listen
            : arena_printf(&doctor->cli->arena, "%s://%s",
                           config_str(config, "server.tls_cert")[0] ? "https"
                                                                    : "http",
                           listen);
    struct clew_error why = {0};
    json_t *health = NULL;
    enum clew_status status = health_of(doctor, url, &health, &why);

    if (status == CLEW_OK) {
        judge_server(doctor, listen, health);
    } else if (status == CLEW_UNAVAILABLE &&
               strstr(why.message, "certificate")) {
        doctor_tell(doctor, "server", DOCTOR_NOTE,
                    "--ca-file FILE names the authority to trust",
                    "%s answers, but is not trusted: %s", listen, why.message);
    } else if (status == CLEW_UNAVAILABLE || status == CLEW_TIMEOUT) {
        doctor_tell(doctor, "server", DOCTOR_NOTE,
                    "\"clew serve\" starts one; the command line needs none",
                    "none runs on %s", listen);
    } else {
        doctor_tell(doctor, "server", DOCTOR_WRONG,
                    "stop that program, or set server.listen to another port",
                    "%s is taken by another program (%s)", listen, why.message);
    }
    json_decref(health);
}

/* The server that CLEW_URL and --url name, and whether it lets us in. */
void doctor_remote(struct doctor *doctor)
{
    struct cli *cli = doctor->cli;
    const char *given = args_str(&cli->args, "url");
    const char *url = given ? given : getenv("CLEW_URL");
    const char *key = args_str(&cli->args, "key");
    struct client_options options = {.config = cli->config,
                                     .url = url,
                                     .key = key ? key : getenv("CLEW_KEY"),
                                     .ca_file = args_str(&cli->args, "ca-file"),
                                     .timeout_ms = PROBE_TIMEOUT_MS};
    struct client *client = NULL;
    struct clew_error why = {0};
    json_t *answer = NULL;
    enum clew_status status;

    if (!url || !url[0]) {
        return;
    }
    status = client_open(&options, &client, &why);
    if (status == CLEW_OK) {
        status = client_call(client, "GET", "/api/v1/chats?limit=1", NULL,
                             &answer, &why);
    }
    if (status == CLEW_OK) {
        doctor_tell(doctor, "remote", DOCTOR_OK, "", "%s lets us in", url);
    } else if (status == CLEW_UNAUTHORIZED || status == CLEW_FORBIDDEN) {
        doctor_tell(doctor, "remote", DOCTOR_WRONG,
                    "make a key there (clew keys create) and give it with "
                    "--key or CLEW_KEY",
                    "%s does not take our key: %s", url, why.message);
    } else {
        doctor_tell(doctor, "remote", DOCTOR_WRONG,
                    "start that server, or correct --url and CLEW_URL",
                    "%s: %s", url, why.message);
    }
    json_decref(answer);
    client_close(client);
}

/* --- the language model --------------------------------------------------- */

static size_t drop(char *bytes, size_t size, size_t count, void *arg)
{
    (void)bytes;
    (void)arg;
    return size * count;
}

/* Does anybody answer there? What is answered does not matter. */
static bool is_there(const char *url, char why[CURL_ERROR_SIZE])
{
    CURL *curl = curl_easy_init();
    bool is_up = false;

    why[0] = '\0';
    if (curl) {
        curl_easy_setopt(curl, CURLOPT_URL, url);
        curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
        curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, PROBE_TIMEOUT_MS);
        curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
        is_up = curl_easy_perform(curl) == CURLE_OK;
    }
    curl_easy_cleanup(curl);
    return is_up;
}

void doctor_model(struct doctor *doctor)
{
    static const char *const keys[] = {"llm.url", "embed.url"};
    const struct config *config = doctor->cli->config;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *url = config_str(config, keys[i]);
        char why[CURL_ERROR_SIZE];

        if (!url[0]) {
            continue;
        }
        if (is_there(url, why)) {
            doctor_tell(doctor, "model", DOCTOR_OK, "", "%s: %s answers",
                        keys[i], url);
        } else {
            doctor_tell(doctor, "model", DOCTOR_WRONG,
                        "start it, or correct the setting; clew works without",
                        "%s: %s does not answer: %s", keys[i], url, why);
        }
    }
    if (config_str(config, "llm.url")[0] &&
        !config_str(config, "llm.model")[0]) {
        doctor_tell(doctor, "model", DOCTOR_WRONG, "set llm.model",
                    "llm.url is set, but no llm.model");
    }
}

/* --- clients -------------------------------------------------------------- */

void doctor_clients(struct doctor *doctor)
{
    struct arena *arena = &doctor->cli->arena;

    for (const struct clients_place *p = clients_places; p->client; p++) {
        struct clew_error why = {0};
        const char *path = NULL;
        const char *skill = NULL;
        const char *program;
        bool has_file = false;
        struct buf text;

        if (clients_paths(arena, p, &path, &skill, &why) != CLEW_OK) {
            return;
        }
        buf_init(&text, CLIENTS_MAX_BYTES);
        if (file_read(path, &text, &has_file, &why) == CLEW_OK && has_file) {
            program = clients_program(arena, p, buf_str(&text));
            if (program && access(program, X_OK) != 0) {
                doctor_tell(doctor, "clients", DOCTOR_WRONG,
                            arena_printf(arena, "clew setup %s", p->client),
                            "%s starts %s, which is not there", p->client,
                            program);
            } else if (program) {
                doctor_tell(doctor, "clients", DOCTOR_OK, "", "%s is connected",
                            p->client);
            }
        }
        buf_release(&text);
    }
}
