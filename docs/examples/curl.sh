#!/usr/bin/env bash
# Follows what is published by curl. The argument, if any, is the cursor to go on after.
set -o pipefail
url=${ANNALS_URL:-http://localhost:4000}
last=${1-}

access_token() {
  curl -sSf "$url/token" -u "$CLIENT_ID:$CLIENT_SECRET" -d grant_type=client_credentials | sed -E 's/.*"access_token":"([^"]+)".*/\1/'
}

# Ends when the stream does, for whatever reason. An empty Last-Event-ID means from now on.
connect() {
  local token
  token=$(access_token) || return
  curl -sSNf --keepalive-time 30 "$url/events?types=article.published" -H 'Accept: text/event-stream' \
    -H "Authorization: Bearer $token" -H "Last-Event-ID: $last"
}

while true; do
  event= id= data=
  # Only where a line is empty is a message whole. What is cut off before comes again.
  while IFS= read -r line; do
    case $line in
      'event: '*) event=${line#event: } ;;
      'id: '*) id=${line#id: } ;;
      'data: '*) data=${line#data: } ;;
      '')
        if [ "$event" = problem ]; then
          echo "told: $data" >&2
        elif [ -n "$data" ]; then
          # What you do with it comes here; keep the cursor together with that.
          echo "$id $data"
        fi
        last=${id:-$last} event='' data=''
        ;;
    esac
  done < <(connect)
  sleep 1
done
