#!/usr/bin/env python3
"""Checks the proof of an item, as `annals items proof` writes it, with a key alone.

    python3 verify-item.py article.jsonl 'annals/6f96...+0a1b2c3d+AR...'

It needs no package, no network and no Annals, only verify-proof.py beside it, for signatures and keys.
"""
import base64
import collections
import importlib.util
import json
import pathlib
import re
import sys

BESIDE = pathlib.Path(__file__).with_name("verify-proof.py")
SPEC = importlib.util.spec_from_file_location("verify_proof", BESIDE)
ONE = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(ONE)

FORMAT = "annals/item-proof@v1"
NOTE = re.compile(
    r"(?P<text>(?P<origin>[^\n]+)\n(?P<size>0|[1-9][0-9]{0,15})\n(?P<root>[A-Za-z0-9+/]{43}=)\n(?:[^\n]+\n)*)\n"
    r"(?P<signatures>(?:\u2014 [^ \n]+ [A-Za-z0-9+/]+=*\n)+)"
)


def decode(text):
    data = base64.b64decode(text, validate=True)
    if len(data) != 32:
        raise ValueError
    return data


def root_of(leaves, hashes, start, end):
    """The root of the entries from start to before end: taken from the leaves, and from the hashes beside them."""
    if not leaves or leaves[0][0] >= end:
        return hashes.popleft() if hashes else None
    if end - start == 1:
        return leaves.popleft()[1]
    half = 1
    while half * 2 < end - start:
        half *= 2
    left = root_of(leaves, hashes, start, start + half)
    right = root_of(leaves, hashes, start + half, end) if left else None
    return ONE.sha256(b"\1", left, right) if left and right else None


def check(proof, vkey):
    """The stream, its events and the size of the log; or a sentence that says why it is not proven."""
    try:
        name, key_id, key = ONE.parse_key(vkey, {b"\1": 33})
    except ValueError:
        return "The key is no key of a log."
    try:
        text = proof.decode()
        first, *lines = map(json.loads, text.split("\n")[:-1])
        note = NOTE.fullmatch(lines.pop()["checkpoint"])
        stream = first["stream"]
        end = next((at for at, line in enumerate(lines) if "event" not in line), len(lines))
        hashes = collections.deque(decode(each) for line in lines[end:] for each in line["hashes"])
        entries = [(line["index"], decode(line["salt"]), line["event"].encode()) for line in lines[:end]]
        events = [json.loads(event) for _, _, event in entries]
        versions = [(event["stream"], event["version"]) for event in events]
        signed = [line.split(" ") for line in note["signatures"].split("\n")[:-1]]
        ours = [base64.b64decode(line[2]) for line in signed if line[1] == name]
        numbers = [index for index, _, _ in entries] + [version for _, version in versions]
        if first["format"] != FORMAT or not text.endswith("\n") or not all(type(each) is int for each in numbers):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        return "The file is no proof of an item, or a part of it is missing."
    if note["origin"] != name:
        return f"The proof is of the log {ascii(note['origin'])}, and the key is of {name}."
    ours = [each[4:] for each in ours if each[:4] == key_id]
    if not ours:
        return "The checkpoint of the proof is not signed by this key."
    if not all(ONE.is_signed(key, note["text"].encode(), each) for each in ours):
        return "The signature of the checkpoint is wrong: the checkpoint was changed after it was signed."
    for at, (of, version) in enumerate(versions):
        if of != stream:
            return f"The proof is of {ascii(stream)}, and the file has an event of {ascii(of)}."
        if version != at + 1:
            return f"In the file, version {version} comes in place {at + 1}: others are missing, or the order was changed."
    size, indices = int(note["size"]), [index for index, _, _ in entries]
    hashed = ((index, ONE.sha256(salt, ONE.sha256(event))) for index, salt, event in entries)
    leaves = collections.deque((index, ONE.sha256(b"\0", entry)) for index, entry in hashed)
    is_rising = all(one < other for one, other in zip([-1, *indices], [*indices, size]))
    if not leaves or not is_rising or root_of(leaves, hashes, 0, size) != decode(note["root"]) or hashes:
        return "The log does not have these events in these places: one of them, or the proof, was changed."
    return stream, events, size


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        result = check(pathlib.Path(sys.argv[1]).read_bytes(), sys.argv[2])
    except OSError as error:
        sys.exit(f"{sys.argv[1]} cannot be read: {error.strerror}.")
    if isinstance(result, str):
        sys.exit(f"Not proven. {result}")
    stream, events, size = result
    print(f"Proven: {ascii(stream)}: versions 1 to {len(events)}, in the log as of entry {size}.")
    for event in events:
        print(json.dumps(event))
