// Over 200 lines, because every search and redelivery uses the deliveries that are set up here.
import { expect } from 'vitest';
import type {
  Attempt,
  DeliveryBody,
  FailedDeliveries,
  FoundDelivery,
  WebhookStatistics,
} from '#shared/rest/deliveries.ts';
import type { Webhook } from '#shared/rest/webhook.ts';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import type { TokenHolder } from '../../testing/http/people.ts';
import type { Reply } from '../../testing/http/rest-client.ts';
import { until } from '../../testing/until.ts';
import { sharedTest } from '../engines/installation-fixture.ts';

/** An operator looks for failed deliveries, and redelivers them. */
const refused = { isRefusing: true };

const test = sharedTest
  .extend('grace', { scope: 'file' }, ({ people }) => people.signUp('Grace'))
  .extend(
    'read',
    { scope: 'file' },
    ({ ada, session }) =>
      async <Body>(path: string, by: TokenHolder = ada) => {
        const reply = await session.read<Body>(path, { token: by.token });
        expect(reply.status, `${path}: ${JSON.stringify(reply.body)}`).toBe(200);
        return reply;
      },
  )
  .extend('find', { scope: 'file' }, ({ read }) => async (query: string, by?: TokenHolder) => {
    return (await read<readonly FoundDelivery[]>(`/deliveries?${query}`, by)).body;
  })
  .extend('seen', { scope: 'file' }, ({ find }) => async (query: string, by?: TokenHolder) => {
    return (await find(query, by)).map(({ webhookId, subject }) => [webhookId, subject] as const);
  })
  .extend('deliveries', { scope: 'file' }, async ({ ada, find, session, sink }): Promise<Deliveries> => {
    sink.behave(({ path }, response) => {
      if (path === '/failing' && refused.isRefusing)
        response.writeHead(500, { 'x-shop': 'closed' }).end('We are closed.');
      else response.writeHead(204).end();
    });
    const make = async (path: string, body: object) =>
      (await session.write('POST', path, { token: ada.token, body })).written.id;
    const register = (path: string) =>
      make('/webhooks', {
        url: `${sink.url}/${path}`,
        eventTypes: ['article.drafted', 'article.published'],
        filter: { authorId: ada.userId },
      });
    const [well, failing] = [await register('well'), await register('failing')];
    const articles: number[] = [];
    for (const title of ['One', 'Two', 'Three'])
      articles.push(await make('/articles', { title, body: '', tags: [] }));
    await until(
      () => find(''),
      (found) =>
        found.length === 6 && found.every(({ state, attempts }) => state === 'delivered' || attempts > 0),
    );
    return { well, failing, subject: (index) => `article-${articles[index]}` };
  });

/** The first attempts to deliver three articles to two webhooks. */
type Deliveries = {
  readonly well: number;
  readonly failing: number;
  subject(index: number): string;
};

test('deliveries of all webhooks are found, the latest event first, in pages in both directions', async ({
  deliveries: { failing, subject, well },
  read,
  seen,
  sink,
}) => {
  const all = [2, 1, 0].flatMap((index) => [failing, well].map((id) => [id, subject(index)] as const));
  expect(await seen('')).toEqual(all);
  const first = await read<readonly FoundDelivery[]>('/deliveries?limit=4');
  const links = (reply: Reply) =>
    new Map(
      [...(reply.headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, href = '', rel]) => [
        rel,
        href,
      ]),
    );
  const second = await read<readonly FoundDelivery[]>(links(first).get('next') ?? '');
  expect([...first.body, ...second.body].map(({ webhookId, subject: of }) => [webhookId, of])).toEqual(all);
  expect((await read<readonly FoundDelivery[]>(links(second).get('prev') ?? '')).body).toEqual(first.body);
  expect(first.body[0]).toMatchObject({ url: `${sink.url}/failing`, state: 'due', lastStatus: 500 });
});

test.for<[string, (of: Deliveries) => string, readonly ('well' | 'failing')[], readonly number[]]>([
  ['an endpoint', ({ well }) => `webhookId=${well}`, ['well'], [2, 1, 0]],
  ['an item', ({ subject }) => `subject=${subject(1)}`, ['failing', 'well'], [1]],
  ['failures', () => 'state=failed', ['failing'], [2, 1, 0]],
  ['failures of an item', ({ subject }) => `state=failed&subject=${subject(0)}`, ['failing'], [0]],
  ['what waits', () => 'state=due', ['failing'], [2, 1, 0]],
  ['what arrived', () => 'state=delivered', ['well'], [2, 1, 0]],
  ['what was given up', () => 'state=dead', [], []],
  ['a type of event', () => 'type=article.published', [], []],
  ['what was planned later', () => `since=${new Date(Date.now() + 60_000).toISOString()}`, [], []],
  ['what was planned before', () => 'until=2026-01-01T00:00:00Z', [], []],
])(
  'deliveries are found by %s',
  async ([_what, queryOf, webhooks, articles], { deliveries, people, seen }) => {
    const query = queryOf(deliveries);
    const expected = articles.flatMap((index) =>
      webhooks.map((webhook) => [deliveries[webhook], deliveries.subject(index)] as const),
    );
    expect(await seen(query)).toEqual(expected);
    // A manager of all webhooks finds the same among them.
    const mine = (found: readonly (readonly [number, string])[]) =>
      found.filter(([id]) => id === deliveries.well || id === deliveries.failing);
    expect(mine(await seen(`${query}&limit=100`, people.administrator))).toEqual(expected);
  },
);

