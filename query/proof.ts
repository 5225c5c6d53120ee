import type { LastingAccess } from '#edge/authenticate/resource-server.ts';
import type { Health } from '#edge/http/health.ts';
import type { Position } from '#kernel/base/brands.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { ErasureList } from '#shared/erasure/erasure-list.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import type { SeeingLog } from '#shared/event-log/own-cursor.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import type { Log } from '#shared/log.ts';
import type { Caller } from '#shared/policy.ts';
import type { AuditStatus } from '#shared/rest/audit-status.ts';
import type { RecordedEvent as ShownEvent } from '#shared/rest/recorded-event.ts';
import type { KindReads } from './reads/reads.ts';
import type { Reader } from './rest/read-routes.ts';
import type { PastOptions } from './time-travel/options.ts';

/** The dependencies of the proof's part of the interface. */
export type ProofDependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: Pick<
    EventLog,
    'identity' | 'namesEvents' | 'remembered' | 'eventAt' | 'head' | 'read' | 'follow'
  >;
  readonly blobs: Pick<Blobs, 'find'>;
  readonly erasures: Pick<ErasureList, 'read' | 'path'>;
  /** Wraps the key that signs exports. */
  readonly masterKey: MasterKey;
  readonly health: Pick<Health, 'onDrain'>;
  readonly access: Pick<LastingAccess, 'refusalNow'>;
  readonly log: Log;
  readonly clock: Clock;
};

export type PlaceInChain = NonNullable<ShownEvent['chain']>;

/** The proofs of single things, which GraphQL answers as texts. */
export type Proofs = {
  ofEvent(caller: Caller, id: string): Promise<string>;
  /** Up to a position, or to the newest checkpoint. */
  ofItem(kind: string, reader: Reader, upTo: Position | undefined): Promise<string>;
};

/** The dependencies of proofs of single things. */
export type Proving = PastOptions &
  Pick<ProofDependencies, 'masterKey'> & {
    readonly changes: Pick<ChangeStream, 'head'>;
    readonly kinds: Pick<KindReads, 'item'>;
  };

/** The parts of the proof that other reads show. */
export type Proof = {
  readStatus(
    from: { readonly pool: Pool; readonly eventLog: SeeingLog & Pick<EventLog, 'head'> },
    caller: Caller,
  ): Promise<AuditStatus>;
  placeInChain(pool: Pool, event: RecordedEvent): Promise<PlaceInChain>;
  proofsOf(dependencies: Proving): Proofs;
};
