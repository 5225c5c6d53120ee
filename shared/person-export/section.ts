import type { UserId } from '#kernel/base/brands.ts';
import type { JsonObject } from '#kernel/base/json.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { OpenedPart } from '#shared/erasure/tables-of-product.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';

/** One kind of data about a person. Its records are read when they are taken, and never all at once. */
export type Section = {
  /** For programs; unique. */
  readonly name: string;
  readonly title: string;
  readonly says: string;
  readonly records: AsyncIterable<JsonObject>;
};

/** Reads rows that only the authorization server can decrypt, without secrets. */
export type OpenParts = Readonly<Record<OpenedPart, (userId: UserId) => AsyncIterable<JsonObject>>>;

export type PersonExportDependencies = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'read' | 'follow' | 'head'>;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  readonly open: OpenParts;
};
