import type { LogIdentity } from '#kernel/base/brands.ts';
import type { Link } from '#kernel/base/rest/fields.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Codec } from '#shared/events/codec.ts';
import type { Caller } from '#shared/policy.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import type { Snapshots } from '#shared/snapshots/snapshots.ts';
import type { Row } from '../rows/sources.ts';
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
  /** Represents rows of the kinds that the kernel itself manages. */
  readonly representManaged?: RepresentManaged;
};

export type RepresentManaged = (
  row: Row,
  shown: { readonly domain: Domain; readonly caller: Caller; readonly identity: LogIdentity },
) => { readonly _links: Readonly<Record<string, Link>> };
