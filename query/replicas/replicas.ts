import type { Registry } from 'prom-client';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Log } from '#shared/log.ts';
import type { ReadPools } from './replica.ts';

/** The same reads on the primary and on each replica. */
export type Spread<Reads> = {
  /** A part of the reads, made once per server. */
  of<Part>(part: (reads: Reads) => Part): Spread<Part>;
  /**
   * Runs a read on a replica that has everything the primary has now, or on the primary. It may run twice.
   */
  read<Answer>(work: (reads: Reads) => Promise<Answer>): Promise<Answer>;
};

/** The streaming replicas that serve reads of the read model. */
export type Replicas = AsyncDisposable & {
  spread<Reads>(make: (pools: Partial<ReadPools>) => Reads): Spread<Reads>;
};

export type ReplicaOptions = {
  readonly urls: readonly string[];
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity'>;
  readonly metrics: Registry;
  readonly log: Log;
  readonly clock: Clock;
};
