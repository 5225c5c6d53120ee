"""Subscribes to published articles with the standard library alone. The optional argument is the cursor to continue after."""

import base64
import http.client
import json
import os
import sys
import time
import urllib.parse
import urllib.request

URL = os.environ.get("ANNALS_URL", "http://localhost:4000")
# An idle stream sends a heartbeat every 15 seconds.
SILENCE_MAX_SECONDS = 60


def access_token():
    """It lives five minutes, so each connection requests its own."""
    credentials = f"{os.environ['CLIENT_ID']}:{os.environ['CLIENT_SECRET']}".encode()
    request = urllib.request.Request(
        f"{URL}/token",
        data=urllib.parse.urlencode({"grant_type": "client_credentials"}).encode(),
        headers={"Authorization": "Basic " + base64.b64encode(credentials).decode()},
    )
    with urllib.request.urlopen(request, timeout=SILENCE_MAX_SECONDS) as response:
        return json.load(response)["access_token"]


def messages(last):
    """The messages of one connection, as (event, id, data), until it ends. An empty Last-Event-ID means the current end."""
    request = urllib.request.Request(
        f"{URL}/events?types=article.published",
        headers={"Accept": "text/event-stream", "Authorization": f"Bearer {access_token()}", "Last-Event-ID": last},
    )
    with urllib.request.urlopen(request, timeout=SILENCE_MAX_SECONDS) as response:
        event, data = "message", []
        for raw in response:
            field, _, value = raw.decode().rstrip("\n").partition(": ")
            if raw == b"\n":
                # An empty line completes a message. An incomplete one is sent again.
                yield event, last, "\n".join(data)
                event, data = "message", []
            elif field == "event":
                event = value
            elif field == "id":
                last = value
            elif field == "data":
                data.append(value)


def follow(last):
    while True:
        try:
            for event, id, data in messages(last):
                if event == "problem":
                    print("told:", data, file=sys.stderr)
                    break
                if data:
                    # Your processing goes here; store the cursor together with its result.
                    change = json.loads(data)
                    print(change["cursor"], change["type"], change["subject"], flush=True)
                last = id
        except (OSError, http.client.HTTPException) as error:
            print("cut off:", error, file=sys.stderr)
        time.sleep(1)


follow(sys.argv[1] if len(sys.argv) > 1 else "")
