import { execFile, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { test as base, expect } from 'vitest';
import { startTestAuthority } from '../../test/engines/test-authority.ts';
import { checkTimeStamp } from './check-time-stamp.ts';
import { requestTimeStamp, tokenIn } from './time-stamp-request.ts';
import { parseToken } from './time-stamp-token.ts';

/** The authority and the other verifier are those of OpenSSL. */
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
if (!hasOpenssl) console.warn('Time stamps are not tested, because there is no openssl.');

const DATA = Buffer.from('annals/6f9619ff-8b86-4011-b42d-00c04fc964ff\n5\nroot\n');

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('folders', { scope: 'file' }, async ({}, { onCleanup }) => {
    const made: string[] = [];
    onCleanup(async () => {
      for (const folder of made) await rm(folder, { recursive: true, force: true });
    });
    return async () => {
      const folder = await mkdtemp(join(tmpdir(), 'annals-time-'));
      made.push(folder);
      return folder;
    };
  })
  .extend('authority', { scope: 'file' }, async ({ folders }, { onCleanup }) => {
    const authority = await startTestAuthority(await folders());
    onCleanup(() => authority[Symbol.asyncDispose]());
    return authority;
  })
  .extend('stamped', { scope: 'file' }, async ({ authority }) => {
    const { bytes, nonce } = requestTimeStamp(DATA);
    const token = tokenIn(await authority.stamp(bytes));
    if (typeof token === 'string') throw new Error(token);
    return { token, nonce, trusted: [new X509Certificate(authority.ca)] };
  });

test.skipIf(!hasOpenssl)(
  'a time stamp of OpenSSL is checked, and OpenSSL checks it too',
  async ({ authority, folders, stamped: { token, nonce, trusted } }) => {
    const checked = checkTimeStamp(token, DATA, trusted);
    expect(checked).toMatchObject({ by: 'CN=Test TSA', nonce });
    expect(typeof checked !== 'string' && Math.abs(checked.at.getTime() - Date.now())).toBeLessThan(60_000);
    const folder = await folders();
    const [data, path, ca] = ['checkpoint', 'event.tst', 'ca.pem'].map((file) => join(folder, file)) as [
      string,
      string,
      string,
    ];
    await writeFile(data, DATA);
    await writeFile(path, token);
    await writeFile(ca, authority.ca);
    const verify = ['ts', '-verify', '-data', data, '-in', path, '-token_in', '-CAfile', ca];
    const { stdout, stderr } = await promisify(execFile)('openssl', verify);
    expect(stdout + stderr).toContain('Verification: OK');
  },
);

test.skipIf(!hasOpenssl)('so is one of an authority with another kind of key', async ({ folders }) => {
  await using authority = await startTestAuthority(await folders(), { algorithm: 'ec' });
  const token = tokenIn(await authority.stamp(requestTimeStamp(DATA).bytes));
  expect(checkTimeStamp(token as Buffer, DATA, [new X509Certificate(authority.ca)])).toMatchObject({
    by: 'CN=Test TSA',
  });
});

test.skipIf(!hasOpenssl)('a time stamp over something else is refused', ({ stamped: { token, trusted } }) => {
  expect(checkTimeStamp(token, Buffer.from('other'), trusted)).toBe(
    'The time stamp is over another checkpoint.',
  );
});

test.skipIf(!hasOpenssl)('a time stamp of another authority is refused', async ({ folders, stamped }) => {
  await using other = await startTestAuthority(await folders());
  expect(checkTimeStamp(stamped.token, DATA, [new X509Certificate(other.ca)])).toBe(
    'The time stamp is of an authority whose certificate was not given.',
  );
});

test.skipIf(!hasOpenssl).for(['clientAuth', 'critical,timeStamping,clientAuth'])(
  'a certificate that is not for time stamps alone is refused: %s',
  async (usage, { authority, folders }) => {
    const folder = await folders();
    await using other = await startTestAuthority(folder, { usage });
    const at = (file: string) => join(folder, file);
    // The content of a right one of a time when both are valid, signed by one that may not.
    const right = tokenIn(await authority.stamp(requestTimeStamp(DATA).bytes));
    await writeFile(at('info'), parseToken(right as Buffer)?.content ?? '');
    await promisify(execFile)('openssl', [
      ...['cms', '-sign', '-cades', '-binary', '-nodetach', '-econtent_type', '1.2.840.113549.1.9.16.1.4'],
      ...[
        '-signer',
        at('tsa.pem'),
        '-inkey',
        at('tsa.key'),
        '-in',
        at('info'),
        '-outform',
        'DER',
        '-out',
        at('token'),
      ],
    ]);
    const token = await readFile(at('token'));
    expect(checkTimeStamp(token, DATA, [new X509Certificate(other.ca)])).toBe(
      'The certificate of the time stamp is not for time stamps, or not for that time.',
    );
  },
);

test.skipIf(!hasOpenssl).for([
  { authorities: ['A,pathlen:0'], isRight: true },
  { authorities: ['A,pathlen:0', 'B'], isRight: false },
  { authorities: ['A,pathlen:1', 'B'], isRight: true },
  { authorities: ['A', 'B,pathlen:0'], isRight: true },
  { authorities: ['A', 'B,pathlen:0', 'C'], isRight: false },
  { authorities: ['A,pathlen:1', 'B', 'C'], isRight: false },
  { authorities: ['A,pathlen:2', 'B,pathlen:1', 'C,pathlen:0'], isRight: true },
  // An authority may issue itself a certificate with a new key.
  { authorities: ['A,pathlen:0', 'A'], isRight: true },
])('authorities may be as deep as OpenSSL lets them: $authorities', async (given, { folders }) => {
  const folder = await folders();
  await using authority = await startTestAuthority(folder, { ...given, algorithm: 'ec' });
  const token = tokenIn(await authority.stamp(requestTimeStamp(DATA).bytes)) as Buffer;
  const checked = checkTimeStamp(token, DATA, [new X509Certificate(authority.ca)]);
  expect(typeof checked !== 'string', String(checked)).toBe(given.isRight);
  await writeFile(join(folder, 'data'), DATA);
  await writeFile(join(folder, 'token'), token);
  await writeFile(join(folder, 'between.pem'), authority.between);
  const verify = [
    ...['ts', '-verify', '-data', 'data', '-in', 'token', '-token_in', '-CAfile', 'ca.pem'],
    ...(authority.between === '' ? [] : ['-untrusted', 'between.pem']),
  ];
  const verified = promisify(execFile)('openssl', verify, { cwd: folder });
  await (given.isRight
    ? verified
    : expect(verified).rejects.toMatchObject({ stderr: expect.stringContaining('path length') }));
});

test.skipIf(!hasOpenssl)('no changed byte of a time stamp is believed', ({ stamped: { token, trusted } }) => {
  fc.assert(
    fc.property(fc.nat(token.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const changed = Buffer.from(token);
      changed.writeUInt8(changed.readUInt8(at) ^ change, at);
      const checked = checkTimeStamp(changed, DATA, trusted);
      if (typeof checked === 'string') return checked.endsWith('.');
      // Bytes that nobody signs say nothing that is believed: the time and the authority are the same.
      const right = checkTimeStamp(token, DATA, trusted);
      return (
        typeof right !== 'string' && checked.at.getTime() === right.at.getTime() && checked.by === right.by
      );
    }),
    { numRuns: 2_000 },
  );
});

test.skipIf(!hasOpenssl)('a cut time stamp is none', ({ stamped: { token } }) => {
  for (let length = 0; length < token.length; length += 7)
    expect(parseToken(token.subarray(0, length))).toBeUndefined();
});

test.each([
  ['nothing', Buffer.alloc(0), 'Its answer is no time stamp.'],
  ['a page', Buffer.from('<html>'), 'Its answer is no time stamp.'],
  ['a refusal', Buffer.from('3003020102', 'hex'), 'Its answer is no time stamp.'],
  ['a refusal in its form', Buffer.from('30053003020102', 'hex'), 'It refused to stamp (status 2).'],
])('%s is no token', (_, answer, reason) => {
  expect(tokenIn(answer)).toBe(reason);
});
