"""Verifies an export of Annals, without Annals: with Python 3.9 or later and its standard library alone.

    python3 verify-export.py <folder>                 the output of `npm run annals -- log export`
    python3 verify-export.py <file.jsonl>             the answer of `GET /audit/export`
        --key=<id>         a key that you trust from another source: it, or one that it endorses, must have signed the export
        --heads <file>     published heads, one a line, such as AUDIT_DIR/heads.jsonl: the events must match them, and at least one head
                           must cover all events before these, or some of these as well

It is one file, so that an auditor can read all of it and take it along. It verifies the files' hashes, every event and its place, the
chain of hashes from the first to the last, the signed heads, the keys, and the signature of the manifest. It exits with 0 if all of that
is right, and otherwise with 1 and one sentence.
"""

import argparse
import base64
import hashlib
import json
import math
import re
import sys
from pathlib import Path

GENESIS = hashlib.sha256(b"annals chain 1").hexdigest()


class Wrong(Exception):
    """Something that is not as it must be."""


def demand(is_right, sentence):
    if not is_right:
        raise Wrong(sentence)


# RFC 8785: one text for each value of JSON. Names are ordered by their UTF-16 units, numbers written as ECMAScript writes them.


def canonical(value):
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, (int, float)):
        return number_of(float(value))
    if isinstance(value, list):
        return "[" + ",".join(canonical(each) for each in value) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(text_of(name) + ":" + canonical(value[name]) for name in names) + "}"


def text_of(text):
    # RFC 8785 allows no half of a surrogate pair; for a damaged text with one, the chain hashed its escape.
    return re.sub("[\ud800-\udfff]", lambda half: "\\u%04x" % ord(half[0]), json.dumps(text, ensure_ascii=False))


