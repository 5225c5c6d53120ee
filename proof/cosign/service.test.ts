import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { policyLineOf } from '../tree/policy.ts';
import { startWitnesses } from './service.ts';

const lineOf = (at: number): string => {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const key = {
    name: `w${at}.example`,
    algorithm: 'Ed25519' as const,
    publicKey: Buffer.from(x, 'base64url'),
  };
  return policyLineOf({ name: `w${at}`, key, url: `https://w${at}.example` });
};

test('the start is refused if a checkpoint has no room for the cosignatures of all witnesses', async () => {
  const lines = Array.from({ length: 100 }, (_, at) => lineOf(at));
  const setting = [...lines, 'quorum w1', ''].join('\n');
  const nothing = undefined as never;
  const given = { pool: nothing, masterKey: nothing, eventLog: nothing, log: nothing, clock: nothing };
  await expect(startWitnesses({ ...given, metrics: nothing, setting })).rejects.toThrow(
    'AUDIT_WITNESSES has 100 keys of witnesses: a checkpoint has room for 99.',
  );
});
