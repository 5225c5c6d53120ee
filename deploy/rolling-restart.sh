#!/bin/sh
# Puts a new process in the place of every copy of every role, one after the other, and those first that read what others write
# (docs/upgrade.md). It ends at the first that does not become ready, and leaves the others as they are.
#   sh deploy/rolling-restart.sh               containers of docker compose, of the image that there is now: docker compose build before
#   sh deploy/rolling-restart.sh my-copies.sh  whatever a file of yours does in the two functions below
set -eu

# The ingress looks for copies every 5 seconds, and asks one again 2 seconds after it was not there.
settle=${SETTLE_SECONDS-7}

copies_of() { docker compose ps --quiet "$1"; }

# Ends with 0 once the new process is ready. Here the new one comes first, so that one copy of each role is enough.
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
