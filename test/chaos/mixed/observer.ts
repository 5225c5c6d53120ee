import { publishing } from '#domain/publishing.ts';
import { type Cursor, formatCursor } from '#kernel/base/cursor.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { createCodec, type DecodedEvent } from '#shared/events/codec.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { runCommandLine } from '../../../command-line/program.ts';
import { ALL_PARTS } from '../../../parts.ts';
import { readChainEnd } from '../../../proof/stored/blocks.ts';
import { until } from '../../../testing/until.ts';
import { readLedger, readProgress } from '../webhook-ledger.ts';
import type { CheckpointMove, History, LedgerEntry } from './history.ts';
import type { Site } from './site.ts';
import { readMoves, recordMoves, stopRecording } from './watch.ts';

/** An observer with direct connections to the engines, independent of the roles. */
type Observer = AsyncDisposable & {
  cursor(): Promise<Cursor>;
  /** Waits until all work is done. */
  settled(): Promise<void>;
  events(): Promise<readonly DecodedEvent[]>;
  readonly identity: EventLog['identity'];
  ledger(webhookId: number): Promise<readonly LedgerEntry[]>;
  moves(): Promise<readonly CheckpointMove[]>;
  /** Runs the verification as an operator would. */
  prove(): Promise<History['proof']>;
};

/** Long enough for the claim of a dead dispatcher and an open circuit breaker to expire. */
const SETTLED_WITHIN_MS = 150_000;
const FOLLOWERS = ['projector', 'publisher', 'process-manager', 'webhook-planner'];

export const openObserver = async ({ engines, settings }: Site): Promise<Observer> => {
  await using opening = new AsyncDisposableStack();
  const pool = opening.use(
    openPool({ url: engines.straight.databaseUrl, applicationName: 'chaos', connectionsMax: 4 }),
  );
  const eventLog = opening.use(await openEventLog({ url: engines.straight.eventLogUrl, clock: REAL_TIME }));
  const keys = opening.use(
    await openPostgresKeyStore({ pool, masterKey: parseMasterKey(settings.MASTER_KEY ?? '') }),
  );
  const codec = createCodec({ keys, domain: publishing });
  await recordMoves(pool);
  const resources = opening.move();
  return {
    identity: eventLog.identity,
    cursor: async () => formatCursor(eventLog.identity, await eventLog.head()),
    settled: async () =>
      void (await until(
        async () => ({ ...(await progressOf(pool)), head: await eventLog.head() }),
        ({ places, chained, due, replays, head }) =>
          places.every((place) => place === head) && chained === head && due.length === 0 && replays === 0,
        SETTLED_WITHIN_MS,
      )),
    async events() {
      const head = await eventLog.head();
      const events: DecodedEvent[] = [];
      for await (const page of eventLog.follow(START, new AbortController().signal)) {
        events.push(...(await codec.decodeAll(page)));
        if ((events.at(-1)?.position ?? 0) >= head) break;
      }
      return events;
    },
    ledger: (webhookId) => readLedger(pool, webhookId),
    moves: () => readMoves(pool),
    async prove() {
      await stopRecording(pool);
      return prove(settings);
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const progressOf = async (pool: Pool) => {
  const [progress, { rows }, { position: chained }] = await Promise.all([
    readProgress(pool),
    pool.query<{ position: number }>(
      `select position::float8 as position from public.follower_checkpoint where follower = any($1)`,
      [FOLLOWERS],
    ),
    readChainEnd(pool),
  ]);
  return {
    places: rows.map(({ position }) => position),
    chained,
    due: progress?.due ?? [],
    replays: progress?.replays ?? 0,
  };
};

const prove = async (settings: Site['settings']): Promise<History['proof']> => {
  const said: string[] = [];
  const exit = await runCommandLine(['audit', 'verify'], {
    domain: publishing,
    parts: ALL_PARTS,
    environment: { NODE_ENV: 'test', ...settings },
    clock: REAL_TIME,
    signal: new AbortController().signal,
    write: async (line) => void said.push(line),
    complain: (line) => void said.push(line),
  });
  return { exit, said: said.join('\n') };
};
