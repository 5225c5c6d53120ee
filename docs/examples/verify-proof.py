#!/usr/bin/env python3
"""Checks the proof of an event, as `annals events proof` writes it, with a key alone.

    python3 verify-proof.py event.tlog-proof 'annals/6f96...+0a1b2c3d+AR...'

It needs no package, no network and no Annals. The formats are tlog-proof, tlog-checkpoint and signed-note of C2SP.
"""
import base64
import hashlib
import json
import pathlib
import re
import sys

# Ed25519 (RFC 8032, 5.1), in its plain form: slow, and enough for one signature.
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def recover_x(y, sign):
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - x2) % P or (x == 0 and sign):
        raise ValueError
    return P - x if x & 1 != sign else x


def decode_point(data):
    number = int.from_bytes(data, "little")
    y, sign = number & (2**255 - 1), number >> 255
    if y >= P:
        raise ValueError
    x = recover_x(y, sign)
    return (x, y, 1, x * y % P)


def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point, scalar = add(point, point), scalar >> 1
    return result


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE = (recover_x(BASE_Y, 0), BASE_Y, 1, recover_x(BASE_Y, 0) * BASE_Y % P)


def is_signed(key, text, signature):
    try:
        a, r = decode_point(key), decode_point(signature[:32])
    except ValueError:
        return False
    s = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or s >= ORDER:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + text).digest(), "little") % ORDER
    left, right = multiply(s, BASE), add(r, multiply(h, a))
    return all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def root_of(leaf, index, size, path):
    """The root of the tree that has this leaf there, if the path is right (RFC 9162, 2.1.3.2)."""
    at, last, root = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return None
        if at & 1 or at == last:
            root = sha256(b"\1", sibling, root)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            root = sha256(b"\1", root, sibling)
        at, last = at >> 1, last >> 1
    return root if last == 0 and index < size else None


def parse_key(vkey):
    name, key_id, encoded = vkey.split("+", 2)
    key = base64.b64decode(encoded, validate=True)
    if len(key) != 33 or key[0] != 1 or sha256(name.encode(), b"\n", key)[:4].hex() != key_id:
        raise ValueError
    return name, bytes.fromhex(key_id), key[1:]


FORM = re.compile(
    r"c2sp\.org/tlog-proof@v1\nextra (?P<extra>[A-Za-z0-9+/]+=*)\nindex (?P<index>0|[1-9][0-9]{0,15})"
    r"(?P<path>(?:\n[A-Za-z0-9+/]{43}=){0,64})\n\n"
    r"(?P<text>(?P<origin>[^\n]+)\n(?P<size>0|[1-9][0-9]{0,15})\n(?P<root>[A-Za-z0-9+/]{43}=)\n(?:[^\n]+\n)*)\n"
    r"(?P<signatures>(?:\u2014 [^ \n]+ [A-Za-z0-9+/]+=*\n)+)"
)


def check(proof, vkey):
    """The event, its index and the size of the log; or a sentence that says why it is not proven."""
    try:
        name, key_id, key = parse_key(vkey)
    except ValueError:
        return "The key is no key of a log."
    try:
        form = FORM.fullmatch(proof.decode())
        more = json.loads(base64.b64decode(form["extra"]))
        event, salt = more["event"].encode(), base64.b64decode(more["salt"], validate=True)
        found = json.loads(event)
        if len(salt) != 32:
            raise ValueError
        signed = [line.split(" ") for line in form["signatures"].split("\n")[:-1]]
        ours = [base64.b64decode(line[2]) for line in signed if line[1] == name]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "The file is no proof of an event, or a part of it is missing."
    if form["origin"] != name:
        return f"The proof is of the log {ascii(form['origin'])}, and the key is of {name}."
    ours = [each[4:] for each in ours if each[:4] == key_id]
    if not ours:
        return "The checkpoint of the proof is not signed by this key."
    if not all(is_signed(key, form["text"].encode(), each) for each in ours):
        return "The signature of the checkpoint is wrong: the checkpoint was changed after it was signed."
    index, size, path = int(form["index"]), int(form["size"]), form["path"].split()
    leaf = sha256(b"\0", sha256(salt, sha256(event)))
    if root_of(leaf, index, size, [base64.b64decode(each) for each in path]) != base64.b64decode(form["root"]):
        return f"The log does not have this event in place {index + 1}: the event, or its proof, was changed."
    return found, index, size


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        result = check(pathlib.Path(sys.argv[1]).read_bytes(), sys.argv[2])
    except OSError as error:
        sys.exit(f"{sys.argv[1]} cannot be read: {error.strerror}.")
    if isinstance(result, str):
        sys.exit(f"Not proven. {result}")
    print(f"Proven: event {result[1] + 1} of {result[2]} in the log.")
    print(json.dumps(result[0], indent=2))
