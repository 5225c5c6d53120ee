import { generateKeyPairSync, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { type AuditKey, auditKey, endorsementText, thumbprint } from '../stored/signing-keys.ts';
import { Findings } from './findings.ts';
import { trustedKeys } from './trusted-keys.ts';

type Pair = { readonly key: AuditKey; readonly endorse: (text: string) => string };

const makeKey = (before?: Pair): Pair => {
  const pair = generateKeyPairSync('ed25519');
  const publicKey = auditKey.shape.publicKey.parse(pair.publicKey.export({ format: 'jwk' }));
  const key = {
    id: thumbprint(publicKey),
    publicKey,
    madeAt: '2026-01-02T03:04:05.678Z',
    endorsedBy: before?.key.id ?? null,
  };
  return {
    key: { ...key, endorsement: before?.endorse(endorsementText(key)) ?? null },
    endorse: (text) => sign(null, Buffer.from(text), pair.privateKey).toString('base64url'),
  };
};

const first = makeKey();
const second = makeKey(first);
const third = makeKey(second);
const all = [first.key, second.key, third.key];

const trust = (places: Partial<Parameters<typeof trustedKeys>[0]>) => {
  const findings = new Findings();
  const keys = trustedKeys({ given: [], file: [], database: [], ...places }, findings);
  return { ids: [...keys.keys()], findings: findings.listed };
};
const ids = (...keys: readonly AuditKey[]) => keys.map(({ id }) => id);

test('each key is followed by the one that it endorsed, wherever that is kept', () => {
  expect(trust({ file: [first.key], database: all })).toEqual({ ids: ids(...all), findings: [] });
});

test('a key endorses only one successor', () => {
  const other = makeKey(first);
  const places = { file: [first.key, second.key, other.key], database: all };
  expect(trust(places)).toEqual({
    ids: ids(...all),
    findings: [{ kind: 'key_not_endorsed', key: other.key.id, source: 'file' }],
  });
});

test('an auditor may start in the middle: an earlier key is known by its endorsement', () => {
  expect(trust({ given: [third.key], file: all, database: all })).toEqual({ ids: ids(...all), findings: [] });
  const forged = makeKey();
  expect(trust({ given: [second.key], file: [forged.key, second.key] })).toEqual({
    ids: ids(second.key),
    findings: [{ kind: 'key_not_endorsed', key: forged.key.id, source: 'file' }],
  });
});
