import type { Registry } from 'prom-client';
import type { Position } from '#kernel/base/brands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { poll } from '#shared/clock/poll.ts';
import { coalesce } from '#shared/database/coalesce.ts';
import { observePool } from '#shared/database/observe-pool.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import { PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { type EventLog, START } from '#shared/event-log/event-log.ts';
import { UNCOMPILED } from '../rows/searches.ts';

/**
 * The connections for reads: one pool for REST, and one for GraphQL, whose sessions have planner settings of
 * their own.
 */
export type ReadPools = { readonly pool: Pool; readonly graphqlPool: Pool };

/** A server that replays the commits of the primary, with some lag. */
export type Replica = AsyncDisposable & {
  /** Host and port, the part of its URL that may be shown. */
  readonly name: string;
  readonly pools: ReadPools;
  /**
   * Reads the position of the read model there. Fails if the server is unavailable, or not or no longer a
   * replica of this installation.
   */
  look(): Promise<Position>;
  /**
   * True if the read model there has a position, as last seen or within the timeout. Fails as `look` does.
   */
  reaches(position: Position, timeoutMs: number): Promise<boolean>;
};

type Options = {
  readonly url: string;
  readonly eventLog: Pick<EventLog, 'identity'>;
  readonly metrics: Registry;
  readonly clock: Clock;
};

const CONNECTIONS_MAX = 4;
const LOOK_AGAIN_MS = 3;
/** An unresponsive server must not delay reads. */
const ANSWER_WITHIN_MS = 1_000;

const READ_REPLAYED = {
  name: 'replayed-position',
  text: `select pg_is_in_recovery() as "isReplica",
    (select position from public.follower_checkpoint where follower = $1 and log = $2) as position`,
  query_timeout: ANSWER_WITHIN_MS,
};
type Replayed = { readonly isReplica: boolean; readonly position: Position | null };

export const openReplica = ({ url, eventLog, metrics, clock }: Options): Replica => {
  const { hostname, port } = new URL(url);
  const name = `${hostname}:${port || '5432'}`;
  const limits = {
    url,
    connectionsMax: CONNECTIONS_MAX,
    settings: UNCOMPILED,
    clock,
    hasSeveralServers: true,
  };
  const pool = openPool({ ...limits, applicationName: 'annals-replica' });
  const graphqlPool = openPool({ ...limits, applicationName: 'annals-replica-graphql' });
  // One connection for all checks, so that statements of reads never delay them.
  const looking = openPool({ ...limits, applicationName: 'annals-replica-position', connectionsMax: 1 });
  observePool(metrics, `annals-replica ${name}`, pool);
  observePool(metrics, `annals-replica-graphql ${name}`, graphqlPool);
  /** Replay only advances, but a restarted server may be behind where it was. */
  let reached: Position | undefined;
  const ask = coalesce<null, Position>(async () => {
    try {
      const { rows } = await looking.query<Replayed>({
        ...READ_REPLAYED,
        values: [PROJECTOR, eventLog.identity],
      });
      // A promoted server continues by itself from where it was.
      if (rows[0]?.isReplica !== true) throw new Error(`${name} accepts writes, so it is not a replica`);
      if (rows[0].position === null) throw new Error(`${name} has no position in this event log yet`);
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
      return await poll(
        { clock, everyMs: LOOK_AGAIN_MS, withinMs: timeoutMs },
        async () => (await look()) >= position,
      );
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([pool, graphqlPool, looking].map((each) => each[Symbol.asyncDispose]()));
    },
  };
};
