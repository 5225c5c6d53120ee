// Over 200 lines, because each drill continues with the server that the one before has promoted.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { type Followed, follow } from '../../testing/http/event-source.ts';
import { until } from '../../testing/until.ts';
import { type Cuttable, openCuttable } from '../engines/cuttable.ts';
import { type Installation, operate as operateBy, startInstallation } from '../engines/installation.ts';
import { type RoleProcess, startRole } from '../engines/role-process.ts';
import {
  type SystemPostgres,
  startSystemPostgres,
  systemPostgresMissing,
} from '../engines/system-postgres.ts';
import { type Asking, askAs, type Operated, operate, startWriter, titlesOf } from './operated.ts';
import { runBlock } from './page.ts';

if (systemPostgresMissing !== undefined) console.warn(`Skipped: ${systemPostgresMissing}.`);

/** One server, and standbys that replace it under load: the first receives synchronously, the second lags. */
const resources = new AsyncDisposableStack();
const ROLES = ['command', 'query', 'auth', 'projector', 'webhook-dispatcher'] as const;
let primary: SystemPostgres;
/** The name of the database for Annals: it leads to the current primary. */
let name: Cuttable;
let operated: Operated;
let installation: Installation & AsyncDisposable;
let asking: Asking;
let beside: readonly { readonly role: string; readonly process: RoleProcess; readonly url: string }[] = [];
let reader: Reader;

const at = (url: string, port: number): string => Object.assign(new URL(url), { port: String(port) }).href;

/**
 * The primary is lost with its disk, and the standby replaces it. Connections are reset, or never answered
 * again.
 */
const failOver = async (standby: SystemPostgres, end: 'cut' | 'strand'): Promise<void> => {
  name[end]();
  await primary.destroy();
  await runBlock('postgresql-failover', { STANDBY_URL: standby.url });
  primary = standby;
  name.mend();
};

const startBeside = async (): Promise<typeof beside> => {
  const internal = resources.use(
    startRole('command/main.ts', { ...installation.settings, JWKS_URL: `${installation.origin}/jwks` }),
  );
  const { url: commandUrl } = await internal.logged('Listening for commands of other roles.');
  const settings = {
    ...installation.settings,
    JWKS_URL: `${installation.origin}/jwks`,
    COMMAND_URL: String(commandUrl),
  };
  const others = ROLES.slice(1).map((role) => ({
    role,
    process: resources.use(startRole(`${role}/main.ts`, settings)),
  }));
  const all = [{ role: 'command', process: internal }, ...others];
  return Promise.all(
    all.map(async (each) => ({ ...each, url: String((await each.process.logged('Annals is ready.')).url) })),
  );
};

type Readiness = { readonly status: string; readonly checks: Readonly<Record<string, string>> };

const readinessOf = async (url: string): Promise<Readiness> =>
  (await (await fetch(new URL('/readyz', url))).json()) as Readiness;

const untilReady = async (): Promise<void> => {
  for (const { url } of beside)
    await until(
      () => readinessOf(url),
      ({ status }) => status === 'ready',
      60_000,
    );
};

beforeAll(async () => {
  if (systemPostgresMissing !== undefined) return;
  primary = resources.use(await startSystemPostgres());
  await primary.start();
  await primary.createDatabase();
  name = resources.use(await openCuttable(() => primary.url));
  operated = resources.use(await operate(at(primary.url, name.port)));
  installation = resources.use(await startInstallation({ ownProcess: true, settings: operated.settings }));
  asking = await askAs(installation);
  beside = await startBeside();
  reader = resources.use(readOn(`${installation.url}/events`, asking.token));
  await until(reader.isConnected, Boolean);
}, 180_000);
afterAll(() => resources.disposeAsync());

const withStandby = test.skipIf(systemPostgresMissing !== undefined);

type Reader = AsyncDisposable & { subjects(): readonly string[]; lastId(): string; isConnected(): boolean };

/** Follows like a browser: when its connection ends, it resumes after its last id. */
const readOn = (url: string, token: string): Reader => {
  const ending = new AbortController();
  const earlier: Followed[] = [];
  const lastId = () => earlier.findLast((each) => each.lastEventId() !== '')?.lastEventId() ?? '';
  const reading = (async () => {
    while (!ending.signal.aborted) {
      const last = lastId();
      const headers = { authorization: `Bearer ${token}`, ...(last !== '' && { 'last-event-id': last }) };
      const followed = await follow(url, { headers }).catch(() => undefined);
      if (followed?.status === 200) {
        earlier.push(followed);
        await Promise.race([followed.over().catch(() => {}), once(ending.signal, 'abort')]);
        await followed.close();
      }
      await delay(RECONNECT_MS, undefined, { signal: ending.signal }).catch(() => {});
    }
  })();
  return {
    subjects: () =>
      earlier.flatMap(({ messages }) =>
        messages.map(({ data }) => (JSON.parse(data) as { subject: string }).subject),
      ),
    lastId,
    isConnected: () => earlier.some(({ isOver }) => !isOver()),
    async [Symbol.asyncDispose]() {
      ending.abort();
      await reading;
    },
  };
};

