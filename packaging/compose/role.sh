#!/bin/sh
# Run once by the postgres image, on an empty database: an ordinary role that owns
# one database. The image's own user is a superuser, and superusers pass through
# the row-level security that is the second fence between tenants.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$CLEW_DB_PASSWORD" \
    --username "${POSTGRES_USER:-postgres}" <<'END'
CREATE ROLE clew LOGIN PASSWORD :'password';
CREATE DATABASE clew OWNER clew ENCODING 'UTF8' TEMPLATE template0;
END
