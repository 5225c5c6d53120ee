// Over 200 lines, because it is one story: a tenant moves, and everything that must hold afterwards.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import { canonicalForm } from '../../proof/stored/canonical.ts';
import { type Followed, follow } from '../../testing/http/event-source.ts';
import { type Reply, type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import { startWebhookSink, type WebhookSink } from '../../testing/http/webhook-sink.ts';
import type { Settings } from '../../testing/installation.ts';
import { until } from '../../testing/until.ts';
import { callLine } from '../engines/call-line.ts';
import { type Cells, startCells } from '../engines/cells.ts';
import { nginxMissing } from '../engines/nginx.ts';

if (nginxMissing !== undefined) console.warn(`Skipped: ${nginxMissing}.`);

const resources = new AsyncDisposableStack();
let cells: Cells;
let sink: WebhookSink;
let stays: Tenant;
let moves: Tenant;
beforeAll(async () => {
  if (nginxMissing !== undefined) return;
  cells = resources.use(await startCells());
  sink = resources.use(await startWebhookSink());
  stays = await openTenant('stays');
  moves = await openTenant('moves');
});
afterAll(() => resources.disposeAsync());

type Tenant = {
  readonly host: string;
  readonly userId: number;
  ask(...asked: Parameters<RestClient>): Promise<Reply>;
  readonly headers: Readonly<Record<string, string>>;
};

/** Its clients reach it by its own host name, wherever it is. */
const openTenant = async (name: string): Promise<Tenant> => {
  const { clientId, secret } = await cells.createTenant(name);
  const host = `${name}.example`;
  const client = restClientOf({ url: cells.urlOf(host), fetch: cells.fetch });
  const credentials = Buffer.from(`${clientId}:${encodeURIComponent(secret)}`).toString('base64');
  const authorization = `Basic ${credentials}`;
  const body = 'grant_type=client_credentials';
  const type = 'application/x-www-form-urlencoded';
  const { body: answer } = await until(
    () => client('POST', '/token', { body, type, headers: { authorization } }),
    ({ status }) => status === 200,
    30_000,
  );
  const { access_token: token } = answer as { readonly access_token: string };
  const ask: Tenant['ask'] = (method, path, asked = {}) => client(method, path, { token, ...asked });
  const { body: me } = await until(
    () => ask('GET', '/me'),
    ({ status }) => status === 200,
    30_000,
  );
  const headers = { authorization: `Bearer ${token}` };
  return { host, userId: (me as { readonly id: number }).id, ask, headers };
};

type Written = {
  readonly id: number;
  readonly title: string;
  readonly key: string;
  readonly token: string;
  readonly isDeleted: boolean;
};

/** As a client that repeats a request with its key until it has an answer. */
const write = async (
  { ask }: Tenant,
  asked: readonly [method: string, path: string, body?: unknown],
  key: string,
) => {
  const [method, path, body] = asked;
  const headers = { 'idempotency-key': key };
  const { reply } = await until(
    async () => {
      const reply = await ask(method, path, { headers, body }).catch(() => undefined);
      const isAnswered = reply !== undefined && reply.status < 400;
      if (!isAnswered) await delay(RETRY_MS);
      return { isAnswered, reply };
    },
    ({ isAnswered }) => isAnswered,
    60_000,
  );
  return reply as Reply;
};
const RETRY_MS = 100;

/** Every third article gets a comment and is deleted, from which the end of the comment follows. */
const startWriter = (tenant: Tenant) => {
  const acknowledged: Written[] = [];
  const ending = new AbortController();
  const writeOne = async (number: number): Promise<void> => {
    const [title, key] = [randomUUID(), randomUUID()];
    const draft = { title, body: '', tags: [], publish: true };
    const { body, headers } = await write(tenant, ['POST', '/articles', draft], key);
    const { id } = body as { readonly id: number };
    const isDeleted = number % 3 === 0;
    if (isDeleted) {
      await write(tenant, ['POST', `/articles/${id}/comments`, { text: 'Well said.' }], randomUUID());
      const { status } = await until(
        () => tenant.ask('DELETE', `/articles/${id}`).catch(() => ({ status: 0 })),
        // A deletion that was carried out and not acknowledged leaves nothing to delete.
        ({ status }) => status === 204 || status === 404,
        60_000,
      );
      expect([204, 404]).toContain(status);
    }
    acknowledged.push({ id, title, key, token: headers.get('consistency-token') ?? '', isDeleted });
  };
  const writing = (async () => {
    for (let number = 1; !ending.signal.aborted; number += 1) await writeOne(number);
  })();
  return {
    acknowledged,
    async more(count: number) {
      const enough = acknowledged.length + count;
      await until(
        () => acknowledged.length,
        (length) => length >= enough,
        60_000,
      );
    },
    async end() {
      ending.abort();
      await writing;
    },
  };
};

type Received = { readonly id: string; readonly type: string; readonly at: string; readonly subject: string };

/** As docs/scaling.md says: after a refused cursor by time, and by the ids of events each once. */
const readOn = ({ host, headers }: Tenant) => {
  const received = new Map<string, Received>();
  const refusals: unknown[] = [];
  const ending = new AbortController();
  let current: Followed | undefined;
  let last = '';
  let latestAt = new Date().toISOString();
  const take = (followed: Followed): void => {
    for (const { data } of followed.messages) {
      const event = JSON.parse(data) as Received;
      received.set(event.id, event);
      if (event.at > latestAt) latestAt = event.at;
    }
    last = followed.lastEventId() || last;
  };
  const since = () => `since=${new Date(Date.parse(latestAt) - MINUTE_MS).toISOString()}`;
  const reading = (async () => {
    while (!ending.signal.aborted) {
      const by = last === '' ? {} : { 'last-event-id': last };
      const url = `${cells.urlOf(host)}/events${last === '' ? `?${since()}` : ''}`;
      const followed = await follow(url, { headers: { ...headers, ...by }, fetch: cells.fetch }).catch(
        () => undefined,
      );
      if (followed?.status === 200) {
        current = followed;
        await Promise.race([
          followed.over().catch(() => {}),
          new Promise((resolve) => ending.signal.addEventListener('abort', resolve)),
        ]);
        take(followed);
        current = undefined;
        await followed.close();
      } else if (followed?.status === 400) {
        refusals.push(last);
        last = '';
      }
      await delay(RETRY_MS, undefined, { signal: ending.signal }).catch(() => {});
    }
  })();
  return {
    refusals,
    received() {
      if (current !== undefined) take(current);
      return received;
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await reading;
    },
  };
};
const MINUTE_MS = 60_000;

const logOf = async (cell: Settings): Promise<readonly RecordedEvent[]> => {
  await using log = await openEventLog({ url: cell.DATABASE_URL ?? '', clock: REAL_TIME });
  const pages = await Array.fromAsync(readBetween(log, { after: START, upTo: await log.head() }));
  return pages.flat();
};
const streamsIn = (events: readonly RecordedEvent[]) => Map.groupBy(events, ({ stream }): string => stream);
const formsIn = (events: readonly RecordedEvent[] = []) => events.map((event) => canonicalForm(event));
const created = (events: readonly RecordedEvent[]) =>
  events.filter(({ type }) => type === 'article.drafted').map(({ data }) => data.title);

const withNginx = test.skipIf(nginxMissing !== undefined);

withNginx(
  'a tenant moves to another cell under load: nothing is lost or doubled, and both cells are proven',
  async () => {
    const webhook = { url: sink.url, eventTypes: ['article.*'] };
    expect((await moves.ask('POST', '/webhooks', { body: webhook })).status).toBe(201);
    await using received = readOn(moves);
    const writers = { stays: startWriter(stays), moves: startWriter(moves) };
    await writers.moves.more(8);
    const list = join(cells.one.DATA_DIR ?? '', 'moves.txt');
    await writeFile(list, `user-${moves.userId}\n`);
    const to = ['--to', cells.two.DATABASE_URL ?? '', '--streams', list];
    const ending = new AbortController();
    const copying = callLine(cells.one, ['log', 'copy', ...to, '--with-owned', '--follow'], {
      signal: ending.signal,
    });
    await until(
      async () => (await streamsIn(await logOf(cells.two))).size,
      (size) => size > 8,
      60_000,
    );
    await writers.moves.more(4);
    await cells.route({ moving: `${moves.host} yes;` });
    await cells.drained();
    const refused = await moves.ask('POST', '/articles', { body: { title: 'Refused', body: '', tags: [] } });
    expect([refused.status, refused.headers.get('retry-after'), refused.body]).toEqual([
      ...[503, '1', expect.objectContaining({ code: 'unavailable', status: 503 })],
    ]);
    const before = writers.moves.acknowledged.at(-1);
    ending.abort();
    expect(await copying).toMatchObject({
      exit: 0,
      complaint: expect.stringContaining('read back and compared'),
    });
    await cells.route({ cells: `${moves.host} two;` });
    await Promise.all([writers.moves.more(8), writers.stays.more(4)]);
    await Promise.all([writers.moves.end(), writers.stays.end()]);
    await demandNothingLost(writers.moves.acknowledged);
    await demandStayed(writers.stays.acknowledged);
    await demandRepeatable(before);
    await demandReceived(received, writers.moves.acknowledged);
    const again = await callLine(cells.one, ['log', 'copy', ...to, '--with-owned']);
    expect(again).toMatchObject({ exit: 0, complaint: '' });
    expect(again.lines.join()).toContain(', 0 of them since this command began');
    for (const cell of [cells.one, cells.two]) {
      const verified = await callLine(cell, ['audit', 'verify']);
      // On a busy machine it says how far it is.
      const faults = verified.complaint.split('\n').filter((line) => !line.startsWith('Verifying: '));
      expect([verified.exit, faults.join('')]).toEqual([0, '']);
    }
    await demandPathsOnly();
  },
);

/** Queries have codes, tokens of streams and addresses of people. */
const demandPathsOnly = async (): Promise<void> => {
  const logged = await cells.logged();
  expect(logged).toContain(`"host":"${moves.host}"`);
  expect(logged).toContain('"path":"/events"');
  expect(logged).not.toContain('?');
};

const demandNothingLost = async (acknowledged: readonly Written[]): Promise<void> => {
  const [one, two] = await Promise.all([logOf(cells.one), logOf(cells.two)]);
  expect(created(two).toSorted()).toEqual(acknowledged.map(({ title }) => title).toSorted());
  const [there, here] = [streamsIn(two), streamsIn(one)];
  for (const { id, isDeleted } of acknowledged) {
    const stream = there.get(`article-${id}`);
    expect(stream?.filter(({ type }) => type === 'article.deleted')).toHaveLength(isDeleted ? 1 : 0);
    const left = formsIn(here.get(`article-${id}`));
    expect(formsIn(stream).slice(0, left.length)).toEqual(left);
  }
  const countOf = (type: string) => two.filter((event) => event.type === type).length;
  await until(
    async () => (await logOf(cells.two)).filter(({ type }) => type === 'comment.deleted').length,
    (count) => count === countOf('comment.added'),
  );
  const last = acknowledged.at(-1)?.token ?? '';
  for (const { id, title, isDeleted } of acknowledged) {
    const { status, body } = await moves.ask('GET', `/articles/${id}`, {
      headers: { 'consistency-token': last },
    });
    expect(isDeleted ? status : body).toEqual(isDeleted ? 404 : expect.objectContaining({ id, title }));
  }
  const { body: user } = await moves.ask('GET', `/users/${moves.userId}`);
  expect(user).toMatchObject({ name: 'moves' });
};

const demandStayed = async (acknowledged: readonly Written[]): Promise<void> => {
  const [one, two] = await Promise.all([logOf(cells.one), logOf(cells.two)]);
  const titles = created(one);
  for (const { title } of acknowledged) expect(titles.filter((each) => each === title)).toHaveLength(1);
  expect(two.some(({ stream }) => stream === `user-${stays.userId}`)).toBe(false);
};

/** A client that never had its answer gets it from the other cell. */
const demandRepeatable = async (before: Written | undefined): Promise<void> => {
  if (before === undefined) throw new Error('nothing was acknowledged before the move');
  const draft = { title: before.title, body: '', tags: [], publish: true };
  const { body, headers } = await write(moves, ['POST', '/articles', draft], before.key);
  expect(body).toMatchObject({ id: before.id });
  const token = headers.get('consistency-token') ?? '';
  expect(token).not.toBe(before.token);
  const read = await moves.ask('GET', '/articles', { headers: { 'consistency-token': token } });
  expect(read.status).toBe(200);
  const stale = await moves.ask('GET', '/articles', { headers: { 'consistency-token': before.token } });
  expect([stale.status, stale.body]).toEqual([400, expect.objectContaining({ code: 'unknown_cursor' })]);
};

const demandReceived = async (
  { received, refusals }: ReturnType<typeof readOn>,
  acknowledged: readonly Written[],
): Promise<void> => {
  const subjects = acknowledged.map(({ id }) => `article-${id}`);
  const published = (events: Iterable<Received>) =>
    [...events].filter(({ type }) => type === 'article.published').map(({ subject }) => subject);
  await until(
    () => published(received().values()).filter((subject) => subjects.includes(subject)),
    ({ length }) => length === subjects.length,
    30_000,
  );
  expect(refusals).toHaveLength(1);
  const delivered = () =>
    sink.received.map(({ body }) => JSON.parse(body) as Received & { readonly cursor: string });
  await until(
    () => new Set(published(delivered()).filter((subject) => subjects.includes(subject))).size,
    (size) => size === subjects.length,
    30_000,
  );
  // Each was delivered by one of the cells: a cursor begins with the name of its log.
  const logs = Map.groupBy(delivered(), ({ id }) => id);
  for (const all of logs.values())
    expect(new Set(all.map(({ cursor }) => cursor.split('-')[0])).size).toBe(1);
};