const RECONNECT_MS = 200;

withStandby(
  'a synchronous standby that takes over a name under load has every event that was acknowledged, though old connections hang',
  async () => {
    const standby = resources.use(await startSystemPostgres());
    await standby.followPrimary(primary.url);
    await inDatabase(primary.url, async (client) => {
      await client.query(`alter system set synchronous_standby_names = '*'`);
      await client.query('select pg_reload_conf()');
      await until(
        () => client.query(`select from pg_stat_replication where sync_state = 'sync'`),
        ({ rowCount }) => rowCount === 1,
        30_000,
      );
    });
    const writer = startWriter(asking);
    await writer.more(20);
    await failOver(standby, 'strand');
    await inDatabase(primary.url, async (client) => {
      await client.query('alter system reset synchronous_standby_names');
      await client.query('select pg_reload_conf()');
    });
    await writer.more(5);
    await writer.end();
    const { acknowledged } = writer;
    // The projector waits for a statement that is never answered before it reconnects.
    await until(
      () => titlesOf(asking, acknowledged.slice(-1), acknowledged.at(-1)?.cursor).catch(() => []),
      ({ length }) => length === 1,
      60_000,
    );
    expect(await titlesOf(asking, acknowledged, acknowledged.at(-1)?.cursor)).toEqual(
      acknowledged.map(({ title }) => title),
    );
    await untilReady();
    await until(
      reader.subjects,
      (subjects) => acknowledged.every(({ id }) => subjects.includes(`article-${id}`)),
      30_000,
    );
  },
  120_000,
);

withStandby(
  'an asynchronous standby that has not received the end is noticed by every role, and nobody goes on past the gap',
  async () => {
    await using way = await openCuttable(() => primary.url);
    const standby = resources.use(await startSystemPostgres());
    await standby.followPrimary(at(primary.url, way.port));
    const writer = startWriter(asking);
    await writer.more(5);
    way.stall();
    const kept = writer.acknowledged.length + 1;
    await writer.more(5);
    await writer.end();
    const doomed = writer.acknowledged.slice(kept);
    await until(
      reader.subjects,
      // Each was drafted and published.
      (subjects) =>
        doomed.every(({ id }) => subjects.filter((each) => each === `article-${id}`).length === 2),
      30_000,
    );
    const before = reader.subjects();
    // A process without followers reads the end of the log for a request.
    await untilReady();
    way.cut();
    await failOver(standby, 'cut');
    // A process that has not seen the lost events is faster than all others.
    await using newcomer = await openEventLog({ url: primary.url, clock: REAL_TIME });
    const instead = Array.from({ length: 30 }, () => `article-${randomUUID()}` as StreamName);
    for (const to of instead)
      await newcomer.append(to, NO_STREAM, [
        { id: randomUUID() as EventId, type: 'thing.noted', data: {}, metadata: {} },
      ]);
    const head = await newcomer.head();
    for (const { url } of [...beside, { url: installation.origin }])
      await until(
        () => readinessOf(url),
        ({ checks }) => checks['event log history'] === 'fail' && checks.database === 'pass',
        30_000,
      );
    for (const { process } of beside)
      expect(process.printed().match(/has lost events: a standby/g)).toHaveLength(1);
    const refused = await asking.ask('POST', '/articles', {
      token: asking.token,
      body: { title: 'Refused', body: '', tags: [] },
    });
    expect(refused.status).toBe(503);
    expect(await newcomer.head()).toBe(head);
    // The last write may have been stored without an answer.
    const late = reader.subjects().slice(before.length);
    expect(late.filter((subject) => [...before, ...instead].includes(subject))).toEqual([]);
  },
  120_000,
);

withStandby(
  'the operator decides for what is left, and a cursor of what was lost is refused',
  async () => {
    const last = reader.lastId();
    await Promise.all(beside.map(({ process }) => process.kill('SIGTERM')));
    await installation[Symbol.asyncDispose]();
    expect(await operateBy(['log', 'renew'], installation.settings)).toContain('is now the log');
    const again = resources.use(
      await startInstallation({ ownProcess: true, settings: operated.settings, admin: installation.admin }),
    );
    const asked = await askAs(again);
    const writer = startWriter(asked);
    await writer.more(3);
    await writer.end();
    const refused = await asked.ask('GET', `/events?after=${last}`, { token: asked.token });
    expect([refused.status, refused.body]).toEqual([
      400,
      expect.objectContaining({ code: 'cursor_of_lost_history' }),
    ]);
  },
  120_000,
);
