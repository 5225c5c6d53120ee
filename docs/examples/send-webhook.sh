#!/usr/bin/env bash
# Sends an event like Annals, with openssl and curl, to test a receiver: send-webhook.sh https://example.com/hooks
url=${1:?The address of the receiver is missing.}
: "${WEBHOOK_SECRET:?It is missing: the receiver needs the same.}"

id=${WEBHOOK_ID:-$(cat /proc/sys/kernel/random/uuid 2> /dev/null || uuidgen)}
timestamp=$(date +%s)
body='{"id":"'$id'","type":"article.published","version":1,"at":"2026-11-21T15:04:05.678Z","cursor":"6f9619ff-1z4","subject":"article-8001","data":{"articleId":8001,"authorId":7001}}'

key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
signature=$(printf %s "$id.$timestamp.$body" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)

curl -sS -o /dev/null -w '%{http_code}\n' "$url" -H 'Content-Type: application/json' -H 'User-Agent: Annals' \
  -H "webhook-id: $id" -H "webhook-timestamp: $timestamp" -H "webhook-signature: v1,$signature" -d "$body"
