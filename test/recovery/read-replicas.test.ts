// Over 200 lines, because every failure of a replica is tried on the one primary and the two replicas that
// are set up here.
import { randomUUID } from 'node:crypto';
import { describe, expect } from 'vitest';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { publishing } from '#domain/publishing.ts';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { restClientOf } from '../../testing/http/rest-client.ts';
import { createAdmin, PLENTY } from '../../testing/installation.ts';
import { until } from '../../testing/until.ts';
import { tokenOf } from '../chaos/steady-load.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { startRole } from '../engines/role-process.ts';
import {
  type SystemPostgres,
  startSystemPostgres,
  systemPostgresMissing,
} from '../engines/system-postgres.ts';
import { testOnServer } from './operated-fixture.ts';

if (systemPostgresMissing !== undefined) console.warn(`Skipped: ${systemPostgresMissing}.`);

const nameOf = ({ url }: SystemPostgres): string => new URL(url).host;
const checkpointsOf = ({ url }: SystemPostgres): Promise<string> =>
  inDatabase(url, async (client) => {
    const { rows } = await client.query(
      'select follower, position from public.follower_checkpoint order by follower',
    );
    return JSON.stringify(rows);
  });
const paused = async (replica: SystemPostgres, work: () => Promise<void>): Promise<void> => {
  const say = (text: string) => inDatabase(replica.url, async (client) => void (await client.query(text)));
  await say('select pg_wal_replay_pause()');
  try {
    await work();
  } finally {
    await say('select pg_wal_replay_resume()');
  }
};

