#!/usr/bin/env python3
"""Checks the proof of an event, as `annals events proof` writes it, with keys alone, no package and no network:
    python3 verify-proof.py event.tlog-proof 'annals/6f96...+0a1b2c3d+AR...' [witnesses.policy]
Formats: tlog-proof, tlog-checkpoint, signed-note, tlog-policy and tlog-cosignature of C2SP. Of cosignatures it checks
those by Ed25519; those by ML-DSA-44 count as missing, and are named."""
import base64, hashlib, json, pathlib, re, sys, time

# Ed25519 (RFC 8032, 5.1), in its plain form: slow, and enough for a few signatures.
P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P

def point_of(data):
    number = int.from_bytes(data, "little")
    y, sign = number & (2**255 - 1), number >> 255
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    x = x if (x * x - x2) % P == 0 else x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - x2) % P or (x == 0 and sign): raise ValueError
    x = P - x if x & 1 != sign else x
    return (x, y, 1, x * y % P)

def add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)

def multiply(scalar, point):
    result = (0, 1, 1, 0)
    while scalar:
        result = add(result, point) if scalar & 1 else result
        point, scalar = add(point, point), scalar >> 1
    return result

BASE = point_of((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))

def is_signed(key, text, signature):
    s = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or s >= ORDER: return False
    try: a, r = point_of(key), point_of(signature[:32])
    except ValueError: return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + text).digest(), "little") % ORDER
    left, right = multiply(s, BASE), add(r, multiply(h, a))
    return all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))

def demand(is_so, sentence): is_so or sys.exit(f"Not proven. {sentence}")
def sha256(*parts): return hashlib.sha256(b"".join(parts)).digest()

def root_of(leaf, index, size, path):
    """The root of the tree that has this leaf there, if the path is right (RFC 9162, 2.1.3.2)."""
    at, last, root = index, size - 1, leaf
    for sibling in path:
        if last == 0: return None
        is_right = at & 1 or at == last
        root = sha256(b"\1", sibling, root) if is_right else sha256(b"\1", root, sibling)
        while is_right and at and not at & 1: at, last = at >> 1, last >> 1
        at, last = at >> 1, last >> 1
    return root if last == 0 and index < size else None

def parse_key(vkey, kinds):
    name, key_id, encoded = vkey.split("+", 2)
    key = base64.b64decode(encoded, validate=True)
    if kinds.get(key[:1]) != len(key) or sha256(name.encode(), b"\n", key)[:4].hex() != key_id: raise ValueError
    return name, bytes.fromhex(key_id), key[1:]

