#!/bin/sh
# Replaces every process of every role, one after the other, readers of new data before its writers (docs/upgrade.md).
# Stops at the first one that does not become ready, and leaves the others as they are.
#   sh deploy/rolling-restart.sh               containers of docker compose, with the current image: run docker compose build first
#   sh deploy/rolling-restart.sh my-copies.sh  processes that your file replaces by the two functions below
set -eu

# The ingress looks up processes every 5 seconds, and tries a failed one again after 2 seconds.
settle=${SETTLE_SECONDS-7}

copies_of() { docker compose ps --quiet "$1"; }

# Exits with 0 once the new process is ready. Here the new one starts first, so that one process per role is enough.
replace() {
  count=$(copies_of "$1" | wc -l)
  docker compose up --detach --wait --no-deps --no-recreate --scale "$1=$((count + 1))" "$1"
  sleep "$settle"
  docker stop --timeout 15 "$2"
  docker rm "$2"
}

if [ $# -gt 0 ]; then . "$(realpath "$1")"; fi

for role in projector query webhook-dispatcher command auth; do
  copies=$(copies_of "$role")
  for copy in $copies; do
    echo "$role $copy"
    replace "$role" "$copy"
    sleep "$settle"
  done
done
