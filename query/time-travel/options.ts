import type { Domain } from '#kernel/registry/registry.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import type { Snapshots } from '#shared/snapshots/snapshots.ts';
import type { PositionOptions } from './find-position.ts';

export type PastOptions = PositionOptions & {
  readonly domain: Domain;
  readonly eventLog: Pick<
    EventLog,
    'identity' | 'namesEvents' | 'remembered' | 'eventAt' | 'head' | 'read' | 'follow'
  >;
  readonly codec: Pick<Codec, 'decodeAll'>;
  readonly tables: Tables;
  readonly snapshots: Snapshots;
};