def number_of(number):
    if not math.isfinite(number):
        return "null"
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    # Python finds the same shortest digits, but formats them differently.
    mantissa, _, exponent = ("%r" % abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    tail = "." + digits[1:] if count > 1 else ""
    return "%s%s%se%s%d" % (sign, digits[0], tail, "+" if point > 0 else "-", abs(point - 1))


# Ed25519 (RFC 8032, section 5.1.7), only as much as the verification of a few signatures needs.

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def recover(y, sign):
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P != 0:
        x = x * ROOT % P
    if (x * x - square) % P != 0 or (x == 0 and sign == 1):
        return None
    x = P - x if x & 1 != sign else x
    return (x, y, 1, x * y % P)


def point_in(data):
    number = int.from_bytes(data, "little")
    return recover(number & ((1 << 255) - 1), number >> 255)


def add(one, other):
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * D % P
    d = 2 * one[2] * other[2] % P
    return ((b - a) * (d - c) % P, (d + c) * (b + a) % P, (d - c) * (d + c) % P, (b - a) * (b + a) % P)


def times(number, point):
    product = (0, 1, 1, 0)
    while number > 0:
        if number & 1:
            product = add(product, point)
        point = add(point, point)
        number >>= 1
    return product


BASE = recover(4 * pow(5, P - 2, P) % P, 0)


def is_signed_by(public_key, text, signature):
    key, made = from_base64(public_key["x"]), from_base64(signature)
    if public_key.get("kty") != "OKP" or public_key.get("crv") != "Ed25519" or len(key) != 32 or len(made) != 64:
        return False
    a, r, s = point_in(key), point_in(made[:32]), int.from_bytes(made[32:], "little")
    if a is None or r is None or s >= L:
        return False
    h = int.from_bytes(hashlib.sha512(made[:32] + key + text.encode()).digest(), "little") % L
    left, right = times(s, BASE), add(r, times(h, a))
    return all((left[axis] * right[2] - right[axis] * left[2]) % P == 0 for axis in (0, 1))


def from_base64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def keys_in(manifest):
    """All keys by id: each is endorsed by the one before it, and its id is its thumbprint (RFC 7638)."""
    keys, latest = {}, None
    for key in manifest["keys"]:
        public = key["publicKey"]
        digest = hashlib.sha256(canonical({name: public[name] for name in ("crv", "kty", "x")}).encode()).digest()
        demand(base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == key["id"], "The key %s is not what its id says." % key["id"])
        before = key["endorsedBy"]
        demand(before == latest, "The key %s does not follow from the one before it." % key["id"])
        if before is not None:
            text = canonical({"v": 1, "endorses": key["id"], "publicKey": public, "madeAt": key["madeAt"], "key": before})
            demand(is_signed_by(keys[before], text, key["endorsement"]), "The key %s was not endorsed by %s." % (key["id"], before))
        demand(key["id"] not in keys, "The key %s is there twice." % key["id"])
        keys[key["id"]], latest = public, key["id"]
    return keys


def head_of(keys, head):
    """The content of a signed head; the signature is over its exact text."""
    says = json.loads(head["statement"])
    demand(says["key"] in keys, "A head over %d events was signed by the unknown key %s." % (says["count"], says["key"]))
    is_right = is_signed_by(keys[says["key"]], head["statement"], head["signature"])
    demand(is_right, "The signature of the head over %d events is wrong." % says["count"])
    return says


def demand_manifest(manifest, known_key):
    demand(manifest.get("format") == 1, "The export is of another format.")
    keys = keys_in(manifest)
    demand(manifest["key"] in keys, "The manifest was signed by the unknown key %s." % manifest["key"])
    signed = canonical({name: value for name, value in manifest.items() if name != "signature"})
    demand(is_signed_by(keys[manifest["key"]], signed, manifest["signature"]), "The signature of the manifest is wrong: it was changed.")
    endorsed_by = {key["id"]: key["endorsedBy"] for key in manifest["keys"]}
    ancestor = manifest["key"]
    while known_key is not None and ancestor not in (known_key, None):
        ancestor = endorsed_by[ancestor]
    demand(known_key is None or ancestor == known_key, "The export is not signed by the key %s, nor by one that follows from it." % known_key)
    return keys


class Chain:
    """Takes the events in order, and compares them with the signed heads."""

    def __init__(self, manifest, heads):
        before = manifest["chain"]["before"]
        demand(before["count"] > 0 or before["head"] == GENESIS, "The chain does not begin where every chain begins.")
        is_borne_out = heads.get(before["count"], before["head"]) == before["head"]
        demand(is_borne_out, "The events follow on %d others, and a head was signed over those that is another." % before["count"])
        self.manifest, self.heads = manifest, heads
        self.head, self.count, self.last = bytes.fromhex(before["head"]), before["count"], manifest["after"]
        self.versions, self.ids = {}, set()

    def take(self, line, where):
        event = json.loads(line)
        demand(event["source"] == "urn:uuid:" + self.manifest["log"], "%s: the event is of another log." % where)
        stream, version, position = event["subject"], event["streamversion"], int(event["sequence"])
        demand(position > self.last, "%s: position %d follows on %d." % (where, position, self.last))
        # In a partial export, the first event of a stream may have any version.
        expected = self.versions.get(stream, 0 if self.manifest["after"] == 0 else version - 1) + 1
        demand(version == expected, "%s: %s goes on with version %d instead of %d." % (where, stream, version, expected))
        demand(event["id"] not in self.ids, "%s: the event %s is there twice." % (where, event["id"]))
        self.ids.add(event["id"])
        self.versions[stream], self.last, self.count = version, position, self.count + 1
        hashed = {"stream": stream, "version": version, "id": event["id"], "type": event["type"]}
        hashed.update({"metadata": json.loads(event["metadata"]), "data": event["data"]})
        self.head = hashlib.sha256(self.head + hashlib.sha256(canonical(hashed).encode()).digest()).digest()
        signed = self.heads.get(self.count, self.head.hex())
        demand(signed == self.head.hex(), "%s: a head was signed over %d events, and these have another." % (where, self.count))

    def end(self):
        after = self.manifest["chain"]["after"]
        is_whole = (self.count, self.head.hex(), self.last) == (after["count"], after["head"], self.manifest["upTo"])
        demand(is_whole, "The events do not end as the manifest says.")


def lines_of(path, entry, after=0):
    """The lines of a file of an export, which is followed by `after` other lines. Verifies its hash after the last one."""
    digest, size, count = hashlib.sha256(), 0, 0
    with open(path, "rb") as file:
        for line in file:
            if size >= entry["bytes"]:
                after -= 1
                continue
            digest.update(line)
            size += len(line)
            count += 1
            yield line
    is_right = digest.hexdigest() == entry["sha256"] and size == entry["bytes"] and count == entry.get("events", entry.get("keys"))
    demand(after == 0, "%s holds more than the manifest says." % entry["name"])
    demand(is_right, "%s is not what the manifest says: it was changed, or cut off." % entry["name"])


def open_export(path):
    """The manifest, the place of each of its files, and the number of lines after those of a file."""
    if path.is_dir():
        manifest = json.loads((path / "manifest.json").read_bytes())
        known = {entry["name"] for entry in manifest["files"] + [manifest["persons"] or {"name": ""}]}
        for found in path.glob("*.jsonl"):
            demand(found.name in known, "%s is no part of the export." % found.name)
        return manifest, lambda name: path / name, 0
    with open(path, "rb") as file:
        last = json.loads(list_last(file))
    demand(last.get("type") == "log.exported", "The last line is no manifest: not all has come.")
    return last["data"], lambda name: path, 1


def list_last(file):
    line = b""
    for line in file:
        pass
    return line


def verify(path, known_key, heads_file):
    manifest, place_of, after = open_export(path)
    keys = demand_manifest(manifest, known_key)
    published = [json.loads(line) for line in open(heads_file, "rb") if line.strip()] if heads_file else []
    said = [head_of(keys, head) for head in manifest["heads"] + published]
    heads = {}
    for says in said:
        demand(heads.setdefault(says["count"], says["head"]) == says["head"], "Two heads over %d events differ." % says["count"])
    chain = Chain(manifest, heads)
    for entry in manifest["files"]:
        for number, line in enumerate(lines_of(place_of(entry["name"]), entry, after), 1):
            chain.take(line, "%s, line %d" % (entry["name"], number))
    chain.end()
    if manifest["persons"]:
        for _ in lines_of(place_of(manifest["persons"]["name"]), manifest["persons"]):
            pass
    first = manifest["chain"]["before"]["count"]
    given = [says["count"] for says in said[len(manifest["heads"]) :] if first <= says["count"] <= chain.count]
    demand(given or not heads_file, "None of the heads in %s is over %d to %d events, so that they show nothing of these." % (heads_file, first, chain.count))
    covered = [count for count in heads if first < count <= chain.count]
    return manifest, len(covered)


def main():
    parser = argparse.ArgumentParser(description="Verifies an export of Annals.")
    parser.add_argument("export", type=Path)
    parser.add_argument("--key", metavar="<id>")
    parser.add_argument("--heads", metavar="<file>", type=Path)
    asked = parser.parse_args()
    try:
        manifest, heads = verify(asked.export, asked.key, asked.heads)
    except Wrong as wrong:
        sys.exit("NOT VERIFIED. %s" % wrong)
    except OSError as wrong:
        sys.exit("NOT VERIFIED. %s cannot be read: %s." % (wrong.filename, wrong.strerror))
    except (ValueError, KeyError, TypeError, AttributeError) as wrong:
        sys.exit("NOT VERIFIED. Something is not of the form of an export: %r" % wrong)
    print("VERIFIED. %d events, after position %d up to %d." % (manifest["count"], manifest["after"], manifest["upTo"]))
    print("The head of the chain is %s; %d signed heads lie within and agree." % (manifest["chain"]["after"]["head"], heads))
    print("Signed by the key %s%s." % (manifest["key"], "" if asked.key else ": compare it with one that you know from another source"))


if __name__ == "__main__":
    main()
