#!/bin/sh
# Creates the missing secrets of docker-compose.yml in the folder `secrets`. Existing ones stay.
set -eu
cd "$(dirname "$0")/.."
mkdir -p secrets
# Nobody else can open the folder; the files are readable for the users of the containers.
chmod 700 secrets

secret() {
  path="secrets/$1"
  if [ -s "$path" ]; then
    echo "$path already exists"
    return
  fi
  printf '%s\n' "$2" > "$path"
  chmod 444 "$path"
  echo "$path is made"
}

secret master_key "$(openssl rand -base64 32)"
secret postgres_password "$(openssl rand -hex 24)"
secret client_cert_secret "$(openssl rand -hex 24)"
secret database_url "postgres://annals:$(cat secrets/postgres_password)@postgres:5432/annals"
echo "Keep a copy of secrets/master_key apart from the data: without it no personal field can be read again."
