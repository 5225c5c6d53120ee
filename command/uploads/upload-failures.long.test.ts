import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { LogUnavailable } from '#shared/event-log/errors.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { test as base, chunk } from '../../test/engines/cover-api.ts';
import { picture } from '../../test/engines/pictures.ts';
import { ARTICLE, createWriteApi, make, type Written } from '../../test/engines/write-api.ts';
import { until } from '../../testing/until.ts';

/** Fails the next append. */
let outage: 'after the append' | undefined;
const faulty = (log: EventLog): EventLog => ({
  ...log,
  async append(...appended) {
    const answer = await log.append(...appended);
    if (outage !== undefined) throw new LogUnavailable('the answer did not come');
    return answer;
  },
});

const test = base.extend(
  'coverOptions',
  { scope: 'file' },
  // Cuts off slow clients soon.
  { wrap: faulty, limits: { headersTimeoutMs: 700, requestTimeoutMs: 1_500 } },
);

describe('a refused upload stores no byte', () => {
  test('whether the caller, the article or the version is the reason', async ({ api }) => {
    const content = picture('image/png', 2_000_000);
    const other = {
      ...api.author,
      id: (await make(api, '/users', { name: 'Other', role: 'author' }, api.admin)) as never,
    };
    // If a file were accepted nevertheless, writing it would fail.
    await rm(join(api.uploads, 'incoming'), { recursive: true });
    const refused = async (more: Written) => {
      const { status, body } = await api.put(content, 'image/png', more);
      return [status, body.code];
    };
    expect(await refused({ by: null })).toEqual([401, 'unauthenticated']);
    expect(await refused({ by: { ...api.author, scope: 'read:articles' } })).toEqual([
      403,
      'insufficient_scope',
    ]);
    expect(await refused({ by: api.reader })).toEqual([404, 'article_not_found']);
    expect(await refused({ by: other })).toEqual([404, 'article_not_found']);
    expect(await refused({ headers: { 'If-Match': '"7-x"' } })).toEqual([412, 'version_mismatch']);
    expect(await refused({ headers: { 'If-Match': 'x' } })).toEqual([400, 'malformed_request']);
    await api.send('POST', `${api.article}/publish`);
    expect(await refused({ by: other })).toEqual([403, 'forbidden']);
    await api.send('DELETE', api.article);
    expect(await refused({})).toEqual([404, 'article_deleted']);
    api.article = '/articles/0x1';
    expect(await refused({})).toEqual([404, 'article_not_found']);
  });

  test('and is removed if the article refuses it meanwhile', async ({ api }) => {
    const socket = await api.begin({
      'Content-Length': '100000',
      'If-Match': '"1-x"',
      Connection: 'close',
    });
    const content = picture('image/png', 100_000);
    socket.write(content.subarray(0, 50_000));
    await until(api.stored, (files) => files.length === 1);
    await api.send('PATCH', api.article, { body: { title: 'Two' } });
    socket.write(content.subarray(50_000));
    expect(await text(socket)).toMatch(/^HTTP\/1.1 412 /);
    await api.nothingHappened();
  });
});

describe('an aborted upload leaves nothing', () => {
  test.for(['Content-Length', 'Transfer-Encoding'])(
    'a client that goes away in the middle (%s)',
    async (header, { api }) => {
      const isChunked = header === 'Transfer-Encoding';
      const socket = await api.begin({ [header]: isChunked ? 'chunked' : '1000000' });
      const part = picture('image/png', 300_000);
      socket.write(isChunked ? chunk(part) : part);
      await until(api.stored, (files) => files.length === 1);
      socket.destroy();
      await api.nothingHappened();
    },
  );

  test('a client that disconnects before the header is complete', async ({ api }) => {
    const socket = await api.begin({ 'Content-Length': '1000000' });
    socket.end(picture('image/png').subarray(0, 20));
    expect(await text(socket)).toMatch(/^HTTP\/1.1 400 |^$/);
    await api.nothingHappened();
  });

  test('a client that is too slow, even if it keeps the connection open', async ({ api }) => {
    const socket = await api.begin({ 'Content-Length': '1000000' });
    socket.write(picture('image/png', 300_000));
    await until(api.stored, (files) => files.length === 1);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 408 /);
    await api.nothingHappened();
    socket.destroy();
  });

  test('a disk failure, after which a retry succeeds', async ({ api }) => {
    await rm(api.uploads, { recursive: true });
    await writeFile(api.uploads, 'no folder');
    const { status, headers, body } = await api.put(picture('image/png', 3_000_000), 'image/png');
    expect({ status, code: body.code, after: headers.get('retry-after') }).toEqual({
      status: 503,
      code: 'unavailable',
      after: '1',
    });
    await rm(api.uploads);
    await mkdir(join(api.uploads, 'incoming'), { recursive: true });
    await api.nothingHappened();
    expect(await api.put(picture('image/png'), 'image/png')).toMatchObject({ status: 200 });
  });
});

test('a cover is kept if it is uncertain whether the article names it', async ({ api }) => {
  outage = 'after the append';
  const answer = await api.put(picture('image/png'), 'image/png').finally(() => {
    outage = undefined;
  });
  expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  expect((await api.stored()).map((name) => `/uploads/${name}`)).toEqual([await api.coverOf()]);
});

test('with REQUIRE_IF_MATCH, a missing version is reported before a byte is stored', async () => {
  await using strict = await createWriteApi({ requireIfMatch: true });
  const path = `/articles/${await make(strict, '/articles', ARTICLE)}/cover`;
  await rm(strict.uploads, { recursive: true });
  const sent = { body: picture('image/png'), headers: { 'Content-Type': 'image/png' } };
  expect(await strict.send('PUT', path, sent)).toMatchObject({
    status: 428,
    body: { code: 'precondition_required' },
  });
  expect(await strict.send('DELETE', path)).toMatchObject({ status: 428 });
  await mkdir(join(strict.uploads, 'incoming'), { recursive: true });
  const matching = { ...sent, headers: { ...sent.headers, 'If-Match': '"1-x"' } };
  expect(await strict.send('PUT', path, matching)).toMatchObject({ status: 200, body: { version: 2 } });
  expect(await strict.send('DELETE', path, { headers: { 'If-Match': '"1-x"' } })).toMatchObject({
    status: 412,
  });
  expect(await strict.send('DELETE', path, { headers: { 'If-Match': '"2-x"' } })).toMatchObject({
    status: 204,
  });
});
