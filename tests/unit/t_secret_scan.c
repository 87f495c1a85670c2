/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_secret_scan.c - secrets, and what only looks like one.
 *
 * In the tables «…» marks what must be masked; a text without it must stay as
 * it is. Keys are put together here so that no scanner takes them for real.
 */
#include "support/secret_tables.h"
#include "support/test.h"

#include "base/clock.h"
#include "text/secret_scan.h"

#include <stdio.h>
#include <string.h>

static const char *const secret[] = {
    /* keys by their prefixes */
    "use «sk-"
    "ant-api03-Zx9_fakefakefakefakefake-0123456789AA» for it",
    "OPENAI_API_KEY=«sk-"
    "proj-abcDEF0123456789abcDEF0123456789»",
    "the old one was «sk-"
    "T3BlbkFJabcdefghij0123456789ABCDEF».",
    "token «gh"
    "p_0123456789abcdefghijABCDEFGHIJ012345» expired",
    "«github"
    "_pat_11ABCDEFG0123456789_abcdefghijklmnop»",
    "gitlab: «gl"
    "pat-abcdEFGH0123456789_x»",
    "slack bot «xo"
    "xb-123456789012-abcdefGHIJKL»",
    "aws «AK"
    "IAIOSFODNN7EXAMPLE» in the config",
    "maps key «AI"
    "zaSyA0123456789abcdefghijklmnopqrstuv»",
    "stripe «sk_"
    "live_4eC39HqLyjWDarjtT1zdp7dc»",
    "hook «wh"
    "sec_0123456789abcdefABCDEF»",
    "«h"
    "f_abcdefghijKLMNOPqrstuvwxyz01234567»",
    "«np"
    "m_0123456789abcdefghijABCDEFGHIJ012345»",
    "«S"
    "G.abcdefghijklmnopqrstuv."
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefg»",
    "clew key «cl"
    "ew_0123456789abcdef_0123456789abcdef0123456789abcdef»",
    "https://«gh"
    "p_0123456789abcdefghijABCDEFGHIJ012345»@github.com/a/b",
    "curl -u x:«gl"
    "pat-abcdEFGH0123456789_x» https://git.example",
    /* tokens */
    "Authorization: Bearer «abcdefghij.0123456789-KLMNOP»",
    "bearer «0123456789abcdef0123456789abcdef»",
    "«eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N»",
    "Authorization: Basic «dXNlcjpwYXNzd29yZA==»",
    /* said as such */
    "password: «hunter2»",
    "Password = «correct-horse»",
    "my password is «Tr0ub4dor&3».",
    "my password is «swordfish»",
    "The wifi password is «blue-Lagoon-77», please join",
    "the password for the router is «Adm1n!234»",
    "pw: «letmein9»",
    "passwd=«s3cr3t!»",
    "DB_PASSWORD=«x8Kq-22»",
    "dbPassword: «x8Kq-22»",
    "{\"user\":\"ada\",\"password\":\"«hunter2»\"}",
    "password: \"«two words 9»\"",
    "passphrase: '«purple monkey dishwasher»'",
    "Server=db;User Id=sa;Pwd=«Gr8!pass»;Database=x",
    "https://a.example/login?password=«hunter2»&next=/",
    "mein Passwort ist «Geheim123»",
    "Das Kennwort lautet «sonne77»",
    "Passwort: «Sonnenblume»",
    "mi contrase\xC3\xB1"
    "a es «Luna2020»",
    "Contrase\xC3\xB1"
    "a: «girasol»",
    "mon mot de passe est «Soleil99»",
    "le mot de passe : «tournesol»",
    "minha senha \xC3\xA9 «Girassol1»",
    "la mia password \xC3\xA8 «Girasole1»",
    "mijn wachtwoord is «Zonnebloem1»",
    "\xD0\xBC\xD0\xBE\xD0\xB9 \xD0\xBF\xD0\xB0\xD1\x80\xD0\xBE\xD0\xBB\xD1\x8C"
    ": «qwerty12»",
    "\xE5\xAF\x86\xE7\xA0\x81\xE6\x98\xAF«abc12345»\xEF\xBC\x8C\xE8\xB0\xA2",
    "\xE5\xAF\x86\xE7\xA0\x81\xEF\xBC\x9A«abc12345»",
    "\xE3\x83\x91\xE3\x82\xB9\xE3\x83\xAF\xE3\x83\xBC\xE3\x83\x89\xE3\x81\xAF"
    "«Sakura77»\xE3\x81\xA7\xE3\x81\x99",
    "my PIN is «4711»",
    "PIN: «123456»",
    "api key: «a1b2c3d4e5f6g7h8»",
    "client_secret = \"«Zm9vYmFyMTIzNDU2Nzg5»\"",
    "aws_secret_access_key = «wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»",
    "AccountKey=«Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6==»;x",
    /* addresses */
    "postgres://clew:«s3cret»@db.example:5432/clew",
    "mongodb+srv://ada:«p%40ss»@cluster0.example",
    "redis://:«hunter2»@cache:6379/0",
    "https://ada:«hunter2»@example.com/x",
    /* cards */
    "my card is «4111 1111 1111 1111», exp 12/29",
    "«4111111111111111»",
    "«5555-5555-5555-4444»",
    "amex «3782 822463 10005»",
    "«378282246310005»",
};

