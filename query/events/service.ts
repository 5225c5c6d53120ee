import type { Domain } from '#kernel/registry/registry.ts';
import type { ChangeStream } from '#shared/change-stream/change-stream.ts';
import { createChangeOpener } from '#shared/change-stream/open-change.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { Snapshots } from '#shared/snapshots/snapshots.ts';
import { createPresentRights } from '#shared/visibility/present-rights.ts';
import type { Proof } from '../proof.ts';
import type { Reads } from '../rest/read-routes.ts';
import { runPrepared } from '../rows/statement.ts';
import type { DeliveriesOf } from './deliveries.ts';
import { eventReads } from './reads.ts';
import { recordedEventReads } from './recorded.ts';
import { createRepresentation, type RepresentEvent } from './representation.ts';
import { createTimes, type Times } from './times.ts';

export type EventDependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: Pick<
    EventLog,
    'identity' | 'namesEvents' | 'eventAt' | 'head' | 'read' | 'follow' | 'page'
  >;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  readonly changes: ChangeStream;
  readonly snapshots: Snapshots;
  /** Undefined without the proof. */
  readonly proof: Pick<Proof, 'placeInChain'> | undefined;
  /** Undefined without webhooks. */
  readonly deliveriesOf?: DeliveriesOf | undefined;
  /** The URL by which clients know this installation. */
  readonly publicUrl: string;
};

/** Pages of events, and single events. */
export type EventService = {
  readonly reads: Reads<'listEvents' | 'getRecordedEvent' | 'traceRecordedEvent'>;
  /** As callers see them, also in streams. */
  readonly represent: RepresentEvent;
  readonly times: Times;
};

export const openEvents = (dependencies: EventDependencies): EventService => {
  const { domain, pool, eventLog, keys, changes, snapshots, proof, deliveriesOf, publicUrl } = dependencies;
  const represent = createRepresentation({
    domain,
    log: eventLog,
    open: createChangeOpener(dependencies),
    isReadable: createPresentRights({ domain, run: (text, values) => runPrepared(pool, text, values) }),
  });
  const times = createTimes({ pool, eventLog });
  const reading = {
    ...{ domain, pool, keys, changes, snapshots, eventLog, represent, proof, deliveriesOf, publicUrl },
  };
  return {
    reads: { ...eventReads({ ...reading, times }), ...recordedEventReads(reading) },
    represent,
    times,
  };
};
