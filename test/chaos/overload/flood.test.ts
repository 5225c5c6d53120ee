import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { scaled } from '../../../testing/load.ts';
import { until } from '../../../testing/until.ts';
import { lockArticles } from './lock-articles.ts';
import { allClosed, head, openMany } from './sockets.ts';
import { test as base } from './target.ts';

const PLACES = 20;
const WAVES = 10;
const PER_WAVE = 100;
const WAVE_EVERY_MS = 20;
const PATIENCE_MS = 60_000;
const TEST_MS = scaled(120_000);
const GROWTH_MAX_MIB = 200;

const test = base.extend(
  'targetSettings',
  { scope: 'file' },
  {
    REQUESTS_MAX: String(PLACES),
    EVENT_LOOP_LAG_MAX_MS: '100',
  },
);

/** A slow query whose answer is not shared. */
const query = (index: number): string => {
  const body = JSON.stringify({
    query: `{ articles: posts(limit: 100) { id title body x${index}: id author { id name } } }`,
  });
  return (
    head(
      'POST /graphql',
      'Content-Type: application/json',
      'Connection: close',
      `Content-Length: ${body.length}`,
    ) + body
  );
};

test(
  `${WAVES * PER_WAVE} requests sent without waiting for answers are served, or refused with Retry-After, each in time`,
  async ({ target }) => {
    using memory = target.watchMemory();
    using many = openMany(target, 0);
    {
      // However fast the machine is, admitted requests take a while.
      await using _lock = await lockArticles(target.databaseUrl);
      for (let wave = 0; wave < WAVES; wave += 1) {
        // An open loop: requests come at their own rate, independent of answers.
        await delay(WAVE_EVERY_MS);
        for (let index = 0; index < PER_WAVE; index += 1) many.add().socket.write(query(many.all.length));
      }
      await until(
        () => many.all.filter(({ statuses }) => statuses().length === 0).length,
        (waiting) => waiting <= PLACES,
        PATIENCE_MS,
      );
    }
    await allClosed(many, PATIENCE_MS);
    const counts = Map.groupBy(many.all, ({ statuses }) => statuses().join());
    const summary = [...counts].map(([status, those]) => `${those.length} × ${status}`).join(', ');
    console.log(`flood: ${summary}; ${memory.beforeMib} MiB before, at most ${memory.peakMib()} MiB`);
    expect(new Set(counts.keys())).toEqual(new Set(['200', '503']));
    expect(counts.get('503')?.filter(({ text }) => !/retry-after: 1\r\n/i.test(text()))).toEqual([]);
    expect(memory.peakMib() - memory.beforeMib).toBeLessThan(GROWTH_MAX_MIB);
    await target.recovered();
  },
  TEST_MS,
);

test(
  'a process without CPU time sheds load, answers health checks, and recovers',
  async ({ target }) => {
    const before = await target.metric('annals_http_requests_shed_total', 'reason="lag"');
    {
      using _starved = starve(target.pid);
      await until(
        async () => [(await target.ask('/articles')).status, (await target.ask('/livez')).status],
        ([status, alive]) => status === 503 && alive === 200,
        PATIENCE_MS,
      );
    }
    await target.recovered();
    expect(await target.metric('annals_http_requests_shed_total', 'reason="lag"')).toBeGreaterThan(before);
  },
  TEST_MS,
);

/** Lets a process run only a little now and then, until the scope ends. */
const starve = (pid: number): Disposable => {
  const run = () => {
    process.kill(pid, 'SIGCONT');
    timer = setTimeout(pause, RUN_MS);
  };
  const pause = () => {
    process.kill(pid, 'SIGSTOP');
    timer = setTimeout(run, PAUSE_MS);
  };
  let timer = setTimeout(pause, RUN_MS);
  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
      process.kill(pid, 'SIGCONT');
    },
  };
};

const [RUN_MS, PAUSE_MS] = [50, 300];
