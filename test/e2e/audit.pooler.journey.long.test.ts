import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { test as base } from '../engines/installation-fixture.ts';

/** The public status of the proof. */

type Status = {
  readonly chain: { readonly count: number };
  readonly signed: { readonly count: number; readonly head: string } | null;
  readonly unproven: { readonly events: number };
  readonly verified: { readonly differences: number; readonly finished: string | null } | null;
};
type Head = {
  readonly count: number;
  readonly head: string;
  readonly key: string;
  readonly statement: string;
  readonly signature: string;
};

const test = base
  .extend('installationOptions', { scope: 'file' }, () => ({
    settings: { AUDIT_HEAD_EVERY_MS: '200', AUDIT_WATCH_EVENTS_PER_SECOND: '100000' },
  }))
  .extend('status', { scope: 'file' }, ({ ada, ask }) => async () => {
    return (await ask('GET', '/audit/status', { token: ada.token })).body as Status;
  })
  .extend('heads', { scope: 'file' }, ({ ask, people }) => async (after = 0) => {
    const { token } = people.administrator;
    const { body } = await ask('GET', `/audit/heads?limit=100&after=${after}`, { token });
    return body as readonly Head[];
  });

test('written events are chained, signed, published outside the database, and verified', async ({
  ada,
  ask,
  heads,
  installation,
  status,
}) => {
  const before = (await status()).chain.count;
  for (let n = 0; n < 3; n += 1)
    await ask('POST', '/articles', { token: ada.token, body: { title: `No. ${n}`, body: '', tags: [] } });
  const proven = await until(
    status,
    ({ chain, signed }) => chain.count >= before + 3 && signed?.count === chain.count,
    30_000,
  );
  expect(proven.unproven.events).toBe(0);
  const published = await heads(before);
  expect(published.at(-1)).toMatchObject({ count: proven.signed?.count, head: proven.signed?.head });
  const folder = join(installation.settings.DATA_DIR ?? '', 'audit');
  const lines = (await readFile(join(folder, 'heads.jsonl'), 'utf8')).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).statement)).toContain(published.at(-1)?.statement);
  expect(
    (await until(status, ({ verified }) => verified?.finished != null, 90_000)).verified?.differences,
  ).toBe(0);
});

test('GraphQL shows its numbers', async ({ ada, ask }) => {
  const query = '{ auditStatus { chained signed unproven differences verifiedAt } }';
  const { body } = await ask('POST', '/graphql', { token: ada.token, body: { query } });
  expect(body).toMatchObject({ data: { auditStatus: { chained: expect.any(Number), differences: 0 } } });
});

test('the content of heads is for auditors: it reveals the number of rows, including drafts', async ({
  ada,
  ask,
}) => {
  expect((await ask('GET', '/audit/heads')).status).toBe(401);
  expect((await ask('GET', '/audit/heads', { token: ada.token })).status).toBe(403);
});

test('the public heads and keys are enough to verify the signatures', async ({ ask, heads }) => {
  const { body } = await ask('GET', '/audit/keys');
  const { keys } = body as { readonly keys: readonly { readonly kid: string; readonly x: string }[] };
  const [first] = await heads();
  const x = keys.find(({ kid }) => kid === first?.key)?.x ?? '';
  const key = await crypto.subtle.importKey('jwk', { kty: 'OKP', crv: 'Ed25519', x }, 'Ed25519', false, [
    'verify',
  ]);
  const signed = new TextEncoder().encode(first?.statement);
  expect(
    await crypto.subtle.verify('Ed25519', key, Buffer.from(first?.signature ?? '', 'base64url'), signed),
  ).toBe(true);
});
