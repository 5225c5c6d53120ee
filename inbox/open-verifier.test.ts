import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SenderInfo, Signature } from '#kernel/registry/sender-info.ts';
import { loadConfig } from '#process/load-config.ts';
import { openVerifier } from './open-verifier.ts';
import { bytesOf, isSigned } from './signatures/digest.ts';

const open = (signature: Signature, value?: string) =>
  openVerifier({ name: 'bank', signature } as SenderInfo, () => value);

const GITHUB = { scheme: 'github', secrets: 'BANK_SECRETS' } as const;
const STANDARD = { scheme: 'standard-webhooks', secrets: 'BANK_SECRETS' } as const;
const JWS = { scheme: 'jws', keys: 'BANK_KEYS' } as const;
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

test.for<[string, Signature, string | undefined, string]>([
  [
    'no setting',
    GITHUB,
    undefined,
    'BANK_SECRETS is not set, and the inbox cannot verify the messages of bank',
  ],
  ['only spaces', GITHUB, '  ', 'must have 1 to 10 secrets'],
  ['too many secrets', GITHUB, 'a'.repeat(20).concat(' ').repeat(11), 'must have 1 to 10 secrets'],
  ['a short secret', GITHUB, 'hunter2', 'a secret of less than 16 bytes'],
  ['a short secret of Standard Webhooks', STANDARD, 'whsec_AAAA', 'a secret of less than 16 bytes'],
  ['another form', STANDARD, 'not_base64!', 'whsec_ and base64, or whpk_'],
  ['a short public key', STANDARD, 'whpk_AAAA', 'whsec_ and base64, or whpk_'],
  ['no keys', JWS, '{"keys":[]}', 'must be the public keys of the sender bank'],
  ['no JSON', JWS, 'secret', 'must be the public keys'],
  ['a shared key', JWS, '{"keys":[{"kty":"oct","k":"AAAA"}]}', 'must be the public keys'],
  [
    'a private key',
    JWS,
    JSON.stringify({ keys: [privateKey.export({ format: 'jwk' })] }),
    'must be the public keys',
  ],
  ['keys over http', JWS, 'http://id.example/jwks', 'must be the public keys'],
])('%s: a start is refused in a sentence', async ([, signature, value, sentence]) => {
  await expect(open(signature, value)).rejects.toThrow(sentence);
});

test('the example in the documentation of GitHub is valid', async () => {
  const body = Buffer.from('Hello, World!');
  const signature = bytesOf('757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17', 'hex');
  const secrets = [Buffer.from("It's a Secret to Everybody")];
  const signatures = signature === undefined ? [] : [signature];
  expect(isSigned({ secrets, content: [body], signatures })).toBe(true);
  expect(isSigned({ secrets, content: [body, '!'], signatures })).toBe(false);
});

test('a message of Standard Webhooks may be signed by a private key', async () => {
  const pair = generateKeyPairSync('ed25519');
  const { x = '' } = pair.publicKey.export({ format: 'jwk' });
  const verify = await open(STANDARD, `whpk_${Buffer.from(x, 'base64url').toString('base64')}`);
  const body = Buffer.from('{"type":"paid"}');
  const time = '1700000000';
  const signature = sign(null, Buffer.from(`msg_1.${time}.${body}`), pair.privateKey).toString('base64');
  const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': time };
  const nowMs = 1_700_000_100_000;
  const sent = (text: string) => verify({ headers: { ...headers, 'webhook-signature': text }, body, nowMs });
  expect(await sent(`v1,AAAA v1a,${signature}`)).toEqual({
    id: 'msg_1',
    types: ['paid'],
    payload: { type: 'paid' },
  });
  await expect(async () => sent(`v1,${signature}`)).rejects.toThrow('does not match');
});

describe('a setting that a domain names', () => {
  test('is a variable, or a file', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'annals-inbox-')), 'secret');
    writeFileSync(path, 'from-a-file\n');
    const { ownSetting } = loadConfig({ NODE_ENV: 'test', ONE: 'given', OTHER_FILE: path, EMPTY: '' });
    expect(['ONE', 'OTHER', 'EMPTY', 'ABSENT'].map(ownSetting)).toEqual([
      'given',
      'from-a-file',
      undefined,
      undefined,
    ]);
  });

  test.each(['MASTER_KEY', 'DATABASE_URL', 'MASTER_KEY_FILE'])('cannot be %s, which is of Annals', (name) => {
    expect(() => loadConfig({ NODE_ENV: 'test' }).ownSetting(name)).toThrow(
      `${name} is a setting of Annals: let the domain name another one.`,
    );
  });

  test('whose file is missing is refused', () => {
    const { ownSetting } = loadConfig({ NODE_ENV: 'test', ONE_FILE: '/nowhere/secret' });
    expect(() => ownSetting('ONE')).toThrow('ONE_FILE names /nowhere/secret, which cannot be read (ENOENT).');
  });
});
