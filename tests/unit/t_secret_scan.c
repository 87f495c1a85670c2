/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_secret_scan.c - secrets, and what only looks like one.
 *
 * In the tables «…» marks what must be masked; a text without it must stay as
 * it is. Keys are put together here so that no scanner takes them for real.
 */
#include "support/test.h"

#include "base/clock.h"
#include "text/secret_internal.h"
#include "text/secret_scan.h"

#include <stdio.h>
#include <string.h>

#define OPEN "\xC2\xAB"
#define CLOSE "\xC2\xBB"

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

/* The same, as code, other languages and people's habits have it. */
static const char *const written[] = {
    "{\\\"password\\\":\\\"«hunter2»\\\"}",
    "{\\\\\\\"password\\\\\\\":\\\\\\\"«hunter2»\\\\\\\"}",
    "args: {\\\"cmd\\\": \\\"login\\\", \\\"api_key\\\": "
    "\\\"«a1b2c3d4e5f6g7h8»\\\"}",
    "Password:\\n«Tr0ub4dor»",
    "Password: \\r\\n«Tr0ub4dor»\\nok",
    "PGPASSWORD=«s3cret» psql",
    "DB_PASS=«hunter2»",
    "password1=«hunter2»",
    "SECRET_KEY_BASE=«a1b2c3d4e5f6a7b8c9d0»",
    "<password>«hunter2»</password>",
    "<add key=\"DbPassword\" value=\"«hunter2»\" />",
    "<key>password</key><string>«hunter2»</string>",
    "- name: DB_PASSWORD value: «hunter2»",
    "{\"key\": \"API_TOKEN\", \"value\": \"«a1b2c3d4e5f6»\"}",
    "I changed my password to «hunter22»",
    "we have changed the admin password to «swordfish».",
    "I set the root password to \"«swordfish»\" yesterday",
    "my OpenAI key is «a1b2c3d4e5f6g7h8i9»",
    "the token for CI is «abcd1234efgh5678»",
    "the wifi password at the office is now «Blue-Lagoon77»",
    "mi clave es «Luna2020»",
    "mi clave: «Luna2020»",
    "mdp : «soleil99»",
    "mdp: «tournesol»",
    "mon mot de passe est maintenant «Soleil99»",
    "口令是«abc12345»",
    "パスワードは「«さくら77»」です",
    "hasło: «slonecznik»",
    "moje hasło to «Slonce77!»",
    "пароль: «подсолнух»",
    "мой новый пароль — «Solnce99»",
    "пароля нет, но пароль к базе: «qwe123rty»",
    "كلمة المرور هي «Shams1990!»",
    "पासवर्ड है «Suraj@123»",
    "κωδικός: «Ilios2020»",
    "şifrem: «Gunes1990»",
    "yeni şifre: «gunes_99»",
    "a minha senha é «Girassol1»",
    "la password del wifi è «Girasole-1»",
    "wachtwoord: «zonnebloem»",
    "비밀번호: «haebaragi1»",
    "passphrase: «correct horse battery staple»",
    "password: «correct horse battery staple»",
    "Password: «My dog Rex2019!»",
    "password: «hun'ter2»",
    "password: «a,b;c9!d»",
    "password: «a\"b9c\"d»",
    "password: '«hun'ter2»' ok",
    "password=«pässwörd9»",
    "PASS=\"«a b;c,d 9»\"",
    "card 4111 1111 1111 1111x «4111 1111 1111 1111»",
    "«4111 1111 1111 1111» nbsp",
    "«4111 1111 1111 1111» thin",
    "«4111.1111.1111.1111»",
    "«4111  1111  1111  1111»",
    "«4111‑1111‑1111‑1111»",
    "my card «4111 1111 1111 1111» 12/29 123",
    "my order was paid with card «4111111111111111»",
    "KEY_«sk"
    "-ant-api03-Zx9fakefakefakefake0123456789AA»",
    "log:\\n«sk"
    "-ant-api03-Zx9fakefakefakefake0123456789AA»\\n",
    "Bearer\t«abcdefghij0123456789»",
    "curl -u ada:«hunter2» https://x",
    "curl -X POST --user 'ada:«hunter 2»' https://x",
    "curl -H 'X-Api-Key: «a1b2c3d4e5f6»' https://x",
    "mysql -h db -u root -p«hunter2» shop",
    "mysqldump --password=«hunter2» x",
    "tool --password «hunter2» --verbose",
    "[\"--password\", \"«hunter2»\"]",
    "sshpass -p '«hunter2»' ssh x",
    "redis-cli -a «hunter2» ping",
    "«AK"
    "IAIOSFODNN7EXAMPLE» / «wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY12»",
    "Authorization: Token «abcd1234efgh5678»",
    "token=«abcd1234»",
    "secret: \"«s3cr3t!pw»\"",
    "const password: string = \"«hunter2»\";",
    "os.environ[\"DB_PASSWORD\"] = \"«hunter2»\"",
    "user.setPassword('«hunter2!»')",
    "| password | «hunter22» |",
    "Password - «hunter22»",
    "<b>Password:</b> «hunter2»",
    "wifipassword: «hunter2»",
    "Masterpasswort: «hunter2»",
    "“password”: “«hunter2»”",
    "&quot;password&quot;:&quot;«hunter2»&quot;",
    "cvv: «123»",
    "url?api_key=«abcd1234efgh»&x=1",
    "my API-Schlüssel ist «abcd1234efgh5678»",
    "Seed phrase: «apple river stone cloud tiger lemon»",
    "the pin for the garage is «4711»",
    "my pin code: «560001»",
    "my debit card's PIN is «4711»",
    "DATABASE_URL=mysql://root:«hunter2»@db/x",
    "My Netflix password: «Sunny-Day_88» and my email is a@b.c",
    "Here's the login — user: maria / pass: «Otoño2023»",
    "user=admin;pass=«Zx9!kk2»",
    "username: bob\\npassword: «Tiger$44»\\nhost: db",
    "the root password has been changed to «Falcon-991»",
    "new pw «Falcon991»",
    "PW=«Falcon991»",
    "password is: «Falcon991»",
    "Passwort geändert auf «Falke#991»",
    "Ich habe das Passwort auf «Falke991» geändert",
    "J'ai changé mon mot de passe en «Faucon991»",
    "he cambiado la contraseña a «Halcon991»",
    "mudei a senha para «Falcao991»",
    "API-Key lautet «abcd1234efgh5678»",
    "api key for the weather service: «abcd1234efgh5678»",
    "OPENWEATHER_KEY=«ab12cd34ef56gh78ij90»",
    "{\"headers\":{\"X-Auth-Token\":\"«abcd1234efgh5678»\"}}",
    "{\"body\":\"{\\\"token\\\":\\\"«abcd1234efgh5678»\\\"}\"}",
    "\"clientSecret\": \"«abC12~dEf34.gH56»\"",
    "spring.datasource.password=«s3cr3t99»",
    "db.default.password = «s3cr3t99»",
    "ENV POSTGRES_PASSWORD «s3cr3t99»",
    "password:«s3cr3t99»",
    "--set auth.password=«s3cr3t99»",
    "git clone https://oauth2:«gl"
    "pat-abcdEFGH0123456789»@gitlab.com/x",
    "url=https%3A%2F%2Fx%3Ftoken%3D«gh"
    "p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8»",
    "[TOKEN]: «abcd1234efgh5678»",
    "TOKEN=\"«abcd1234efgh5678»\"",
    "\"«xo"
    "xb-123456789012-abcdefGHIJKL»\"",
    "«sk"
    "_live_4eC39HqLyjWDarjtT1zdp7dc»,",
    "(«hf"
    "_abcdefghijKLMNOPqrstuvwxyz01234567»)",
    "='«np"
    "m_0123456789abcdefghijABCDEFGHIJ012345»'",
    "секретный пароль: «солнце-99»",
    "Пароль — «Solnce99»",
    "mot de passe provisoire : «Azerty12!»",
    "Passwort für WLAN: «Sommer2024!»",
    "Passwort fürs WLAN ist «Sommer2024!»",
    "Kennwort:«abc»",
    "Password:\n«Tr0ub4dor»\nthen",
    "«4111 1111\n1111 1111»",
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
    /* more talk about passwords, and numbers of something else */
    "password manager: Bitwarden2",
    "the password manager is 1Password7",
    "PIN code: 560001",
    "Bengaluru, Karnataka, pincode: 560001",
    "password age: 90days",
    "senha é curta",
    "Password policy: min12chars",
    "the token count is 4096",
    "key takeaways: 12 of them",
    "secret santa: Maria",
    "passport office opens 9:00",
    "my password is wrong!",
    "password: please choose at least eight characters",
    "Password: minimum eight letters",
    "password field: text2",
    "tokens: 1234",
    "token usage: prompt_tokens=1234",
    "\"tokens\": 128000",
    "\"key\": \"user_2024_profile_01\"",
    "key: 550e8400-e29b-41d4-a716-446655440000",
    "cache key: 5da61c9f0e1b2c3d4e5f60718293a4b5c6d7e8f9",
    "pass rate: 98%",
    "pass 3: linking",
    "bus pass: 24hours",
    "La parola del giorno: serendipity",
    "la clave es la constancia",
    "mi clave es importante",
    "das Passwort ist zu lang",
    "le mot de passe est trop court",
    "la password è debole",
    "het wachtwoord is verlopen.",
    "hasło jest złe",
    "пароль слишком простой",
    "密码错误",
    "口令是什么",
    "パスワードは8文字以上です",
    "パスワードは必要です",
    "비밀번호는 8자 이상",
    "şifre yanlış",
    "password_reset_url=https://x.example/reset2",
    "passwordPolicy: min12chars",
    "password-protected file: report2024.pdf",
    "forgot password? click here2",
    "password => $hash",
    "password: $DB_PASS",
    "password: DB_PASSWORD",
    "password = settings.password",
    "password = get_password()",
    "password: %s",
    "password: {{ db_password1 }}",
    "<password>string</password>",
    "name: DB_PASSWORD valueFrom: secretKeyRef",
    "mysql -u root -p",
    "mkdir -p src/main2",
    "curl -u ada https://x",
    "order number is 4111 1111 1111 1111",
    "n° de suivi 4111111111111111",
    "订单号 4111111111111111",
    "IMEI: 356938035643809",
    "the password to server12 is wrong",
    "keyboard: K380",
    "tokenizer: cl100k_base2",
    "secretary: Anna12345",
    "pinned: 2024",
    "spinning pin 1234",
    "The secret ingredient is vanilla2",
    "auth: oauth2",
    "authorization: required",
    "Authorization: see RFC6750",
    "monkey: banana123456789",
    "the key is 42",
    "key: value1",
    "Wi-Fi password: ask at the desk",
    "i lost my password to the bank",
    "password to log in: see below",
    "pin: 13",
    "the compass: North123",
    "trespass: 123abc",
    "bypass=1abc234",
    "accesskey=\"s\"",
    "Passwords: 3 found",
    "password reset code sent",
    "session_id: none",
    "I wrote a password checker in Python3, it is called pwcheck2",
    "The secret to success is hard work2",
    "the token ring network 802.5",
    "password strength: 4of5",
    "Your password expires in 14 days",
    "your password must be at least 12 characters",
    "set a password of your own: 12+ characters",
    "please change your password to something stronger",
    "change the password to one nobody knows",
    "my password to this site no longer works",
    "the password in config.yaml is wrong",
    "the password on page 2 is outdated",
    "the pass phrase must be: long",
    "private key file: id_ed25519",
    "private key: ~/.ssh/id_ed25519",
    "ssh key: ed25519",
    "public key: AAAAC3NzaC1lZDI1NTE5",
    "key=value12",
    "\"key\": \"ArrowDown\"",
    "keyboard key: F12",
    "Key: C# minor",
    "keyword: abc123def456ghi789",
    "api key: https://platform.example.com/keys2",
    "where do I find my API key? API key: see settings2",
    "token: EOF",
    "token type: JWT2",
    "tokens/s: 1234567890ab",
    "auth token expiry: 3600seconds",
    "secret_name: my-secret-2024",
    "secretName: tls-cert-2024",
    "access token lifetime: 15minutes",
    "max_token_length=4096",
    "password_min_length=12",
    "PASSWORD_MIN_LENGTH: 12",
    "password.length >= 8",
    "if (password == confirm2) {",
    "password !== other1",
    "type=\"password\" name=\"pw2\"",
    "placeholder=\"Password\" id=\"x1\"",
    "getPassword(): string",
    "def check_password(pw, hashed2):",
    "password: Optional[str] = None",
    "password: \"\"",
    "PIN: A4 on the board",
    "pin 1000 is GND",
    "PIN diagram: 40pins",
    "SPIN: 1234",
    "my pin is wrong",
    "the code is 1234",
    "mein Passwort ist einfach zu merken",
    "el password es fácil",
    "la contraseña fue cambiada ayer",
    "mi contraseña es la misma",
    "minha senha é a mesma",
    "ma clé est perdue",
    "la clave primaria es id_cliente_2024",
    "clave: valor",
    "parola mea este uitată",
    "κωδικός προϊόντος: ABC12345",
    "пароль от почты я забыл",
    "비밀번호를 잊어버렸어요",
    "パスワードは1Passwordで管理しています",
    "密码是多少？",
    "密码长度为8-16位",
    "कृपया पासवर्ड बदलें",
    "timestamp 4111111111111111",
    "4111111111111111111111",
    "Bestellung 4111-1111-1111-1111",
    "f(4111,1111,1111,1111)",
    "Password:\n- 8chars\n- 2digits",
    "years 2021\n2022\n2023\n2024",
};

