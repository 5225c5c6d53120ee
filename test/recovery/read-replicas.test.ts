import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { freePort } from '#shared/database/embedded/free-port.ts';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import { createAdmin, PLENTY } from '../../testing/installation.ts';
import { until } from '../../testing/until.ts';
import { tokenOf } from '../chaos/steady-load.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { type RoleProcess, startRole } from '../engines/role-process.ts';
import {
  type SystemPostgres,
  startSystemPostgres,
  systemPostgresMissing,
} from '../engines/system-postgres.ts';

if (systemPostgresMissing !== undefined) console.warn(`Skipped: ${systemPostgresMissing}.`);

/** One primary, and two streaming replicas for reads. */
describe.skipIf(systemPostgresMissing !== undefined)('reads on replicas', () => {
  const resources = new AsyncDisposableStack();
  let primary: SystemPostgres;
  let replicas: readonly [SystemPostgres, SystemPostgres];
  let annals: RoleProcess;
  let ask: RestClient;
  let token: string;
  let metricsUrl: string;

  beforeAll(async () => {
    primary = resources.use(await startSystemPostgres());
    await primary.start();
    await primary.createDatabase();
    replicas = [resources.use(await startSystemPostgres()), resources.use(await startSystemPostgres())];
    for (const replica of replicas) await replica.followPrimary(primary.url);
    const dataDir = resources.use(await temporaryDataDir());
    const [port, metricsPort] = [await freePort(), await freePort()];
    const url = `http://127.0.0.1:${port}`;
    metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
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
    annals = resources.use(startRole('main.ts', settings));
    await annals.logged('Annals is ready.');
    const site = { url, admin, fetch };
    ask = restClientOf(site);
    token = await until(() => tokenOf(site), Boolean);
  });
  afterAll(() => resources.disposeAsync());

  const nameOf = ({ url }: SystemPostgres): string => new URL(url).host;
  const metric = async (name: string): Promise<number> => {
    const line = (await (await fetch(metricsUrl)).text())
      .split('\n')
      .find((each) => each.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? 0);
  };
  const serving = (replica: SystemPostgres) =>
    metric(`annals_read_replica_serving{replica="${nameOf(replica)}"}`);
  const readsOn = (server: string) => metric(`annals_read_replica_reads_total{server="${server}"}`);
  const untilServing = (replica: SystemPostgres, wanted: 0 | 1) =>
    until(
      () => serving(replica),
      (now) => now === wanted,
      60_000,
    );
  const checkpointsOf = ({ url }: SystemPostgres): Promise<string> =>
    inDatabase(url, async (client) => {
      const { rows } = await client.query(
        'select follower, position from public.follower_checkpoint order by follower',
      );
      return JSON.stringify(rows);
    });
  /** It has everything that the primary has, and the process knows. */
  const untilReplayed = async (replica: SystemPostgres): Promise<void> => {
    await until(
      async () => (await checkpointsOf(primary)) === (await checkpointsOf(replica)),
      Boolean,
      60_000,
    );
    await untilServing(replica, 1);
    await until(
      () => metric(`annals_read_replica_lag_seconds{replica="${nameOf(replica)}"}`),
      (lag) => lag === 0,
      60_000,
    );
  };
  const write = async (title: string) => {
    const made = await ask('POST', '/articles', {
      token,
      body: { title, body: 'x', tags: [], publish: true },
    });
    expect(made.status).toBe(201);
    return {
      path: made.headers.get('location') ?? '',
      headers: { 'consistency-token': made.headers.get('consistency-token') ?? '' },
    };
  };
  const titleOf = async (path: string, headers = {}): Promise<unknown> => {
    const { status, body } = await ask('GET', path, { headers });
    return status === 200 ? (body as { title: string }).title : status;
  };
  const paused = async (replica: SystemPostgres, work: () => Promise<void>): Promise<void> => {
    const say = (text: string) => inDatabase(replica.url, async (client) => void (await client.query(text)));
    await say('select pg_wal_replay_pause()');
    try {
      await work();
    } finally {
      await say('select pg_wal_replay_resume()');
    }
  };

  test('both answer lists, items and GraphQL, and each read with a token sees its write', async () => {
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

  test('no answer is older than the one before, even without a token, during writes', async () => {
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

  test('a lagging replica is not used, its lag is reported, and it returns', async () => {
    const [one, other] = replicas;
    await paused(one, async () => {
      const title = randomUUID();
      const { path, headers } = await write(title);
      expect(await titleOf(path, headers)).toBe(title);
      await untilServing(one, 0);
      await until(
        () => metric(`annals_read_replica_lag_seconds{replica="${nameOf(one)}"}`),
        (lag) => lag > 0.5,
        60_000,
      );
      const before = await readsOn(nameOf(other));
      for (let index = 0; index < 4; index += 1) expect(await titleOf(path)).toBe(title);
      expect(await readsOn(nameOf(other))).toBeGreaterThan(before);
    });
    await untilServing(one, 1);
  });

  test('without any replica, reads go to the primary', async () => {
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

  test('a lost replica fails no read, and neither does a promoted one', async () => {
    const { path } = await write('still there');
    for (const replica of replicas) await untilReplayed(replica);
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
