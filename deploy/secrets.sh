#!/bin/sh
# Make the secrets that deploy/compose.yaml hands over, in deploy/secrets/; those that are there stay.
set -eu

cd "$(dirname "$0")"
mkdir -p secrets
chmod 0711 secrets # each file is readable in its container, whose user is another one

made() { LC_ALL=C tr -dc 'A-Za-z0-9' </dev/urandom | head -c "$1"; }
keep() { [ -s "secrets/$1" ] || { printf '%s\n' "$2" >"secrets/$1" && chmod 0444 "secrets/$1"; }; }

keep secret_key "$(made 60)"
keep superuser_password "$(made 20)"
keep postgres_password "$(made 32)"
keep database_url "postgresql://openbook:$(made 32)@postgres:5432/openbook"
echo "deploy/secrets/ is complete. The first superuser is admin, with the password in superuser_password."
