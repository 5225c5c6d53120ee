#!/usr/bin/env bash
# Receives a webhook as a CGI script of a web server, with openssl. WEBHOOK_SECRET is the secret from the registration; during a
# rotation, both secrets with a space between them.
age_max_seconds=300
body_bytes_max=1000000

answer() {
  printf 'Status: %s\r\n\r\n' "$1"
  exit 0
}

[ -n "$WEBHOOK_SECRET" ] || answer 500
body=$(mktemp) && trap 'rm -f "$body"' EXIT || answer 500
[ "${CONTENT_LENGTH:-0}" -le "$body_bytes_max" ] || answer 413
# The original bytes, in a file: a shell variable would lose some.
head -c "${CONTENT_LENGTH:-0}" > "$body"

id=$HTTP_WEBHOOK_ID timestamp=$HTTP_WEBHOOK_TIMESTAMP
[[ $timestamp =~ ^[1-9][0-9]{0,11}$ ]] || answer 401
# An older request may have been intercepted and replayed.
age=$(($(date +%s) - timestamp))
[ "${age#-}" -le "$age_max_seconds" ] || answer 401

sign() {
  key=$(printf %s "${1#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
  { printf '%s.%s.' "$id" "$timestamp" && cat "$body"; } | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A
}

is_genuine() {
  # Any of the signatures by any of our secrets is enough.
  for secret in $WEBHOOK_SECRET; do
    expected="v1,$(sign "$secret")"
    for given in $HTTP_WEBHOOK_SIGNATURE; do [ "$given" = "$expected" ] && return 0; done
  done
  return 1
}

is_genuine || answer 401
# Your processing goes here, once for each id, before the answer; if it fails, answer 500, and Annals retries.
echo "$id $(cat "$body")" >&2
answer 204
