import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aKey, aLog, EVENTS, LOG, OTHER_LOG } from '../../test/proven-log.ts';
import { type NoteKey, parseVerifierKey, verifierKeyOf } from './note.ts';
import { checkProof } from './proof-file.ts';
import { originOf } from './tree-head.ts';

const reasonOf = (text: string, key: NoteKey): string => {
  const checked = checkProof(text, [key]);
  return checked.isProven ? 'proven' : checked.reason;
};

const signer = aKey();
const { key } = signer;
const log = aLog();

test('a proof shows the event, its place, and the log that has it', async () => {
  for (const [index, event] of EVENTS.entries()) {
    const checked = checkProof(await log.prove(index, signer), [key]);
    expect(checked).toMatchObject({
      isProven: true,
      event,
      index,
      checkpoint: { origin: originOf(LOG), size: EVENTS.length },
    });
  }
});

test('a key is enough without its name', async () => {
  const { publicKey } = key;
  expect(checkProof(await log.prove(3, signer), [{ publicKey }]).isProven).toBe(true);
});

test('a key goes through its text', () => {
  expect(parseVerifierKey(verifierKeyOf(key))).toEqual(key);
});

test.each([
  ['of another key', aKey().key, 'The checkpoint of the proof is signed by none of the given keys.'],
  [
    'of another log',
    aKey(OTHER_LOG).key,
    `The proof is of the log ${originOf(LOG)}, and the given keys are of ${originOf(OTHER_LOG)}.`,
  ],
])('a proof is refused by the owner %s', async (_, other, reason) => {
  expect(reasonOf(await log.prove(3, signer), other)).toBe(reason);
});

test('the proof of one event does not prove another one', async () => {
  const [one = '', other = ''] = await Promise.all([log.prove(3, signer), log.prove(4, signer)]);
  const [, extra = ''] = one.split('\n');
  const mixed = other.replace(/^extra .*$/m, extra);
  expect(reasonOf(mixed, key)).toBe(
    'The log does not have this event in place 5: the event, or its proof, was changed.',
  );
});

test('a changed event is not proven, in whatever way it was changed', async () => {
  const proof = await log.prove(5, signer);
  const changed = (change: (read: { event: string; salt: string }) => object): string =>
    proof.replace(/^extra (.*)$/m, (_line, encoded: string) => {
      const read = JSON.parse(Buffer.from(encoded, 'base64').toString());
      return `extra ${Buffer.from(JSON.stringify(change(read))).toString('base64')}`;
    });
  const reason = 'The log does not have this event in place 6: the event, or its proof, was changed.';
  expect(
    reasonOf(
      changed((read) => ({ ...read, event: read.event.replace('user:7', 'user:8') })),
      key,
    ),
  ).toBe(reason);
  expect(
    reasonOf(
      changed((read) => ({ ...read, event: `${read.event} ` })),
      key,
    ),
  ).toBe(reason);
  expect(
    reasonOf(
      changed((read) => ({ ...read, salt: randomBytes(32).toString('base64') })),
      key,
    ),
  ).toBe(reason);
  expect(
    reasonOf(
      changed((read) => ({ ...read, event: '1' })),
      key,
    ),
  ).toBe('The file has no event of Annals.');
});

test('a changed checkpoint is not proven', async () => {
  const proof = await log.prove(5, signer);
  expect(reasonOf(proof.replace('\n11\n', '\n12\n'), key)).toBe(
    'The signature of the checkpoint is wrong: the checkpoint was changed after it was signed.',
  );
});

test('a proof of which any part is missing is no proof', async () => {
  const proof = await log.prove(5, signer);
  fc.assert(
    fc.property(fc.nat(proof.length - 1), (length) => {
      expect(checkProof(proof.slice(0, length), [key]).isProven).toBe(false);
    }),
    { numRuns: 300 },
  );
});

test('no changed character goes unnoticed', async () => {
  const proof = await log.prove(5, signer);
  fc.assert(
    fc.property(fc.nat(proof.length - 1), fc.constantFrom(...'aZ09+/=\n x'), (at, by) => {
      const changed = proof.slice(0, at) + by + proof.slice(at + 1);
      const checked = checkProof(changed, [key]);
      // The last digit of base64 has bits that mean nothing.
      if (checked.isProven) expect(checked.event).toEqual(EVENTS[5]);
      else expect(checked.reason).toMatch(/\.$/);
    }),
    { numRuns: 500 },
  );
});
