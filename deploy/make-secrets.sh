#!/bin/sh
# Makes the secrets of docker-compose.yml that are not there yet, in the folder `secrets`. What is there stays as it is.
set -eu
cd "$(dirname "$0")/.."
mkdir -p secrets
# Nobody else may look into the folder; the files themselves are read by the users of the containers.
chmod 700 secrets

secret() {
  path="secrets/$1"
  if [ -s "$path" ]; then
    echo "$path is there already"
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
