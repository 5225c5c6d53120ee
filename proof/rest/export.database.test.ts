import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { formatCursor } from '#kernel/base/cursor.ts';
import { type Asker, type Backend, test } from '../../test/engines/backend.ts';
import { type ChainState, extendBy } from '../chain/chain-at.ts';
import { fromLine } from '../export/cloud-event.ts';
import { type SignedManifest, signedText } from '../export/manifest.ts';
import { isSignedBy } from '../stored/signing-keys.ts';

test.beforeAll(async ({ author, backend }) => {
  for (let articles = 0; articles < 30; articles += 1)
    await backend.ask('/articles', {
      by: author,
      method: 'POST',
      body: { title: 'On engines', body: '\u2028', tags: [], publish: true },
    });
});
const exported = async (admin: Asker, backend: Backend, query = '', by: Asker | null = admin) => {
  const { status, headers, body } = await backend.ask(`/audit/export${query}`, {
    by,
    headers: { accept: 'application/x-ndjson' },
  });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(headers.get('content-type')).toMatch(/^application\/x-ndjson/);
  const lines = String(body).split('\n');
  expect(lines.pop()).toBe('');
  const last = JSON.parse(lines.pop() ?? '');
  expect(last).toMatchObject({
    specversion: '1.0',
    type: 'log.exported',
    source: `urn:uuid:${backend.side.eventLog.identity}`,
  });
  return { lines, manifest: last.data as SignedManifest };
};

test('the whole log is exported as lines, and the last line is signed', async ({ admin, backend }) => {
  const { lines, manifest } = await exported(admin, backend);
  expect(lines).toHaveLength(await backend.side.eventLog.head());
  expect(lines.join()).not.toContain('Ada Lovelace');
  let state: ChainState = { count: 0, head: Buffer.from(manifest.chain.before.head, 'hex') };
  for (const line of lines) state = extendBy(state, fromLine(backend.side.eventLog.identity, line));
  expect(manifest).toMatchObject({
    count: lines.length,
    chain: { after: { count: state.count, head: state.head.toString('hex') } },
  });
  const text = lines.map((line) => `${line}\n`).join('');
  expect(manifest.files).toEqual([
    {
      name: 'export.jsonl',
      events: lines.length,
      bytes: Buffer.byteLength(text),
      sha256: createHash('sha256').update(text).digest('hex'),
    },
  ]);
  const key = manifest.keys.find(({ id }) => id === manifest.key);
  expect(key && isSignedBy(key.publicKey, signedText(manifest), manifest.signature)).toBe(true);
});

test('an interrupted export resumes after the last event received', async ({ admin, backend }) => {
  const whole = await exported(admin, backend);
  const after = formatCursor(backend.side.eventLog.identity, 17 as never);
  const rest = await exported(admin, backend, `?after=${after}`);
  expect(rest.lines).toEqual(whole.lines.slice(17));
  expect(rest.manifest.chain.before.count).toBe(17);
  expect(rest.manifest.chain.after).toEqual(whole.manifest.chain.after);
  const none = await exported(
    admin,
    backend,
    `?after=${formatCursor(backend.side.eventLog.identity, whole.lines.length as never)}`,
  );
  expect(none).toMatchObject({ lines: [], manifest: { count: 0 } });
  expect((await exported(admin, backend, '?until=2026-01-01T00:00:00Z')).lines).toEqual([]);
  expect((await exported(admin, backend, '?since=2026-01-01T00:00:00Z')).lines).toEqual(whole.lines);
});

test('only administrators may export, and only in this format', async ({ admin, author, backend }) => {
  const asked = async (by: Asker | null, query = '', accept = '*/*') =>
    backend.ask(`/audit/export${query}`, { by, headers: { accept } });
  expect(await asked(null)).toMatchObject({ status: 401 });
  expect(await asked(author)).toMatchObject({ status: 403 });
  expect(await asked({ ...admin, scopes: ['read:articles'] })).toMatchObject({
    status: 403,
    body: { code: 'insufficient_scope' },
  });
  expect(await asked(admin, '', 'text/html')).toMatchObject({ status: 406 });
  expect(await asked(admin, '?after=rubbish')).toMatchObject({
    status: 400,
    body: { code: 'unknown_cursor' },
  });
  expect(await asked(admin, '?colour=red')).toMatchObject({
    status: 400,
    body: { code: 'invalid_parameter' },
  });
  const head = await backend.ask('/audit/export', { by: admin, method: 'HEAD', headers: { accept: '*/*' } });
  expect([head.status, head.headers.get('cache-control')]).toEqual([200, 'no-store']);
});

test('if the chain disagrees, nothing is signed and the answer breaks off', async ({ admin, backend }) => {
  const { pool } = backend.side;
  await pool.query(
    `insert into audit.block (count, events, first_position, last_position, hashes, head)
     values (1, 1, 1, 1, decode(repeat('00', 32), 'hex'), decode(repeat('11', 32), 'hex'))`,
  );
  const after = formatCursor(backend.side.eventLog.identity, 0 as never);
  const until = (await backend.ask('/events?limit=1', { by: admin })).body as readonly {
    readonly at: string;
  }[];
  await expect(exported(admin, backend, `?after=${after}&until=${until[0]?.at}`)).rejects.toThrow();
});