NAME = r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*(?=[a-z])[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.?"
IPV4 = r"(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])(?:\.(?=[0-9])|(?=[:/]|$))){4}"
IPV6 = r"\[(?:(?:H:){7}H|(?=(?::{0,2}H){0,7}:{0,2}\])(?:H(?::H)*)?::(?:H(?::H)*)?)\]".replace("H", "[0-9a-f]{1,4}")
PORT = "(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})"
ADDRESS = re.compile(f"(?ai)https?://(?:{NAME}|{IPV4}|{IPV6})(?::{PORT})?(?:/[a-z0-9._~%!$&'()*+,;=:/-]*)?")
def parse_policy(text):
    """The keys of witnesses by their names, and whether a set of names is enough."""
    if re.search("[\0-\x08\x0b-\x1f\x7f]", text): raise ValueError
    keys, rules, used, quorum = {}, {}, [], []
    for word, name, *more in map(re.compile("[^ \t]+").findall, re.findall("^[ \t]*([^# \t\n].*)", text, re.M)):
        url, rule = more[1:] if word == "witness" else more if word == "log" else [], None
        if word == "witness":
            keys[name] = parse_key(more[0], {b"\4": 33, b"\6": 1313})
            used, rule = used + [keys[name][2]], lambda names, name=name: name in names
        elif word == "group" and re.fullmatch("any|all|[1-9][0-9]{0,3}", more[0]):
            of = [rules[each] for each in more[1:]]
            needed = range(len(of) + 1)[{"any": 1, "all": len(of) or 1}.get(more[0]) or int(more[0])]
            used, rule = used + more[1:], lambda names, of=of, needed=needed: sum(each(names) for each in of) >= needed
        elif word == "log": used.append(parse_key(name, {b"\1": 33})[2])
        elif word == "quorum" and not more: quorum.append(rules.get(name) or {"none": lambda _: True}[name])
        else: raise ValueError
        # Each key is in one line, and each name in one group, so that no witness counts twice.
        is_wrong = len(set(used)) < len(used) or rule and name in (*rules, "none")
        if is_wrong or url and not ADDRESS.fullmatch(" ".join(url)): raise ValueError
        if rule: rules[name] = rule
    [is_enough] = quorum
    return keys, is_enough

FORM = re.compile(
    r"c2sp\.org/tlog-proof@v1\nextra (?P<extra>[A-Za-z0-9+/]+=*)\nindex (?P<index>0|[1-9][0-9]{0,15})"
    r"(?P<path>(?:\n[A-Za-z0-9+/]{43}=){0,64})\n\n"
    r"(?P<text>(?P<origin>[^\0-\x1f]+)\n(?P<size>0|[1-9][0-9]{0,15})\n(?P<root>[A-Za-z0-9+/]{43}=)\n"
    r"(?:[^\0-\x1f]+\n)*)\n(?P<signatures>(?:\u2014 [^\s+]+ [A-Za-z0-9+/]+=*\n){1,100})"
)

def signatures_of(name, key_id, signed): return [blob[4:] for by, blob in signed if by == name and blob[:4] == key_id]
def cosigned(keys, text, signed):
    """The witnesses that have cosigned, each with the time, in this order."""
    times = {}
    for witness, (name, key_id, key) in keys.items():
        for blob in signatures_of(name, key_id, signed) if len(key) == 32 else []:
            at = int.from_bytes(blob[:8], "big")
            is_right = at < 2**37 and is_signed(key, b"cosignature/v1\ntime %d\n%s" % (at, text), blob[8:])
            demand(is_right, f"The cosignature of the witness {witness} is wrong: it, or the checkpoint, was changed.")
            if at: times[witness] = min(at, times.get(witness, at))
    return sorted(times.items(), key=lambda each: each[1])

def check(proof, vkey, policy=b"quorum none"):
    """The event, its place, who has cosigned, and when enough of them had; it ends with a sentence otherwise."""
    try: (name, key_id, key), (keys, is_enough) = parse_key(vkey, {b"\1": 33}), parse_policy(policy.decode())
    except (ValueError, LookupError): demand(False, "The key is no key of a log, or the policy is none.")
    try:
        form = FORM.fullmatch(proof.decode())
        more = json.loads(base64.b64decode(form["extra"]))
        if more.keys() - {"event", "salt", "timestamp"}: raise ValueError
        event, salt = more["event"].encode(), base64.b64decode(more["salt"], validate=True)
        found, text = json.loads(event), form["text"].encode()
        signed = [(by, base64.b64decode(blob)) for by, blob in re.findall("(\\S+) (\\S+)\n", form["signatures"])]
    except Exception: demand(False, "The file is no proof of an event, or a part of it is missing.")
    demand(form["origin"] == name, f"The proof is of the log {ascii(form['origin'])}, and the key is of {name}.")
    ours = signatures_of(name, key_id, signed)
    demand(ours, "The checkpoint of the proof is not signed by this key.")
    demand(all(is_signed(key, text, each) for each in ours), "The checkpoint was changed after it was signed.")
    by = cosigned(keys, text, signed)
    names = [witness for witness, _ in by]
    skipped = [each for each, (of, hint, key) in keys.items() if len(key) > 32 and signatures_of(of, hint, signed)]
    unchecked = f"ML-DSA-44 is not checked here, and so not the cosignature of {', '.join(skipped)}" if skipped else ""
    who = "; ".join(filter(None, [", ".join(names) or "none", unchecked]))
    demand(is_enough(names), f"Not enough witnesses of the policy have cosigned: {who}.")
    index, size, path = int(form["index"]), int(form["size"]), form["path"].split()
    root = root_of(sha256(b"\0", sha256(salt, sha256(event))), index, size, map(base64.b64decode, path))
    is_right = len(salt) == 32 and root == base64.b64decode(form["root"])
    demand(is_right, f"The log does not have this event in place {index + 1}: the event, or its proof, was changed.")
    enough = (("enough of them", at) for count, (_, at) in enumerate(by, 1) if is_enough(names[:count]))
    return found, f"event {index + 1} of {size} in the log", by + ([] if is_enough([]) else [next(enough)]), unchecked

if __name__ == "__main__":
    if len(sys.argv) not in (3, 4): sys.exit(__doc__)
    try: proof, *policy = [pathlib.Path(path).read_bytes() for path in (sys.argv[1], *sys.argv[3:])]
    except OSError as error: sys.exit(f"{error.filename} cannot be read: {error.strerror}.")
    event, place, by, unchecked = check(proof, sys.argv[2], *policy)
    print(f"Proven: {place}.", json.dumps(event, indent=2), sep="\n")
    if unchecked: print(f"{unchecked}.")
    for witness, at in by:
        print(f"Witnessed by {witness} at {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(at))}.")