test('one is found by the id of its event, with request and answer', async ({
  deliveries: { failing, subject, well },
  find,
  read,
  seen,
  sink,
}) => {
  const [one] = await find(`state=failed&subject=${subject(0)}`);
  expect(await seen(`eventId=${one?.id}`)).toEqual([failing, well].map((id) => [id, subject(0)]));
  const self = one?._links.self?.href;
  const { body } = await read<DeliveryBody>(`${self}/body`);
  expect(body).toEqual({ body: sink.received.find(({ id }) => id === one?.id)?.body, reason: null });
  const { body: attempts } = await read<readonly Attempt[]>(`${self}/attempts`);
  expect(attempts[0]).toMatchObject({
    status: 500,
    requestHeaders: { 'webhook-id': one?.id, 'webhook-signature': expect.stringMatching(/^v1,.{8}…$/) },
    answer: { headers: { 'x-shop': 'closed' }, text: 'We are closed.' },
  });
});

test('the body of each delivery is that of its own event', async ({
  deliveries: _made,
  find,
  read,
  sink,
}) => {
  const all = await find('');
  expect(new Set(all.map(({ id }) => id)).size).toBeGreaterThan(2);
  for (const { id, _links } of all) {
    const { body } = await read<DeliveryBody>(`${_links.self?.href}/body`);
    const sent = sink.received.filter((each) => each.id === id).map((each) => each.body);
    expect(sent).toContain(body.body);
  }
});

test('nobody finds deliveries of other users', async ({
  deliveries: { subject, well },
  find,
  grace,
  read,
  session,
}) => {
  expect(await find('', grace)).toEqual([]);
  expect(await find(`webhookId=${well}`, grace)).toEqual([]);
  expect(await find(`subject=${subject(0)}`, grace)).toEqual([]);
  expect((await read('/deliveries/failed', grace)).body).toEqual([]);
  const [one] = await find('');
  for (const path of [`${one?._links.self?.href}/body`, `/webhooks/${well}/statistics`])
    expect((await session.read(path, { token: grace.token })).status).toBe(404);
});

test('its health shows since when and why an endpoint fails, in figures and over time', async ({
  deliveries: { failing, well },
  read,
}) => {
  const { body: webhooks } = await read<readonly Webhook[]>('/webhooks');
  const health = webhooks.find(({ id }) => id === failing)?.health;
  expect(health).toMatchObject({
    failingSince: expect.any(String),
    lastFailure: { status: 500, reason: 'The receiver answered with status 500.' },
    nextAttemptAt: expect.any(String),
    successRate: 0,
    backlog: { due: 3 },
  });
  expect(webhooks.find(({ id }) => id === well)?.health).toMatchObject({
    ...{
      failingSince: null,
      nextAttemptAt: null,
      attemptsLastDay: 3,
      failuresLastDay: 0,
      successRate: 1,
      backlog: { due: 0 },
    },
  });
  const { body } = await read<WebhookStatistics>(`/webhooks/${well}/statistics`);
  const sum = (of: (point: WebhookStatistics['points'][number]) => number) =>
    body.points.map(of).reduce((total, each) => total + each, 0);
  expect([body.seconds, sum(({ arrived }) => arrived), sum(({ failed }) => failed)]).toEqual([900, 3, 0]);
  expect(body.points.at(-1)?.durationMs ?? body.points.at(-2)?.durationMs).toEqual(expect.any(Number));
  expect((await read<WebhookStatistics>(`/webhooks/${well}/statistics?hours=168`)).body).toMatchObject({
    seconds: 6_300,
  });
});

test('failures are counted, and those of a period are redelivered', async ({
  ada,
  deliveries: { failing, subject, well },
  find,
  installation,
  read,
  seen,
  session,
  sink,
}) => {
  // Each has had its first retry, and the next is minutes away: nothing arrives by itself below.
  await until(
    () => find(`webhookId=${failing}`),
    (found) => found.every(({ attempts }) => attempts > 1),
    60_000,
  );
  // Simulates a first one that was planned, and became a dead letter, the day before.
  const [first] = await find(`state=failed&subject=${subject(0)}`);
  await inDatabase(installation.settings.DATABASE_URL ?? '', (client) =>
    client.query(
      `update webhook_ledger.delivery set state = 'dead', settled_at = now(), created_at = now() - interval '1 day'
       where webhook_id = $1 and event_id = $2`,
      [failing, first?.id],
    ),
  );
  const [from, to] = [-36, -12].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString());
  const yesterday = `since=${from}&until=${to}`;
  const failed = async (query: string) =>
    (await read<readonly FailedDeliveries[]>(`/deliveries/failed?${query}`)).body;
  expect(await failed('')).toMatchObject([
    { webhookId: failing, url: `${sink.url}/failing`, dead: 1, retrying: 2 },
  ]);
  expect(await failed(yesterday)).toMatchObject([{ webhookId: failing, dead: 1, retrying: 0 }]);
  expect(await failed(`webhookId=${well}`)).toEqual([]);
  expect(await seen(`state=failed&${yesterday}`)).toEqual([[failing, subject(0)]]);

  refused.isRefusing = false;
  const redrive = (body?: object) =>
    session.write('POST', `/webhooks/${failing}/redrive`, { token: ada.token, body });
  const delivered = (count: number) =>
    until(
      () => seen(`webhookId=${failing}&state=delivered`),
      ({ length }) => length >= count,
    );
  await redrive({ since: from, until: to });
  expect(await delivered(1)).toEqual([[failing, subject(0)]]);
  await redrive({ retrying: true });
  await delivered(3);
  expect(await failed('')).toEqual([]);
  // As before the option existed.
  await redrive();
});