const test = testOnServer
  .extend('replicas', { scope: 'file' }, async ({ postgres: primary }, { onCleanup }) => {
    const resources = new AsyncDisposableStack();
    onCleanup(() => resources.disposeAsync());
    const replicas = [resources.use(await startSystemPostgres()), resources.use(await startSystemPostgres())];
    for (const replica of replicas) await replica.followPrimary(primary.url);
    return replicas as [SystemPostgres, SystemPostgres];
  })
  .extend('annals', { scope: 'file' }, async ({ postgres: primary, replicas }, { onCleanup }) => {
    const resources = new AsyncDisposableStack();
    onCleanup(() => resources.disposeAsync());
    const dataDir = resources.use(await temporaryDataDir());
    const [port, metricsPort] = [await freePort(), await freePort()];
    const url = `http://127.0.0.1:${port}`;
    const settings = {
      ...PLENTY,
      DATABASE_URL: primary.url,
      READ_DATABASE_URL: replicas.map((each) => each.url).join(),
      DATA_DIR: dataDir.path,
      MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      PUBLIC_URL: url,
    };
    const admin = await createAdmin(settings, publishing);
    await resources.use(startRole('main.ts', settings)).logged('Annals is ready.');
    return { url, admin, fetch, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` };
  })
  .extend('ask', { scope: 'file' }, ({ annals }) => restClientOf(annals))
  .extend('token', { scope: 'file' }, ({ annals }) => until(() => tokenOf(annals), Boolean))
  .extend('metrics', { scope: 'file' }, ({ annals: { metricsUrl } }) => {
    const metric = async (name: string): Promise<number> => {
      const lines = (await (await fetch(metricsUrl)).text()).split('\n');
      return Number(lines.find((each) => each.startsWith(`${name} `))?.slice(name.length + 1) ?? 0);
    };
    const untilMetric = (name: string, replica: SystemPostgres, isGood: (value: number) => boolean) =>
      until(() => metric(`annals_read_replica_${name}{replica="${nameOf(replica)}"}`), isGood, 60_000);
    return {
      readsOn: (server: string) => metric(`annals_read_replica_reads_total{server="${server}"}`),
      untilServing: (replica: SystemPostgres, wanted: 0 | 1) =>
        untilMetric('serving', replica, (now) => now === wanted),
      untilLag: (replica: SystemPostgres, isGood: (seconds: number) => boolean) =>
        untilMetric('lag_seconds', replica, isGood),
    };
  })
  .extend('write', { scope: 'file' }, ({ ask, token }) => async (title: string) => {
    const body = { title, body: 'x', tags: [], publish: true };
    const { headers, status } = await ask('POST', '/articles', { token, body });
    expect(status).toBe(201);
    return {
      path: headers.get('location') ?? '',
      headers: { 'consistency-token': headers.get('consistency-token') ?? '' },
    };
  })
  .extend('titleOf', { scope: 'file' }, ({ ask }) => async (path: string, headers = {}) => {
    const { status, body } = await ask('GET', path, { headers });
    return status === 200 ? (body as { title: string }).title : status;
  });

/** One primary, and two streaming replicas for reads. */
describe.skipIf(systemPostgresMissing !== undefined)('reads on replicas', () => {
  test('both answer lists, items and GraphQL, and each read with a token sees its write', async ({
    ask,
    metrics: { readsOn, untilServing },
    replicas,
    titleOf,
    write,
  }) => {
    for (const replica of replicas) await untilServing(replica, 1);
    for (let index = 0; index < 10; index += 1) {
      const title = randomUUID();
      const { path, headers } = await write(title);
      expect(await titleOf(path, headers)).toBe(title);
      const listed = await ask('GET', '/articles?limit=1', { headers });
      expect(listed.body).toMatchObject([{ title }]);
      const query = { query: '{ posts(limit: 1) { title author { name } } }' };
      expect((await ask('POST', '/graphql', { body: query, headers })).body).toMatchObject({
        data: { posts: [{ title }] },
      });
    }
    for (const replica of replicas) expect(await readsOn(nameOf(replica))).toBeGreaterThan(0);
  });

  test('no answer is older than the one before, even without a token, during writes', async ({
    ask,
    titleOf,
    token,
    write,
  }) => {
    const { path, headers } = await write('0');
    expect(await titleOf(path, headers)).toBe('0');
    let written = 0;
    const writing = (async () => {
      for (written = 1; written <= 40; written += 1)
        await ask('PATCH', path, { token, body: { title: String(written) } });
    })();
    let seen = 0;
    const faults: string[] = [];
    while (written <= 40) {
      const title = Number(await titleOf(path));
      if (title < seen) faults.push(`${title} after ${seen}`);
      seen = title;
    }
    await writing;
    expect(faults).toEqual([]);
  });

  test('a lagging replica is not used, its lag is reported, and it returns', async ({
    metrics: { readsOn, untilServing, untilLag },
    replicas,
    titleOf,
    write,
  }) => {
    const [one, other] = replicas;
    await paused(one, async () => {
      const title = randomUUID();
      const { path, headers } = await write(title);
      expect(await titleOf(path, headers)).toBe(title);
      await untilServing(one, 0);
      await untilLag(one, (lag) => lag > 0.5);
      const before = await readsOn(nameOf(other));
      for (let index = 0; index < 4; index += 1) expect(await titleOf(path)).toBe(title);
      expect(await readsOn(nameOf(other))).toBeGreaterThan(before);
    });
    await untilServing(one, 1);
  });

  test('without any replica, reads go to the primary', async ({
    metrics: { readsOn, untilServing },
    replicas,
    titleOf,
    write,
  }) => {
    const title = randomUUID();
    await paused(replicas[0], () =>
      paused(replicas[1], async () => {
        const { path, headers } = await write(title);
        const before = await readsOn('primary');
        expect(await titleOf(path, headers)).toBe(title);
        expect(await readsOn('primary')).toBeGreaterThan(before);
      }),
    );
    for (const replica of replicas) await untilServing(replica, 1);
  });

  test('a lost replica fails no read, and neither does a promoted one', async ({
    postgres: primary,
    metrics: { untilServing, untilLag },
    replicas,
    titleOf,
    write,
  }) => {
    const { path } = await write('still there');
    // Both have everything that the primary has, and the process knows.
    for (const replica of replicas) {
      await until(
        async () => (await checkpointsOf(primary)) === (await checkpointsOf(replica)),
        Boolean,
        60_000,
      );
      await untilServing(replica, 1);
      await untilLag(replica, (lag) => lag === 0);
    }
    // Without writes, the position of the primary does not reveal the state of a replica.
    await inDatabase(replicas[0].url, async (client) => void (await client.query('select pg_promote()')));
    await untilServing(replicas[0], 0);
    expect(await titleOf(path)).toBe('still there');
    const reading = Promise.all(Array.from({ length: 20 }, () => titleOf(path)));
    await replicas[1].destroy();
    expect(new Set(await reading)).toEqual(new Set(['still there']));
    expect(await titleOf(path)).toBe('still there');
    await untilServing(replicas[1], 0);
    const title = randomUUID();
    const { path: later, headers } = await write(title);
    expect(await titleOf(later, headers)).toBe(title);
  });
});
