import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { createMetrics } from '#process/observability/metrics.ts';
import { AUDIT_OPERATIONS } from '#shared/rest/audit.ts';
import { test as base } from '../../test/engines/backend.ts';
import { callAt } from '../../test/engines/call-line.ts';
import { startTestAuthority } from '../../test/engines/test-authority.ts';
import { until } from '../../testing/until.ts';
import { originOf } from '../tree/tree-head.ts';
import { requestTimeStamp } from './time-stamp-request.ts';
import { readNewestStamp } from './time-stamp-rows.ts';
import { TimeStamps } from './time-stamps.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
if (!hasOpenssl) console.warn('Time stamps are not tested, because there is no openssl.');

const EventProof = AUDIT_OPERATIONS.getEventProof.answer.schema;

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a destructuring pattern.
  .extend('folder', { scope: 'file' }, async ({}, { onCleanup }) => {
    const folder = await mkdtemp(join(tmpdir(), 'annals-stamps-'));
    onCleanup(() => rm(folder, { recursive: true, force: true }));
    return folder;
  })
  .extend('authority', { scope: 'file' }, async ({ folder }, { onCleanup }) => {
    const authority = await startTestAuthority(folder);
    onCleanup(() => authority[Symbol.asyncDispose]());
    return authority;
  })
  .extend('stamp', { scope: 'file' }, ({ authority, backend }) => async (everyMs: number) => {
    await using opening = new AsyncDisposableStack();
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line).problem) });
    const given = { ...backend.side, log, metrics: createMetrics(), url: authority.url, everyMs };
    const stamps = opening.use(await TimeStamps.open(given));
    opening.use(await backend.startChain((note) => stamps.offer(note, false)));
    const resources = opening.move();
    return { lines, [Symbol.asyncDispose]: () => resources.disposeAsync() };
  })
  .extend(
    'newest',
    { scope: 'file' },
    ({ backend }) =>
      () =>
        readNewestStamp(backend.side.pool, originOf(backend.side.eventLog.identity)),
  )
  .extend('draft', { scope: 'file' }, ({ admin, author, backend, write }) => async (title: string) => {
    const article = await write(author, 'POST', '/articles', { title, body: '', tags: [] });
    const { body } = await backend.ask(`/events?subject=article-${article}&limit=1`, { by: admin });
    return (body as readonly [{ readonly id: string }])[0].id;
  });

test.skipIf(!hasOpenssl)(
  'an event is proven with the first time stamp over it, which OpenSSL checks',
  async ({ admin, authority, backend, draft, folder, newest, stamp }) => {
    const first = await draft('The first');
    await using _stamping = await stamp(100);
    const { size = 0 } = (await until(newest, (found) => found !== undefined)) ?? {};
    const later = await draft('The second');
    await until(newest, (found) => (found?.size ?? 0) > size);
    const ask = async (id: string) =>
      (await backend.ask(`/events/${id}/proof?with=timestamp`, { by: admin })).body;
    const found = EventProof.parse(
      await until(
        () => ask(first),
        (body) => EventProof.safeParse(body).success,
      ),
    );
    expect(found.size).toBeLessThanOrEqual(size);
    expect(EventProof.parse(await ask(later)).size).toBeGreaterThan(size);

    const at = (file: string) => join(folder, file);
    await writeFile(at('event.tlog-proof'), found.proof);
    await writeFile(at('event.tst'), Buffer.from(found.timestamp ?? '', 'base64'));
    await writeFile(at('checkpoint'), found.proof.slice(found.proof.indexOf('\n\n') + 2));
    const args = ['-data', at('checkpoint'), '-in', at('event.tst'), '-token_in', '-CAfile', at('ca.pem')];
    const { stdout, stderr } = await promisify(execFile)('openssl', ['ts', '-verify', ...args]);
    expect(stdout + stderr).toContain('Verification: OK');

    const check = (file: string, ...more: readonly string[]) =>
      callAt({ domain: publishing, environment: {} }, [
        ...['audit', 'check', at(file), '--key', found.vkey],
        ...more,
      ]);
    const { exit, lines, complaint } = await check('event.tlog-proof', '--tsa-cert', at('ca.pem'));
    expect(exit, complaint).toBe(0);
    expect(lines.at(-1)).toMatch(
      /^Stamped at 2\d{3}-.*Z by CN=Test TSA: the log had this event at the latest/,
    );
    const plain = EventProof.parse((await backend.ask(`/events/${first}/proof`, { by: admin })).body);
    await writeFile(at('plain.tlog-proof'), plain.proof);
    const refused = await check('plain.tlog-proof', '--tsa-cert', at('ca.pem'));
    expect([refused.exit, refused.complaint]).toEqual([
      1,
      expect.stringContaining('The proof has no time stamp'),
    ]);
    expect(authority.asked()).toBeGreaterThan(1);
    expect((await readFile(at('ca.pem'), 'utf8')).trim()).toBe(authority.ca.trim());
  },
);

test.skipIf(!hasOpenssl).for([
  ['is down', { status: 503 }, 'It answered 503.'],
  ['answers with a page', { body: Buffer.from('<html>') }, 'Its answer is no time stamp.'],
  ['answers without an end', { body: Buffer.alloc(100_000) }, 'It answered with more than 65536 bytes.'],
] as const)(
  'an authority that %s holds nothing, and is asked again later',
  async ([, lie, problem], { admin, authority, backend, draft, newest, stamp }) => {
    const before = (await newest())?.size ?? 0;
    authority.lie = async () => lie;
    await using stamping = await stamp(1);
    const id = await draft('Not stamped');
    await until(
      async () => stamping.lines,
      (lines) => lines.length > 0,
    );
    expect(stamping.lines).toEqual([problem]);
    expect((await newest())?.size ?? 0).toBe(before);
    const plain = async () => (await backend.ask(`/events/${id}/proof`, { by: admin })).status;
    await until(plain, (status) => status === 200);
    expect(await backend.ask(`/events/${id}/proof?with=timestamp`, { by: admin })).toMatchObject({
      status: 503,
    });
    authority.lie = undefined;
  },
);

test.skipIf(!hasOpenssl)(
  'a time stamp for another request is not kept',
  async ({ authority, draft, newest, stamp }) => {
    const before = (await newest())?.size ?? 0;
    authority.lie = async () => ({
      body: await authority.stamp(requestTimeStamp(Buffer.from('other')).bytes),
    });
    await using stamping = await stamp(1);
    await draft('Not stamped either');
    await until(
      async () => stamping.lines,
      (lines) => lines.length > 0,
    );
    expect(stamping.lines).toEqual(['The time stamp is over another checkpoint.']);
    expect((await newest())?.size ?? 0).toBe(before);
    authority.lie = undefined;
  },
);
