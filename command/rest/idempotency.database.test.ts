import { expect } from 'vitest';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { ARTICLE, test as base, make } from '../../test/engines/write-api.ts';
import { until } from '../../testing/until.ts';

/** A log that delays appends to articles while the gate is held. */
const gate = { held: undefined as Promise<void> | undefined, waiting: 0 };
const slow = (log: EventLog): EventLog => ({
  ...log,
  async append(stream, expected, events) {
    if (gate.held && stream.startsWith('article-')) {
      gate.waiting += 1;
      await gate.held;
    }
    return log.append(stream, expected, events);
  },
});

const test = base.extend('writeOptions', { scope: 'file' }, { wrap: slow }).extend(
  'anArticle',
  { scope: 'file' },
  ({ api }) =>
    async () =>
      `/articles/${await make(api, '/articles', ARTICLE)}`,
);

const keyed = (key: string) => ({ 'Idempotency-Key': key });

/** Of creations without a parent, `describeDomain` checks the same. */
test.for<[string, string, object?]>([
  ['POST', '/unpublish'],
  ['POST', '/comments', { text: 'Well said.' }],
  ['PUT', '', { ...ARTICLE, title: 'Put', cover: null }],
  ['PATCH', '', { title: 'Patched' }],
  ['DELETE', ''],
])(
  '%s of an article%s runs once per key, and a retry gets the first response',
  async ([method, end, body], { api, send }) => {
    const path = `/articles/${await make(api, '/articles', { ...ARTICLE, publish: true })}${end}`;
    const sent = { body, headers: keyed(`once-${method}${end}`) };
    const first = await send(method, path, sent);
    expect(first.status).toBeLessThan(300);
    const head = await api.side.eventLog.head();
    const again = await send(method, path, sent);
    expect(again).toMatchObject({ status: first.status, body: first.body });
    for (const header of ['etag', 'consistency-token', 'content-type'])
      expect(again.headers.get(header)).toBe(first.headers.get(header));
    expect(await api.side.eventLog.head()).toBe(head);
  },
);

test('a retried creation has the same location', async ({ send }) => {
  const sent = { body: ARTICLE, headers: keyed('created-once') };
  const [first, again] = [await send('POST', '/articles', sent), await send('POST', '/articles', sent)];
  expect(again).toMatchObject({ status: 201, body: first.body });
  expect(again.headers.get('location')).toBe(first.headers.get('location'));
});

test('a retried change does not overwrite a later one', async ({ anArticle, api, send }) => {
  const path = await anArticle();
  const lost = { body: { title: 'Mine' }, headers: { ...keyed('late'), 'If-Match': '"1-"' } };
  const first = await send('PATCH', path, lost);
  await send('PATCH', path, { body: { title: 'Theirs' } });
  const head = await api.side.eventLog.head();
  expect(await send('PATCH', path, lost)).toMatchObject({ status: 200, body: first.body });
  expect(await send('PATCH', path, { ...lost, body: { title: 'Other' } })).toMatchObject({
    status: 422,
    body: { code: 'idempotency_key_reused' },
  });
  expect(await api.side.eventLog.head()).toBe(head);
});

test('a refused or malformed request leaves the key unused', async ({ api, send }) => {
  const id = await make(api, '/articles', ARTICLE);
  const path = `/articles/${id}`;
  const comment = { body: { text: 'x' }, headers: keyed('refused') };
  expect(await send('POST', `${path}/comments`, comment)).toMatchObject({
    status: 409,
    body: { code: 'article_not_published' },
  });
  await send('POST', `${path}/publish`);
  expect(await send('POST', `${path}/comments`, comment)).toMatchObject({ status: 201 });
  const stale = { body: { title: 'Late' }, headers: { ...keyed('stale'), 'If-Match': '"1-"' } };
  expect(await send('PATCH', path, stale)).toMatchObject({ status: 412, body: { code: 'version_mismatch' } });
  const fresh = { ...stale, headers: { ...keyed('stale'), 'If-Match': '"2-"' } };
  expect(await send('PATCH', path, fresh)).toMatchObject({ status: 200 });
  expect(await send('POST', '/articles', { body: {}, headers: keyed('better') })).toMatchObject({
    status: 422,
  });
  expect(await send('POST', '/articles', { body: ARTICLE, headers: keyed('better') })).toMatchObject({
    status: 201,
  });
});

test('a second request with the same key must retry while the first is running', async ({ send }) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  Object.assign(gate, { held: promise, waiting: 0 });
  const sent = { body: ARTICLE, headers: keyed('running') };
  const first = send('POST', '/articles', sent);
  await until(
    () => gate.waiting,
    (waiting) => waiting === 1,
  );
  const second = await send('POST', '/articles', sent);
  expect(second).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_use' } });
  expect(second.headers.get('retry-after')).toBe('1');
  gate.held = undefined;
  resolve();
  const { status, body } = await first;
  expect(status).toBe(201);
  expect(await send('POST', '/articles', sent)).toMatchObject({ status: 201, body });
});
