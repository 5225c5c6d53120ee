import { randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callLine } from '../engines/call-line.ts';
import { createDatabase, type TestDatabase } from '../engines/database.ts';
import { startEventStoreStandIn } from '../engines/eventstoredb/server.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';
import { scaled } from '../engines/load.ts';
import { inDatabase } from '../engines/search-everywhere.ts';
import { until } from '../engines/until.ts';
import { type Asking, askAs, type Operated, operate, startWriter, titlesOf, type Written } from './operated.ts';

/** The log is in EventStoreDB and went on; the database is restored to an earlier time. */
const resources = new AsyncDisposableStack();
let database: TestDatabase;
let backup: TestDatabase;
let operated: Operated;
let settings: Readonly<Record<string, string>>;
let admin: Installation['admin'];
let before: readonly Written[];
let since: readonly Written[];
let late: number;
let ofLate: number;

const OTHERS = 'select from pg_stat_activity where datname = $1';

const write = async (asked: Asking): Promise<readonly Written[]> => {
  const writer = startWriter(asked);
  await writer.more(5);
  await writer.end();
  return writer.acknowledged;
};

const registerLate = async ({ ask, token }: Asking): Promise<void> => {
  const person = { name: 'Late', email: `${randomUUID()}@example.com`, role: 'author' };
  late = ((await ask('POST', '/users', { token, body: person })).body as { id: number }).id;
  const article = { title: 'By someone late', body: '', tags: [], publish: true, authorId: late };
  ofLate = ((await ask('POST', '/articles', { token, body: article })).body as { id: number }).id;
};

beforeAll(async () => {
  const eventStore = resources.use(await startEventStoreStandIn());
  database = resources.use(await createDatabase());
  operated = resources.use(await operate(database.url));
  settings = { ...operated.settings, EVENT_LOG_URL: eventStore.address };
  {
    await using first = await startInstallation({ settings });
    admin = first.admin;
    before = await write(await askAs(first));
  }
  await until(
    () => inDatabase(database.url.replace(database.name, 'postgres'), (client) => client.query(OTHERS, [database.name])),
    ({ rows }) => rows.length === 0,
  );
  backup = resources.use(await createDatabase({ template: database.name }));
  {
    await using second = await startInstallation({ settings, admin });
    const asked = await askAs(second);
    await registerLate(asked);
    since = await write(asked);
  }
  settings = { ...settings, DATABASE_URL: backup.url };
}, scaled(300_000));
afterAll(() => resources.disposeAsync());

test('what was written since the backup is there, and cursors are good', async () => {
  await using installation = await startInstallation({ settings, admin });
  const asking = await askAs(installation);
  const all = [...before, ...since];
  expect(await titlesOf(asking, all, since.at(-1)?.cursor)).toEqual(all.map(({ title }) => title));
  const page = `/events?types=article.published&after=${since.at(-2)?.cursor}`;
  const { body } = await asking.ask('GET', page, { token: asking.token });
  expect(body).toMatchObject([{ subject: `article-${since.at(-1)?.id}` }]);
});

test('whoever was registered since has lost their key: they are parked, and nothing else is', async () => {
  await using installation = await startInstallation({ settings, admin });
  const { ask, token } = await askAs(installation);
  expect(await ask('GET', `/users/${late}`, { token })).toMatchObject({ status: 503, body: { code: 'parked' } });
  const parked = await callLine(settings, ['projection', 'parked']);
  expect(parked.lines.join('\n')).toContain(`user-${late}`);
  expect(parked.lines.join('\n')).not.toContain('article-');
});

test(
  'once they are on the erasure list they are erased, and all that follows from that follows',
  async () => {
    const line = { userId: late, at: new Date().toISOString(), event: null };
    await appendFile(join(operated.environment.AUDIT_DIR, 'erasures.jsonl'), `${JSON.stringify(line)}\n`);
    const applied = await callLine(settings, ['erasure', 'apply']);
    expect(applied, applied.complaint).toMatchObject({ exit: 0 });
    await using installation = await startInstallation({ settings, admin });
    const retried = await callLine(settings, ['projection', 'retry', '--all']);
    expect(retried, retried.complaint).toMatchObject({ exit: 0 });
    const { ask, token } = await askAs(installation);
    await until(
      () => ask('GET', `/users/${late}`, { token }),
      ({ status }) => status === 404,
      60_000,
    );
    const { status } = await ask('GET', `/articles/${ofLate}`, { token });
    expect(status).toBe(200);
    const verified = await callLine(settings, ['audit', 'verify']);
    expect(verified, verified.lines.join('\n')).toMatchObject({ exit: 0 });
  },
  scaled(180_000),
);

test('the log cannot be renewed in EventStoreDB, and the command says what does the same', async () => {
  const renewed = await callLine(settings, ['log', 'renew']);
  expect(renewed.exit).not.toBe(0);
  expect(renewed.complaint).toContain('log copy --switch');
});
