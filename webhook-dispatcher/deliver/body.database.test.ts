// Over 200 lines, because all cases deliver from the log that is set up here.
import { expect } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { WebhookId } from '#kernel/base/brands.ts';
import type { Change } from '#shared/change-stream/change-stream.ts';
import { createChangeReader } from '#shared/change-stream/changes.ts';
import { createChangeOpener } from '#shared/change-stream/open-change.ts';
import { START } from '#shared/event-log/event-log.ts';
import { maySee } from '#shared/visibility/may-see.ts';
import { createPresentRights } from '#shared/visibility/present-rights.ts';
import { type Asker, test as base } from '../../test/engines/backend.ts';
import { POLICY, SCOPES } from '../../test/engines/policy.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { createComposer } from './body.ts';
import type { Endpoint, Owner, Shape } from './delivery.ts';
import { createIsParked } from './is-parked.ts';

type Event = { readonly id: string; readonly type: string; readonly data: Readonly<Record<string, unknown>> };

const test = base
  .extend('stranger', { scope: 'file' }, ({ backend }) => backend.person('author'))
  /** With a comment by a reader who changes afterwards, and beside a draft. */
  .extend('article', { scope: 'file' }, async ({ admin, author, backend, reader }) => {
    const write = async (by: Asker, method: string, path: string, body: object): Promise<number> => {
      const reply = await backend.ask(path, { by, method, body });
      expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300);
      return (reply.body as { id: number }).id;
    };
    const published = { title: 'Published', body: 'Text', tags: [], publish: true };
    const article = await write(author, 'POST', '/articles', published);
    await write(author, 'POST', '/articles', { title: 'Draft', body: '', tags: [] });
    await write(reader, 'POST', `/articles/${article}/comments`, { text: 'Well said.' });
    await write(admin, 'PATCH', `/users/${reader.id}`, { name: 'Margherita', email: 'rita@example.com' });
    // The readable rows decide the content of bodies.
    await until(
      () => backend.ask(`/articles/${article}/comments`, { by: author }),
      ({ body }) => (body as readonly object[]).length === 1,
    );
    return article;
  })
  .extend(
    'allChanges',
    { scope: 'file' },
    ({ article: _written, backend }) =>
      async (): Promise<readonly Change[]> => {
        const { eventLog, pool, keys } = backend.side;
        const reader = createChangeReader({ domain: publishing, eventLog, pool, keys });
        const head = await eventLog.head();
        const found: Change[] = [];
        for await (const events of eventLog.follow(START, AbortSignal.timeout(scaled(30_000)))) {
          const { changes, upTo } = await reader.toPage(events);
          found.push(...changes);
          if (upTo >= head) break;
        }
        return found;
      },
  )
  .extend('dependencies', { scope: 'file' }, ({ backend }) => {
    const { eventLog, keys, pool } = backend.side;
    return {
      domain: publishing,
      log: eventLog,
      open: createChangeOpener({ domain: publishing, eventLog, keys }),
      isReadable: createPresentRights({
        domain: publishing,
        run: async (text, values) => (await pool.query(text, [...values])).rows,
      }),
      isParked: createIsParked(publishing, pool),
      publicUrl: 'https://annals.example',
    };
  })
  .extend('compose', { scope: 'file' }, ({ dependencies }) => createComposer(dependencies))
  .extend(
    'bodyFor',
    { scope: 'file' },
    ({ compose }) =>
      async (asker: Asker, change: Change, shape: Shape | null = null, by = compose) => {
        const webhookId = 6_001 as WebhookId;
        const endpoint: Endpoint = {
          webhookId,
          ownerId: asker.id,
          scopes: new Set(),
          url: '',
          headers: {},
          secrets: [],
          payload: 'full',
          format: 'annals',
        };
        const delivery = { webhookId, eventId: change.id, change, attempts: 0, shape };
        const composed = await by({ delivery, endpoint, owner: ownerOf(asker) });
        return composed.kind === 'body' ? { ...composed, text: composed.bytes.toString() } : composed;
      },
  )
  .extend(
    'feedOf',
    { scope: 'file' },
    ({ backend }) =>
      async (asker: Asker) =>
        ((await backend.ask('/events?limit=100', { by: asker })).body as readonly Event[]).map((event) =>
          Object.fromEntries(Object.entries(event).filter(([name]) => !ORIGIN.has(name))),
        ),
  );

