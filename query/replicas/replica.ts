import { setTimeout as delay } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import type { Position } from '#shared/brands.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import { observePool } from '#shared/database/observe-pool.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { PROJECTOR } from '#shared/read-model/read-model.ts';
import { UNCOMPILED } from '../searches.ts';

/**
 * What reads are run on: lists and items of REST, and operations of GraphQL, whose connections are set up for
 * plans of their own.
 */
export type ReadPools = { readonly pool: Pool; readonly graphqlPool: Pool };

/** A server that replays what the primary commits, some time later. */
export type Replica = AsyncDisposable & {
  /** Host and port: what may be shown of its URL. */
  readonly name: string;
  readonly pools: ReadPools;
  /**
   * Asks how far the read model there is. Fails if the server cannot be asked, or is no replica of this
   * installation (any more).
   */
  look(): Promise<Position>;
  /**
   * Whether the read model there has everything up to a position, by the last look or soon. Fails as `look`
   * does.
   */
  reaches(position: Position, timeoutMs: number): Promise<boolean>;
};

type Options = {
  readonly url: string;
  readonly eventLog: Pick<EventLog, 'identity'>;
  readonly metrics: Registry;
};

const CONNECTIONS_MAX = 4;
const LOOK_AGAIN_MS = 3;
/** A server that has fallen silent must not hold up reads. */
const ANSWER_WITHIN_MS = 1_000;

const READ_REPLAYED = {
  name: 'replayed-position',
  text: `select pg_is_in_recovery() as "isReplica",
    (select position from public.follower_checkpoint where follower = $1 and log = $2) as position`,
  query_timeout: ANSWER_WITHIN_MS,
};
type Replayed = { readonly isReplica: boolean; readonly position: Position | null };

export const openReplica = ({ url, eventLog, metrics }: Options): Replica => {
  const { hostname, port } = new URL(url);
  const name = `${hostname}:${port || '5432'}`;
  const limits = { url, connectionsMax: CONNECTIONS_MAX, settings: UNCOMPILED };
  const pool = openPool({ ...limits, applicationName: 'annals-replica' });
  const graphqlPool = openPool({ ...limits, applicationName: 'annals-replica-graphql' });
  // One for all who look, so that statements of reads never hold it up.
  const looking = openPool({ ...limits, applicationName: 'annals-replica-position', connectionsMax: 1 });
  observePool(metrics, `annals-replica ${name}`, pool);
  observePool(metrics, `annals-replica-graphql ${name}`, graphqlPool);
  /** Replay goes forward alone, but a server that starts again may show less than before it ended. */
  let reached: Position | undefined;
  const ask = coalesce<null, Position>(async () => {
    try {
      const { rows } = await looking.query<Replayed>({
        ...READ_REPLAYED,
        values: [PROJECTOR, eventLog.identity],
      });
      // One that was promoted goes on by itself, from where it was.
      if (rows[0]?.isReplica !== true) throw new Error(`${name} takes writes: it is no replica (any more)`);
      if (rows[0].position === null) throw new Error(`${name} has nothing of this event log (yet)`);
      reached = rows[0].position;
      return new Map([[null, reached]]);
    } catch (error) {
      reached = undefined;
      throw error;
    }
  });
  const look = async (): Promise<Position> => (await ask(null)) ?? START;
  return {
    name,
    pools: { pool, graphqlPool },
    look,
    async reaches(position, timeoutMs) {
      if (reached !== undefined && reached >= position) return true;
      const endMs = performance.now() + timeoutMs;
      for (;;) {
        if ((await look()) >= position) return true;
        if (performance.now() >= endMs) return false;
        await delay(LOOK_AGAIN_MS);
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([pool, graphqlPool, looking].map((each) => each[Symbol.asyncDispose]()));
    },
  };
};
