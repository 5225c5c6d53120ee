#!/usr/bin/env bash
# Subscribes to published articles with curl. The optional argument is the cursor to continue after.
set -o pipefail
url=${ANNALS_URL:-http://localhost:4000}
last=${1-}

access_token() {
  curl -sSf "$url/token" -u "$CLIENT_ID:$CLIENT_SECRET" -d grant_type=client_credentials | sed -E 's/.*"access_token":"([^"]+)".*/\1/'
}

# Ends with the stream, for any reason. An empty Last-Event-ID means the current end.
connect() {
  local token
  token=$(access_token) || return
  curl -sSNf --keepalive-time 30 "$url/events?types=article.published" -H 'Accept: text/event-stream' \
    -H "Authorization: Bearer $token" -H "Last-Event-ID: $last"
}

while true; do
  event= id= data=
  # An empty line completes a message. An incomplete one is sent again.
  while IFS= read -r line; do
    case $line in
      'event: '*) event=${line#event: } ;;
      'id: '*) id=${line#id: } ;;
      'data: '*) data=${line#data: } ;;
      '')
        if [ "$event" = problem ]; then
          echo "told: $data" >&2
        elif [ -n "$data" ]; then
          # Your processing goes here; store the cursor together with its result.
          echo "$id $data"
        fi
        last=${id:-$last} event='' data=''
        ;;
    esac
  done < <(connect)
  sleep 1
done