static const char *const innocent[] = {
    "",
    "a",
    /* hashes, ids, numbers */
    "commit 5da61c9f0e1b2c3d4e5f60718293a4b5c6d7e8f9 broke it",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "order 4111111111111111 has shipped",
    "Bestellnummer 4111111111111111",
    "tracking number 4111 1111 1111 1111",
    "invoice 2024-000123-4567-8901",
    "order 1234567890123456",
    "4111111111111112",
    "the number is 41111111111111110000000",
    "1234 5678 9012 3456",
    "call +49 40 1234 5678 9012",
    "ISBN 978-3-16-148410-0",
    "timestamps 1731682984000 1731682985000",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElE"
    "QVQI12P4AKIAIOSFODNN7EXAMPLE/eyJ8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAA",
    /* words that begin like a key */
    "sk-learn is short for scikit-learn in old install scripts",
    "use task-based-parallelism-with-many-words-0123456789 here",
    "risk-averse-people-in-2023-and-later-years-0123",
    "npm_config_registry and hf_hub are settings",
    "AKIA is a prefix; ASIAN FOOD MARKETS IN 2024 ARE GOOD",
    "eyJ is how they begin. Bearer of good news, bearer bonds",
    "the bearer must be over eighteen years old",
    "ghp_short xoxb- glpat-",
    "see https://example.com/path:with@colon and mailto:ada@example.com",
    "ssh://git@github.com:22/a/b",
    "http://localhost:8080/@scope/package",
    "postgres://user:${PASSWORD}@db/x",
    "postgres://user:<password>@db/x",
    "postgres://user:***@db/x",
    "postgres://user@db/x",
    /* talk about passwords */
    "I forgot my password again",
    "my password is wrong",
    "the password is too long, it says",
    "the password is not accepted",
    "Is the password correct? password required.",
    "password: required",
    "Concluded \"wifi password\": its effort is resolved",
    "password: string",
    "password = None",
    "password = input(\"Password: \")",
    "password = os.environ[\"DB_PASSWORD\"]",
    "password=self.password",
    "password: ${DB_PASSWORD}",
    "password: <your password>",
    "password: ********",
    "password_hash VARCHAR(64)",
    "the password policy changed, passwords expire",
    "Mein Passwort ist falsch",
    "das Passwort ist abgelaufen",
    "mi contrase\xC3\xB1"
    "a es incorrecta",
    "mon mot de passe est oubli\xC3\xA9",
    "\xE5\xAF\x86\xE7\xA0\x81\xE9\x94\x99\xE8\xAF\xAF",
    "pin the tab, my pin is wrong, pinning costs 1234",
    "how do I reset the password? Password: see the manual",
    "the token count is 123456 and the max_tokens: 4096",
    "token: identifier",
    "the secret is to use butter",
    "api key: missing",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQ\n",
    "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA",
};

static void secrets_are_masked_and_nothing_else(void **state)
{
    (void)state;
    assert_int_equal(n_wrong_of(secret, sizeof(secret) / sizeof(secret[0])), 0);
}

