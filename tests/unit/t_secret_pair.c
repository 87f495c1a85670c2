/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_secret_pair.c - secrets that are known by what stands beside them: a user,
 * a command and its options, a door. In the tables «…» marks what must be
 * masked.
 */
#include "support/secret_tables.h"
#include "support/test.h"

static const char *const beside[] = {
    "rabbitmqctl add_user anna «kestrel-roof9»",
    "sudo rabbitmqctl change_password guest «Wind8mill»",
    "net use Z: \\\\nas\\share /user:DOM\\anna «Harbor77moon»",
    "net user bob «Sunny-99day» /add",
    "credentials: anna / «tulip77boat»",
    "login: anna / «hunter-22x»",
    "Zugangsdaten: bkraus / «Nebel44horn»",
    "user/password: «root / calvin9x»",
    "identifiants : marie / «Soleil-77»",
    "mysql -uroot -p«S3cret» shop",
    "mysqldump -h db1 -u app -p'«q9!wTz»' crm > x.sql",
    "sshpass -p «Blau7wald» ssh ops@10.0.0.4",
    "htpasswd -b .htpasswd anna «Reed41lake»",
    "curl -sS -u anna:«Pearl55dock» https://api.example.org/v1",
    "redis-cli -h cache1 -a «Mint88cove» keys '*'",
    "ldapsearch -x -D cn=admin,dc=ex -w «Oak31ridge» -b dc=ex",
    "PGPASSWORD=«Fern22hill» psql -h db -U app",
    "openssl pkcs12 -in a.p12 -passin pass:«Gulf19sail» -nodes",
    "keytool -list -keystore app.jks -storepass «changeit1»",
    "keytool -genkeypair -keypass «Moss72gate» -storepass «Moss72gate»",
    "docker login registry.example.org -u anna -p «Dune45salt»",
    "az login -u anna@ex.org -p «Vine66ford»",
    "cryptsetup luksOpen /dev/sdb1 x <<< \"«Kelp10bay»\"",
    "das Kennwort fürs NAS lautet «Birke-88»",
    "Das Passwort vom Gäste-WLAN heißt «sonnenblume7»",
    "la contraseña del wifi es «Girasol77»",
    "la clave del router es «Luna-4491»",
    "le code du coffre est «4471»",
    "le mot de passe de la box est «Citron42»",
    "der Code für die Haustür ist «2580»",
    "sudo rabbitmqctl -n rabbit@mq1 add_user svc-mail «Quartz19moor»",
    "net use \\\\fileserver\\public «Heron62reed» /user:backup",
    "az login --service-principal -u app1 -p «Velvet83~oar»",
    "helm registry login ghcr.io -u anna -p «Tundra47elm»",
    "lftp -u deploy,«Ember64pine» ftp.example.org",
    "etcdctl --user root:«Basil29cliff» get /",
    "jarsigner -keystore k.jks -storepass «sunflower» app.jar anna",
    "mosquitto_pub -h mq -u anna -P «Crane38sand» -t x -m y",
    "skopeo copy --src-creds bot:«Lotus56bark» docker://a docker://b",
    "mongodump --host db2 -u app -p «Slate74fern» -d shop",
    "wpa_passphrase HomeNet «Maple92brook»",
    "my login is anna.k / «Copper-71kite»",
    "The login for the NAS: admin / «Violet!58»",
    "**Login:** anna / «tulip77boat»",
    "creds: deploy:«Garnet86wolf»",
    "Credentials: \"bkraus\", \"«Onyx43trail»\"",
    "Logindaten: k.meier@example.org / «Amsel-2071»",
    "Inloggegevens: piet | «Molen_84»",
    "Credenciales: lucia / «Naranjo#63»",
    "The garage code is «8842»",
    "our alarm code: «7719#»",
    "Der Code vom Tresor lautet «90213»",
    "el código de la alarma es «6620»",
    "le code de l'immeuble, c'est «14B09»",
    "il codice della cassaforte è «551287»",
    "Das Kennwort heißt jetzt «Lerche-45»",
    "das Kennwort fürs NAS lautet «Sonnenblume»",
    "das Kennwort fürs NAS lautet «birke88»",
    "la contraseña del wifi es «Mariposa77»",
    "het wachtwoord voor de wifi luidt «Zonnebloem».",
    "le code du coffre est «88204»",
};

static const char *const innocent[] = {
    "ssh -p 2222 anna@host",
    "docker run -p 8080:80 -u anna nginx",
    "mkdir -p /srv/data2",
    "password is required",
    "login: user / group",
    "credentials: see the wiki / ask Tom",
    "the pass is closed in winter",
    "clave: reunión a las 5",
    "mot de passe oublié",
    "das Passwort ist falsch",
    "der Code ist kaputt",
    "le code du projet est sur GitHub",
    "el código de la app es 404",
    "le code postal est 75011",
    "der Code für den Parser ist fertig",
    "la clave es dormir bien",
    "net use shows the mapped drives",
    "net user bob /delete",
    "rabbitmqctl list_users",
    "rabbitmqctl add_user needs a name",
    "redis-cli -a is the option for it",
    "mysql -uroot -p shop",
    "openssl x509 -in a.pem -noout",
    "htpasswd -c .htpasswd anna",
    "keytool -list -keystore app.jks",
    "curl -u anna https://x",
    "read / write",
    "input / output: 12 / 34",
    "login: 2024-11-19 / 10:22",
    "le code de la route est sévère",
    "the code for the door sensor module is on GitHub",
    "the error code on the garage controller was 4040",
    "code: 4711 lines changed",
    "login: Anna / Bob",
    "login: 14:30 / 15:00",
    "Login: see page / ask admin2 for help",
    "log in with Chrome / Firefox120 shows a blank page",
    "credentials: none / all",
    "docker run --user 1000:1000 -p 5432:5432 postgres",
    "ls -u a:b",
    "python app.py -u localhost:8080/db1",
    "net use is deprecated since Windows11",
    "net user accounts are listed with net user",
    "git commit -p file2",
    "Das Passwort für den Server lautet anders",
    "u.credentials=\"include\":[o.crossOrigin2]",
};

static void a_secret_is_known_by_what_stands_beside_it(void **state)
{
    (void)state;
    assert_int_equal(n_wrong_of(beside, sizeof(beside) / sizeof(beside[0])), 0);
}

static void what_only_looks_alike_stays(void **state)
{
    (void)state;
    assert_int_equal(
        n_masked_of(innocent, sizeof(innocent) / sizeof(innocent[0])), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_is_known_by_what_stands_beside_it),
        cmocka_unit_test(what_only_looks_alike_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
