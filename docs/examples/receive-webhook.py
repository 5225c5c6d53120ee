"""Receives webhooks with the standard library alone. WEBHOOK_SECRET is the secret from the registration; during a rotation, both
secrets with a space between them."""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRETS = [base64.b64decode(secret.removeprefix("whsec_")) for secret in os.environ.get("WEBHOOK_SECRET", "").split()]
PORT = int(os.environ.get("PORT", "8080"))

# An older request may have been intercepted and replayed.
AGE_MAX_SECONDS = 300
BODY_BYTES_MAX = 1_000_000


def is_genuine(headers, body):
    """Returns whether Annals has just sent this. `body` must be the original bytes: parsing and serialising would change them."""
    id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit()) or abs(time.time() - int(timestamp)) > AGE_MAX_SECONDS:
        return False
    signed = f"{id}.{timestamp}.".encode() + body
    expected = ["v1," + base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode() for secret in SECRETS]
    given = headers.get("webhook-signature", "").split(" ")
    # Any of the signatures by any of our secrets is enough.
    return any(hmac.compare_digest(one.encode(), other.encode()) for one in expected for other in given)


# The processed events. Yours is a table with a unique id, written in one transaction with the processing of an event.
seen = set()


def handle(event):
    """Your processing of an event. The answer waits for it, at most 15 seconds: leave slow work to a job that reads the table."""
    print(event["id"], event["type"], event["subject"], flush=True)


def receive(event):
    """Marks an event after its processing: if that fails, the answer is 500, and Annals retries."""
    if event["id"] in seen:
        return
    handle(event)
    seen.add(event["id"])


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self):
        length = int(self.headers.get("content-length", "0"))
        if length > BODY_BYTES_MAX:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(length)
        if not is_genuine(self.headers, body):
            return self.answer(401)
        try:
            receive(json.loads(body))
        except Exception:
            # Annals retries.
            traceback.print_exc()
            return self.answer(500)
        self.answer(200)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if not SECRETS:
    sys.exit("WEBHOOK_SECRET is missing")
server = ThreadingHTTPServer(("", PORT), Receiver)
print(f"listening on http://localhost:{PORT}", file=sys.stderr, flush=True)
server.serve_forever()