/* The text without its marks, and with stars between them. */
static void plain_of(const char *marked, char *plain, char *masked)
{
    bool is_inside = false;

    while (*marked) {
        if (strncmp(marked, OPEN, 2) == 0 || strncmp(marked, CLOSE, 2) == 0) {
            is_inside = strncmp(marked, OPEN, 2) == 0;
            marked += 2;
            continue;
        }
        *plain++ = *marked;
        *masked++ = is_inside ? '*' : *marked;
        marked++;
    }
    *plain = '\0';
    *masked = '\0';
}

/* How many of the texts are masked otherwise than they are marked. */
static int n_wrong_of(const char *const *texts, size_t count)
{
    int n_wrong = 0;

    for (size_t i = 0; i < count; i++) {
        char plain[512];
        char want[512];

        plain_of(texts[i], plain, want);
        (void)secret_scan_mask(plain, strlen(plain));
        /* a line's end stays */
        for (size_t k = 0; plain[k]; k++) {
            want[k] = plain[k] == '\n' ? '\n' : want[k];
        }
        if (strcmp(plain, want) != 0) {
            print_message("want %s\n  is %s\n", want, plain);
            n_wrong++;
        }
        assert_int_equal(secret_scan_mask(plain, strlen(plain)), 0);
    }
    return n_wrong;
}

