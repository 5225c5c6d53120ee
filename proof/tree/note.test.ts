import { generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import type { LogIdentity } from '#kernel/base/brands.ts';
import { leafHash } from './hashes.ts';
import {
  isNoteSignedBy,
  type NoteKey,
  parseNote,
  parseVerifierKey,
  verifierKeyOf,
  writeNote,
} from './note.ts';
import { originOf, parseTreeHead, writeTreeHead } from './tree-head.ts';

/** From the documentation of golang.org/x/mod/sumdb/note, whose format C2SP has specified. */
const PETER = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const NEUMANN = `If you think cryptography is the answer to your problem,
then you don't know what your problem is.

— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
`;

const keyOf = (text: string): NoteKey => {
  const key = parseVerifierKey(text);
  if (key === undefined) throw new Error(`${text} is no key`);
  return key;
};

test('a note of others is verified, and no changed one', () => {
  const note = parseNote(NEUMANN);
  expect(note?.signatures).toHaveLength(1);
  expect(note && isNoteSignedBy(note, keyOf(PETER))).toBe(true);
  const changed = parseNote(NEUMANN.replace('answer', 'reason'));
  expect(changed && isNoteSignedBy(changed, keyOf(PETER))).toBe(false);
  expect(verifierKeyOf(keyOf(PETER))).toBe(PETER);
});

test.each([
  ['with the id of another key', PETER.replace('c74f20a3', 'c74f20a4')],
  ['of another kind', PETER.replace('+ARpc', '+BBpc')],
  ['that is cut', PETER.slice(0, -4)],
  ['without a name', PETER.slice('PeterNeumann'.length)],
])('a key %s is none', (_, text) => {
  expect(parseVerifierKey(text)).toBeUndefined();
});

const LOG = '6f9619ff-8b86-4011-b42d-00c04fc964ff' as LogIdentity;

test('a checkpoint of ours is a note', () => {
  const pair = generateKeyPairSync('ed25519');
  const publicKey = Buffer.from(pair.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const key = { name: originOf(LOG), publicKey };
  const head = { origin: originOf(LOG), size: 1_440, root: leafHash(Buffer.of(1)) };
  const text = writeTreeHead(head);
  const note = writeNote(text, key, sign(null, Buffer.from(text), pair.privateKey));
  const read = parseNote(note);
  expect(read && isNoteSignedBy(read, keyOf(verifierKeyOf(key)))).toBe(true);
  expect(read && isNoteSignedBy(read, keyOf(PETER))).toBe(false);
  expect(parseTreeHead(read?.text ?? '')).toEqual(head);
});

test.each([
  ['nothing', ''],
  ['no signature', 'a\n1\n'],
  ['an unsigned checkpoint', 'a\n1\nrrrr\n\n'],
  ['a torn signature', NEUMANN.slice(0, -2)],
])('%s is no note', (_, text) => {
  expect(parseNote(text)).toBeUndefined();
});

test.each([
  ['a leading zero', 'a\n01\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n'],
  ['a short root', 'a\n1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuA==\n'],
  ['no origin', '\n1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n'],
  ['an empty line', 'a\n1\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\nb\n'],
])('a text with %s is no checkpoint', (_, text) => {
  expect(parseTreeHead(text)).toBeUndefined();
});