const ownerOf = ({ id, role }: Asker): Owner => ({
  kind: 'user',
  policy: POLICY,
  userId: id,
  role,
  scopes: new Set(SCOPES),
  client: null,
});

/** Fields that the feed shows in addition. */
const ORIGIN = new Set(['actor', 'client', 'request', 'correlation', 'causation']);

test('a delivery equals the change in the owner’s feed', async ({
  admin,
  allChanges,
  author,
  bodyFor,
  feedOf,
  reader,
  stranger,
}) => {
  const changes = await allChanges();
  for (const asker of [reader, author, admin, stranger]) {
    const known = changes.filter((change) => maySee(ownerOf(asker), change));
    expect(known.length).toBeGreaterThan(2);
    const bodies = await Promise.all(known.map((change) => bodyFor(asker, change)));
    expect(bodies.map((body) => 'text' in body && JSON.parse(body.text))).toEqual(await feedOf(asker));
  }
});

test('the bytes are the same each time, also after the owner’s role has changed', async ({
  allChanges,
  bodyFor,
  stranger,
}) => {
  for (const change of (await allChanges()).filter((each) => maySee(ownerOf(stranger), each))) {
    const first = await bodyFor(stranger, change);
    if (first.kind !== 'body') throw new Error('nothing was told');
    const promoted: Asker = { ...stranger, role: 'admin' };
    expect(await bodyFor(promoted, change, first.shape)).toEqual(first);
    const asAdmin = await bodyFor(promoted, change);
    if (asAdmin.kind !== 'body') throw new Error('nothing was told');
    const demoted = await bodyFor(stranger, change, asAdmin.shape);
    expect('text' in demoted ? demoted.text : demoted).toEqual(
      asAdmin.shape === first.shape ? first.text : { kind: 'withheld' },
    );
  }
});

test('a delivery about a parked aggregate or below a parked one waits if its first attempt contained more than ids', async ({
  allChanges,
  article,
  author,
  backend,
  bodyFor,
  dependencies,
}) => {
  const { pool } = backend.side;
  const commented = (await allChanges()).find(({ type }) => type === 'comment.added');
  if (!commented) throw new Error('nobody commented');
  const first = await bodyFor(author, commented);
  for (const stream of [commented.stream, `article-${article}`]) {
    await pool.query(
      `insert into read_model.parked (stream, version, position, type, reason) values ($1, 1, 1, 'test', 'test')`,
      [stream],
    );
    // Simulates missing rows.
    const away = createComposer({ ...dependencies, isReadable: async () => false });
    expect(await bodyFor(author, commented, 'full', away)).toEqual({ kind: 'waiting' });
    await pool.query('delete from read_model.parked');
    expect(await bodyFor(author, commented, 'full', away)).toEqual({ kind: 'withheld' });
  }
  expect(await bodyFor(author, commented, 'full')).toEqual(first);
});

test('a change of unpublished content is delivered with ids only, or, if the first attempt contained more, withheld', async ({
  allChanges,
  article,
  author,
  backend,
  bodyFor,
  stranger,
}) => {
  await backend.ask(`/articles/${article}/unpublish`, { by: author, method: 'POST' });
  await backend.ask('/articles', { by: author });
  const published = (await allChanges()).find(({ type }) => type === 'article.published');
  if (!published) throw new Error('nothing was published');
  expect(await bodyFor(stranger, published)).toMatchObject({ shape: 'ids' });
  expect(await bodyFor(stranger, published, 'full')).toEqual({ kind: 'withheld' });
  expect(await bodyFor(author, published, 'full')).toMatchObject({ shape: 'full' });
});

test('a change of an erased person is delivered with ids only', async ({
  allChanges,
  author,
  backend,
  bodyFor,
  reader,
}) => {
  const commented = (await allChanges()).find(({ type }) => type === 'comment.added');
  if (!commented) throw new Error('nobody commented');
  expect(await bodyFor(author, commented)).toMatchObject({
    shape: 'full',
    text: expect.stringContaining('Well said.'),
  });
  await backend.side.keys.destroy(reader.id);
  expect(await bodyFor(author, commented)).toMatchObject({ shape: 'ids' });
  expect(await bodyFor(author, commented, 'full')).toEqual({ kind: 'withheld' });
});
