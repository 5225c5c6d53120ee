import { execFile } from 'node:child_process';
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import canonicalize from 'canonicalize';
import { test as base, expect } from 'vitest';
import { openAuthenticator } from './engines/authenticator.ts';

/** The script that verifies signatures without Annals, on files that somebody has forged. */
const VERIFIER = join(import.meta.dirname, '../docs/examples/verify-signature.js');
const SITE = 'https://annals.example';
const AT = '2026-11-30T12:00:00.000Z';

const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = keys.publicKey.export({ format: 'jwk' });
const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url');

const stated = {
  ...{ annals: 'signature', user: 7_001, meaning: 'approval', command: 'ReleaseBatch' },
  ...{ item: 'batch-17', version: 1, form: { batchId: 17, verdict: 'pass' }, nonce: 'n' },
  ...{ from: '2026-11-30T11:59:00.000Z', until: '2026-11-30T12:14:00.000Z' },
};

type Twist = { readonly origin?: string; readonly flags?: number; readonly key?: KeyObject };

const byPasskey = (statement: string, twist: Twist = {}) => {
  const { response } = JSON.parse(
    openAuthenticator(SITE).get({ challenge: hashOf(statement) }, { key: keys.privateKey, ...twist }),
  );
  const { authenticatorData, clientDataJSON, signature } = response;
  return { means: 'passkey', key: jwk, authenticatorData, clientDataJSON, signature };
};

const byPassword = (statement: string, claims: object = {}, typ = 'annals-signature') => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const iat = Date.parse(AT) / 1_000;
  const body = { iss: SITE, sub: '7001', statement: hashOf(statement), iat, ...claims };
  const signed = `${part({ alg: 'ES256', typ })}.${part(body)}`;
  const made = sign('sha256', Buffer.from(signed), { key: keys.privateKey, dsaEncoding: 'ieee-p1363' });
  return { means: 'password', key: jwk, token: `${signed}.${made.toString('base64url')}` };
};

type Given = {
  readonly statement?: string;
  readonly at?: string;
  readonly proof?: object;
  readonly metadata?: object;
  readonly event?: object;
};

const released = (given: Given = {}): string => {
  const statement = given.statement ?? canonicalize(stated) ?? '';
  const signature = { statement, at: given.at ?? AT, proof: given.proof ?? byPasskey(statement) };
  return JSON.stringify({
    ...{ stream: 'batch-17', version: 2, type: 'batch.released', data: { batchId: 17, verdict: 'pass' } },
    metadata: { at: AT, actor: 'user:7001', request: 'one', ...given.metadata, signature },
    ...given.event,
  });
};

const test = base.extend('verify', async ({ task }, { onCleanup }) => {
  const folder = await mkdtemp(join(tmpdir(), `annals-signature-${task.id}-`));
  onCleanup(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'events.jsonl');
  return async (...lines: readonly string[]) => {
    await writeFile(file, lines.join('\n'));
    return promisify(execFile)(process.execPath, [VERIFIER, file, SITE]).then(
      ({ stdout }) => ({ exit: 0, text: stdout }),
      ({ code, stdout, stderr }) => ({ exit: code as number, text: `${stdout}${stderr}` }),
    );
  };
});

const plain = canonicalize(stated) ?? '';
const restated = (more: object) => canonicalize({ ...stated, ...more }) ?? '';

test('a signature is shown with its command, person, meaning, time and key', async ({ verify }) => {
  for (const proof of [byPasskey(plain), byPassword(plain)]) {
    const { exit, text } = await verify(released({ proof }));
    expect([exit, text]).toEqual([
      0,
      expect.stringMatching(/ReleaseBatch .*signed by user 7001 as “approval” on 2026.*\(key [\w-]{43}\)/),
    ]);
  }
});

const APPROVED = restated({
  command: 'ApproveAgentRequest',
  item: 'agentRequest-5',
  form: {
    agentRequestId: 5,
    approves: { command: 'RecallBatch', of: '/batches/17', version: 1, form: { hmac: '00' } },
  },
});

test('the proof of an item suffices for a command that a person has approved', async ({ verify }) => {
  const approved = { statement: APPROVED, metadata: { actor: 'user:7002' } };
  expect(await verify(released(approved))).toMatchObject({ exit: 0 });
  for (const event of [{ stream: 'batch-18' }, { version: 3 }])
    expect(await verify(released({ ...approved, event }))).toMatchObject({
      exit: 1,
      text: expect.stringContaining('which the file does not have'),
    });
});

const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const doubled = plain.replace('"user":7001', '"user":7009,"user":7001');

test.for<readonly [what: string, line: string, fault: string]>([
  [
    'another key',
    released({ proof: { ...byPasskey(plain), key: other.publicKey.export({ format: 'jwk' }) } }),
    'is wrong',
  ],
  ['another signer', released({ proof: byPasskey(plain, { key: other.privateKey }) }), 'is wrong'],
  [
    'another site',
    released({ proof: byPasskey(plain, { origin: 'https://evil.example' }) }),
    'signed at https://evil',
  ],
  [
    'a device that verified nobody',
    released({ proof: byPasskey(plain, { flags: 1 }) }),
    'has not verified the person',
  ],
  [
    'the statement of another event',
    released({ proof: byPasskey(restated({ nonce: 'm' })) }),
    'another statement',
  ],
  ['a time outside', released({ at: '2026-11-30T12:30:00.000Z' }), 'out of its time'],
  ['no time', released({ at: 'never' }), 'out of its time'],
  ['a statement without times', released({ statement: restated({ until: undefined }) }), 'out of its time'],
  ['a later use', released({ metadata: { at: '2026-11-30T13:00:00.000Z' } }), 'out of its time'],
  [
    'another time than that of the token',
    released({ at: '2026-11-30T12:10:00.000Z', proof: byPassword(plain) }),
    'signed at another time',
  ],
  [
    'a token of another kind',
    released({ proof: byPassword(plain, {}, 'at+jwt') }),
    'the token is no signature',
  ],
  ['a token of another user', released({ proof: byPassword(plain, { sub: '7002' }) }), 'of user 7002'],
  [
    'a token of another site',
    released({ proof: byPassword(plain, { iss: 'https://evil.example' }) }),
    'signed at https://evil',
  ],
  ['a member that is there twice', released({ statement: doubled }), 'not canonical'],
  ['another challenge', released({ statement: restated({ annals: undefined }) }), 'not a statement'],
  ['another actor', released({ metadata: { actor: 'user:7002' } }), 'sent by user:7002'],
  [
    'another value',
    released({ event: { data: { batchId: 17, verdict: 'fail' } } }),
    'verdict is not what was signed',
  ],
  ['no proof', released({ proof: {} }), 'malformed'],
])('%s is found', async ([, line, fault], { verify }) => {
  expect(await verify(line)).toMatchObject({ exit: 1, text: expect.stringContaining(fault) });
});

test('a signature at two requests is found', async ({ verify }) => {
  const proof = byPasskey(plain);
  const again = released({ proof, metadata: { request: 'two' }, event: { version: 3 } });
  const { exit, text } = await verify(released({ proof }), again);
  expect([exit, text]).toEqual([1, expect.stringContaining('at events of another request')]);
});
