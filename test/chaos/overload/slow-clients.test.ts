import { expect } from 'vitest';
import { scaled } from '../../../testing/load.ts';
import { until } from '../../../testing/until.ts';
import { allClosed, head, type Many, openMany, trickle } from './sockets.ts';
import { test as base, type Target } from './target.ts';

const MANY = 1_000;
/** Far fewer than slow clients, so that those must lose theirs. */
const PLACES = 100;
const BODY_BYTES = 100_000;
const BYTE_EVERY_MS = 200;
const PATIENCE_MS = 60_000;
const ANSWERED = 20;
const TEST_MS = scaled(120_000);
/** Allows for garbage beside retained memory. */
const GROWTH_MAX_MIB = 200;

const test = base.extend(
  'targetSettings',
  { scope: 'file' },
  {
    HEADERS_TIMEOUT_MS: '4000',
    REQUEST_TIMEOUT_MS: '8000',
    REQUESTS_MAX: String(PLACES),
  },
);

/** Other clients send requests, one after the other. */
const answersToOthers = async (target: Target): Promise<readonly number[]> => {
  const statuses: number[] = [];
  while (statuses.length < ANSWERED) statuses.push((await target.ask('/articles')).status);
  return statuses;
};
const ALL_WELL = Array.from({ length: ANSWERED }, () => 200);

const statusesOf = ({ all }: Many) => [...new Set(all.map(({ statuses }) => statuses().join()))];

test(
  `${MANY} clients that send their headers a byte at a time get a timeout, and others are answered meanwhile`,
  async ({ target }) => {
    using memory = target.watchMemory();
    using many = openMany(target, MANY);
    using _sending = trickle(many.all, head('GET /articles', `X-Slow: ${'x'.repeat(1_000)}`), BYTE_EVERY_MS);
    expect(await answersToOthers(target)).toEqual(ALL_WELL);
    await allClosed(many, PATIENCE_MS);
    console.log(`slow headers: ${memory.beforeMib} MiB before, at most ${memory.peakMib()} MiB`);
    expect(statusesOf(many)).toEqual(['408']);
    expect(memory.peakMib() - memory.beforeMib).toBeLessThan(GROWTH_MAX_MIB);
  },
  TEST_MS,
);

test(
  `${MANY} clients that send their bodies a byte at a time lose their places to others`,
  async ({ target }) => {
    using memory = target.watchMemory();
    using many = openMany(target, MANY);
    const begin = head('POST /graphql', 'Content-Type: application/json', `Content-Length: ${BODY_BYTES}`);
    for (const { socket } of many.all) socket.write(begin);
    using _sending = trickle(many.all, ' '.repeat(BODY_BYTES), BYTE_EVERY_MS);
    await until(
      () => target.metric('annals_http_requests_in_flight'),
      (count) => count === PLACES,
    );
    await until(
      async () => (await target.ask('/articles')).status,
      (status) => status === 200,
    );
    expect(await answersToOthers(target)).toEqual(ALL_WELL);
    await allClosed(many, PATIENCE_MS);
    console.log(`slow bodies: ${memory.beforeMib} MiB before, at most ${memory.peakMib()} MiB`);
    // Some never had a place.
    expect(statusesOf(many).filter((each) => each !== '408' && each !== '503')).toEqual([]);
    expect(await target.metric('annals_http_slow_clients_cut_total')).toBeGreaterThan(0);
    expect(memory.peakMib() - memory.beforeMib).toBeLessThan(GROWTH_MAX_MIB);
    await target.recovered();
  },
  TEST_MS,
);