static void secrets_are_masked_and_nothing_else(void **state)
{
    (void)state;
    assert_int_equal(n_wrong_of(secret, sizeof(secret) / sizeof(secret[0])), 0);
}

static void secrets_are_known_however_they_are_written(void **state)
{
    (void)state;
    assert_int_equal(n_wrong_of(written, sizeof(written) / sizeof(written[0])),
                     0);
}

/* They are looked for by halves. */
static void tables_are_in_order(void **state)
{
    (void)state;
    for (size_t i = 1; i < secret_n_labels; i++) {
        assert_true(strcmp(secret_labels[i - 1].text, secret_labels[i].text) <
                    0);
    }
    for (size_t i = 0; i < SECRET_N_LISTS; i++) {
        const struct secret_list *list = &secret_lists[i];

        for (size_t k = 1; k < list->count; k++) {
            assert_true(strcmp(list->words[k - 1], list->words[k]) < 0);
        }
    }
}

static void what_looks_like_one_stays(void **state)
{
    int n_wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(innocent) / sizeof(innocent[0]); i++) {
        char text[512];

        (void)snprintf(text, sizeof(text), "%s", innocent[i]);
        if (secret_scan_mask(text, strlen(text)) != 0) {
            print_message("masked %s\n    of %s\n", text, innocent[i]);
            n_wrong++;
        }
    }
    assert_int_equal(n_wrong, 0);
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
        cmocka_unit_test(secrets_are_known_however_they_are_written),
        cmocka_unit_test(tables_are_in_order),
        cmocka_unit_test(what_looks_like_one_stays),
        cmocka_unit_test(a_private_key_goes_whole),
        cmocka_unit_test(kinds_are_told_apart),
        cmocka_unit_test(a_short_turn_costs_microseconds),
        cmocka_unit_test(long_texts_take_linear_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
