import { expect } from 'vitest';
import { scaled } from '../../../testing/load.ts';
import { until } from '../../../testing/until.ts';
import { lockArticles } from './lock-articles.ts';
import { head, openMany } from './sockets.ts';
import { test as base, type Target } from './target.ts';

const REQUESTS_MAX = 300;
/** Together more than the process admits at once. */
const [READERS, MORE_READERS] = [200, 300];
/** Requests that have a connection wait for the table. */
const CONNECTED_MAX = 20;
const PATIENCE_MS = 60_000;
const TEST_MS = scaled(120_000);
const GROWTH_MAX_MIB = 200;

const test = base.extend('targetSettings', { scope: 'file' }, { REQUESTS_MAX: String(REQUESTS_MAX) });

/** Requests that need no database connection. */
const askElsewhere = async (target: Target): Promise<readonly (readonly [number, string | null])[]> => {
  const headers = {
    authorization: `Bearer ${target.administrator.token}`,
    'content-type': 'application/json',
  };
  const person = JSON.stringify({ name: 'Ada', email: 'ada@example.com', role: 'reader' });
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: 'nobody',
    client_secret: 'x',
  });
  const answers = await Promise.all([
    target.ask('/users', { method: 'POST', headers, body: person }),
    target.ask('/token', { method: 'POST', body: form }),
    target.ask('/clients', { headers }),
  ]);
  return answers.map((answer) => [answer.status, answer.headers.get('retry-after')]);
};

test(
  'while all database connections are taken, readers, writers and token requests are refused in time, and served once connections are free',
  async ({ target }) => {
    using memory = target.watchMemory();
    using many = openMany(target, 0);
    // Different requests, so that none shares a statement.
    const read = (count: number) => {
      for (let asked = 0; asked < count; asked += 1)
        many.add().socket.write(head(`GET /articles?tag=${many.all.length}`, 'Connection: close'));
    };
    {
      await using _lock = await lockArticles(target.databaseUrl);
      read(READERS);
      await until(
        () => target.metric('annals_database_waiting', 'pool="annals"'),
        (waiting) => waiting > 0,
        PATIENCE_MS,
      );
      const elsewhere = askElsewhere(target);
      read(MORE_READERS);
      expect((await target.ask('/livez')).status).toBe(200);
      expect(await target.metric('annals_http_requests_in_flight')).toBeLessThanOrEqual(REQUESTS_MAX);
      await until(
        () => many.all.filter(({ statuses }) => statuses().length === 0).length,
        (left) => left <= CONNECTED_MAX,
        PATIENCE_MS,
      );
      const refused = many.all.filter(({ statuses }) => statuses().length > 0).map(({ text }) => text());
      expect(
        refused.filter((text) => !/^HTTP\/1\.1 503 [\s\S]*retry-after: 1\r\n/i.test(text)).slice(0, 5),
      ).toEqual([]);
      // Requests over the limit are refused at once, and those waiting for a connection after a timeout.
      const codes = new Set(refused.map((text) => /"code":"(\w+)"/.exec(text)?.[1]));
      expect(codes).toEqual(new Set(['overloaded', 'unavailable']));
      expect(await elsewhere).toEqual([
        [503, '1'],
        [503, '1'],
        [503, '1'],
      ]);
    }
    await Promise.all(many.all.map(({ closed }) => closed));
    console.log(`no connections: ${memory.beforeMib} MiB before, at most ${memory.peakMib()} MiB`);
    expect(memory.peakMib() - memory.beforeMib).toBeLessThan(GROWTH_MAX_MIB);
    await target.recovered();
    expect(await target.metric('annals_database_waiting')).toBe(0);
  },
  TEST_MS,
);