static void what_looks_like_one_stays(void **state)
{
    (void)state;
    assert_int_equal(
        n_masked_of(innocent, sizeof(innocent) / sizeof(innocent[0])), 0);
}

static void a_private_key_goes_whole(void **state)
{
    char text[] = "here:\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\n"
                  "AAAA==\n-----END OPENSSH PRIVATE KEY-----\nthanks";
    char cut[] = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA75\nrest";
    struct secret_span span;

    (void)state;
    assert_true(secret_scan_find(str_of(text), 0, &span));
    assert_int_equal(span.kind, SECRET_PRIVATE_KEY);
    assert_int_equal(secret_scan_mask(text, strlen(text)), 1);
    assert_null(strstr(text, "b3Blb"));
    assert_null(strstr(text, "AAAA"));
    assert_non_null(strstr(text, "thanks"));
    assert_int_equal(secret_scan_mask(text, strlen(text)), 0);
    assert_int_equal(secret_scan_mask(cut, strlen(cut)), 1);
    assert_null(strstr(cut, "MIIEp"));
}

static void kinds_are_told_apart(void **state)
{
    static const struct {
        const char *text;
        const char *kind;
    } rows[] = {
        {"AK"
         "IAIOSFODNN7EXAMPLE",
         "api_key"},
        {"Bearer abcdefghij0123456789", "token"},
        {"password: hunter2", "password"},
        {"4111 1111 1111 1111", "card"},
        {"redis://:hunter2@cache", "password"},
    };
    struct secret_span span;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_true(secret_scan_find(str_of(rows[i].text), 0, &span));
        assert_string_equal(secret_kind_name(span.kind), rows[i].kind);
    }
}

/* Hostile: as long as a turn may be, and everything a beginning. */
static void long_texts_take_linear_time(void **state)
{
    static const char *const parts[] = {"password ",
                                        "password is ",
                                        "sk-",
                                        "eyJ.",
                                        "4111 ",
                                        "a://b:c",
                                        "-----BEGIN PRIVATE KEY-----",
                                        "Bearer ",
                                        "\xE5\xAF\x86\xE7\xA0\x81",
                                        "PIN: ",
                                        "password: \"",
                                        "1",
                                        "\"",
                                        "\\",
                                        "mysql -p",
                                        "password to ",
                                        "pin pin code ",
                                        "password: a b c d ",
                                        "\\\"password\\\":"};

    (void)state;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        size_t len = 1u << 18;
        char *text = test_malloc(len);
        int64_t began = clock_mono_ns();

        for (size_t at = 0; at < len; at++) {
            text[at] = parts[i][at % strlen(parts[i])];
        }
        (void)secret_scan_mask(text, len);
        /* half a second at worst when instrumented; minutes if quadratic */
        assert_true(clock_mono_ns() - began < 60000000000LL);
        test_free(text);
    }
}

/* The cost of a turn that holds none: what every turn pays. */
static void a_short_turn_costs_microseconds(void **state)
{
    static const char turn[] =
        "I moved the stand-up to Tuesday at 9:30 because Helena is in Porto "
        "this week; please tell the platform team that the staging database "
        "was restored from Monday's copy and the password page works again.";
    int64_t best = INT64_MAX;
    struct secret_span span;

    (void)state;
    for (int i = 0; i < 200; i++) {
        int64_t began = clock_mono_ns();

        assert_false(secret_scan_find(str_of(turn), 0, &span));
        best = clock_mono_ns() - began < best ? clock_mono_ns() - began : best;
    }
    print_message("%lld ns for %zu bytes\n", (long long)best, strlen(turn));
    /* 5 us without sanitisers: what is refused is work that grows, or a table
     * made anew each time, and not a slow machine */
    assert_true(best < 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_are_masked_and_nothing_else),
        cmocka_unit_test(what_looks_like_one_stays),
        cmocka_unit_test(a_private_key_goes_whole),
        cmocka_unit_test(kinds_are_told_apart),
        cmocka_unit_test(a_short_turn_costs_microseconds),
        cmocka_unit_test(long_texts_take_linear_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
