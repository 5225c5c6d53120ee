import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { aWitnessedLog } from '../../test/witnessed-log.ts';
import { byPolicy } from './check-cosignatures.ts';
import { cosign, type WitnessKey } from './cosignature.ts';
import { type Note, parseNote } from './note.ts';
import { parsePolicy, policyLineOf } from './policy.ts';

const noteOf = (text: string): Note => {
  const note = parseNote(text);
  if (note === undefined) throw new Error('this is no note');
  return note;
};

test('a policy that demands nobody claims no time', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const key: WitnessKey = {
    ...{ name: 'w1.example', algorithm: 'Ed25519' },
    publicKey: Buffer.from(x, 'base64url'),
  };
  const log = aWitnessedLog();
  const head = log.noteAt(5);
  const line = cosign(noteOf(head).text, { key, privateKey, atS: 1_800_000_000 });
  const note = noteOf(`${head}${line}`);
  const witness = policyLineOf({ name: 'w1', key, url: undefined });
  const byOf = (quorum: string) =>
    byPolicy(parsePolicy(`${witness}\nquorum ${quorum}\n`))(note, log.signer.key);
  const cosigned = [{ name: 'w1', key: key.name, algorithm: 'Ed25519', at: '2027-01-15T08:00:00.000Z' }];
  expect(byOf('w1')).toEqual({ cosigned, by: '2027-01-15T08:00:00.000Z' });
  expect(byOf('none')).toEqual({ cosigned, by: null });
});
