import { median, printTable, quantilesOf } from '../table.ts';
import { besides, type Contender, type Taken, takeTurns } from '../turns.ts';
import type { WritingSide } from './installation.ts';
import { residentBytes } from './memory.ts';
import { RAW, type Served, startServers } from './servers.ts';

export type FanOut = {
  readonly contenders: readonly string[];
  /** The numbers of subscribers of each server. */
  readonly sizes: readonly number[];
  /** At this number of subscribers, many events are sent at once as well. */
  readonly streamTo: number;
  readonly eventsAtOnce: number;
} & Rounds;
type Rounds = Parameters<typeof takeTurns>[1];

/** The subscribers before memory is measured, so that all code has been loaded. */
const FIRST_SUBSCRIBERS = 200;
const IDLE_MIN = 5_000;
const TOKENS_AT_ONCE = 100;

/** Each contender keeps its subscribers during the turns of others. */
export const measureFanOut = async (side: WritingSide, options: FanOut): Promise<void> => {
  await using running = new AsyncDisposableStack();
  const served = await startServers(side, options.contenders, running);
  const sizes = options.sizes.toSorted((a, b) => b - a);
  const tokens = await tokensOf(side, Math.max(FIRST_SUBSCRIBERS, ...sizes));
  const idle = await measureIdle(served, tokens.slice(0, sizes[0]));
  for (const size of sizes) {
    for (const { crowd } of served) await crowd.resize(tokens.slice(0, size));
    await measureCase(
      `one event to ${size.toLocaleString('en')}`,
      served,
      { size, events: 1, idle: size === sizes[0] ? idle : undefined },
      options,
    );
    const events = options.eventsAtOnce;
    if (size === options.streamTo)
      await measureCase(
        `${events} events at once to ${size.toLocaleString('en')}`,
        served,
        { size, events },
        options,
      );
  }
};

/** Each subscriber is another user. */
const tokensOf = async (side: WritingSide, count: number): Promise<readonly string[]> => {
  const tokens: string[] = [];
  while (tokens.length < count)
    tokens.push(
      ...(await Promise.all(
        Array.from({ length: TOKENS_AT_ONCE }, (_, place) =>
          side.tokenOf(FIRST_USER + tokens.length + place),
        ),
      )),
    );
  return tokens.slice(0, count);
};

const FIRST_USER = 1_000_000;

/** The bytes of one more idle connection; with few connections, V8's own reserves would hide them. */
const measureIdle = async (
  served: readonly Served[],
  tokens: readonly string[],
): Promise<ReadonlyMap<Served, number> | undefined> => {
  if (tokens.length < IDLE_MIN) return undefined;
  const idle = new Map<Served, number>();
  for (const server of served) {
    await server.crowd.resize(tokens.slice(0, FIRST_SUBSCRIBERS));
    await letHappen(server, FIRST_SUBSCRIBERS, 1);
    const before = await residentBytes(server.pid);
    await server.crowd.resize(tokens);
    idle.set(server, ((await residentBytes(server.pid)) - before) / (tokens.length - FIRST_SUBSCRIBERS));
  }
  return idle;
};

/** Triggers events at once, and waits until every subscriber has received all. */
const letHappen = async ({ crowd, happen }: Served, size: number, events: number) => {
  const { received } = await crowd.expect(size * events);
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: events }, happen));
  const { firstMs, lastMs } = await received;
  return { spreadMs: lastMs - firstMs, elapsedMs: performance.now() - startedMs };
};

type Case = {
  readonly size: number;
  readonly events: number;
  readonly idle?: ReadonlyMap<Served, number> | undefined;
};

/** Results of a contender's turn beside the common ones. */
type Aside = { readonly begunRate: number; readonly bytes: number };

/** The case, measured at each server in turns; the first is ours. */
export const measureCase = async (
  title: string,
  served: readonly Served[],
  { size, events, idle }: Case,
  options: Rounds,
): Promise<void> => {
  const asides = new Map<Served, Aside[]>(served.map((server) => [server, []]));
  const contenderOf = (server: Served): Contender => ({
    title: server.title,
    pid: server.pid,
    ...(server.hasOwnDatabase && { hasOwnDatabase: true }),
    async run(durationMs) {
      const [spreads, latencies]: [number[], number[]] = [[], []];
      await server.crowd.counts();
      const startedMs = performance.now();
      while (performance.now() < startedMs + durationMs) {
        const { spreadMs, elapsedMs } = await letHappen(server, size, events);
        spreads.push(spreadMs);
        latencies.push(elapsedMs);
      }
      const counted = await server.crowd.counts();
      const rateIn = (times: readonly number[]) =>
        (counted.messages * 1_000) / times.reduce((sum, ms) => sum + ms, 0);
      asides.get(server)?.push({ begunRate: rateIn(spreads), bytes: counted.bytes / counted.messages });
      const quantile = quantilesOf(latencies);
      return {
        count: counted.messages,
        rate: rateIn(latencies),
        p50Ms: quantile(0.5),
        p99Ms: quantile(0.99),
      };
    },
  });
  const measured = [...(await takeTurns(served.map(contenderOf), options)).values()];
  const rows = served.map((server, place): Row => {
    // The first turn was the warm-up.
    const turns = asides.get(server)?.slice(1) ?? [];
    const begunRate = median(turns.map((turn) => turn.begunRate));
    return {
      title: server.title,
      ...(measured[place] as Taken),
      begunRate,
      bytes: turns[0]?.bytes ?? 0,
      idleBytes: idle?.get(server),
    };
  });
  printRows(title, rows);
};

type Row = Taken & Aside & { readonly title: string; readonly idleBytes: number | undefined };

/**
 * Measured from the event, which is a write through all roles for ours and a call for the others; and from
 * the first subscriber's message, which favours contenders that have executed for all by then.
 */
const printRows = (title: string, rows: readonly Row[]): void => {
  const raw = rows.find((row) => row.title === RAW);
  const [ours] = rows;
  const rounded = (value: number): string => Math.round(value).toLocaleString('en');
  printTable(
    [
      title,
      'deliveries/s',
      'ours is … times',
      'once begun',
      'raw is 1',
      'to the last, p50 ms',
      'p99 ms',
      'server µs each',
      'database µs',
      'ours is … times',
      'bytes',
      'KiB idle',
    ],
    rows.map((row) => {
      const name = row.title.startsWith('ours') ? undefined : `${title}, beside ${row.title}`;
      const oursIs = (of: 'rate' | 'CPU') => (ours === undefined ? '' : besides(of, ours, row, name));
      return [
        row.title,
        ...[rounded(row.rate), oursIs('rate')],
        ...[
          rounded(row.begunRate),
          raw === undefined ? '' : `${(row.begunRate / raw.begunRate).toFixed(2)} ×`,
        ],
        ...[row.p50Ms.toFixed(1), row.p99Ms.toFixed(1)],
        row.cpuUs.toFixed(1),
        Number.isNaN(row.databaseUs) ? '' : row.databaseUs.toFixed(1),
        oursIs('CPU'),
        row.bytes.toFixed(0),
        row.idleBytes === undefined ? '' : (row.idleBytes / 1_024).toFixed(1),
      ];
    }),
  );
};
