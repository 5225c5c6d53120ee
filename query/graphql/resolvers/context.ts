import type { Domain } from '#kernel/registry/registry.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { Cursor } from '#shared/cursor.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Caller } from '#shared/policy.ts';
import type { Past } from '../../as-of/past.ts';
import type { ReadHistory } from '../../history/history.ts';
import type { Searches } from '../../searches.ts';
import type { RequestFacts } from '../execute.ts';
import type { Commits } from './commits.ts';
import type { Loaders } from './loaders.ts';
import type { Row } from './rows.ts';
import type { CheckCommand, SendCommand } from './send-command.ts';

/** What the resolvers of one request share. */
export type Context = {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly searches: Searches;
  readonly caller: Caller;
  /** Whose cursors are told. */
  readonly eventLog: Pick<EventLog, 'identity' | 'head'>;
  readonly facts: RequestFacts;
  readonly loaders: Loaders;
  /** The requested point in time; undefined for current data. */
  readonly past: Past | undefined;
  /** The same context at a point in time. `type` and `id` are of the item whose version may be named. */
  at(moment: string, item?: { readonly type: string; readonly id: unknown }): Promise<Context>;
  readonly readHistory: ReadHistory;
  /** Whether something has happened, rather than been asked for. */
  readonly isSubscription: boolean;
  readonly check: CheckCommand;
  readonly send: SendCommand;
  /** Of a mutation: what its root fields committed. */
  readonly commits: Commits;
  /** Where the read model was before anything was read, where that is asked for. */
  readonly cursor: Cursor | undefined;
  readonly blobs: Pick<Blobs, 'put' | 'remove'>;
  /** Signs addresses of pictures. */
  readonly uploadKey: Buffer;
};

/** A row at a point in time, and the context in which its references are read. */
export type PastRow = Row & { readonly asOf: Context };

/**
 * Resolves a field: its parent, its arguments, what the request shares, and the key that it has in the
 * answer.
 */
export type Resolver = (
  parent: never,
  args: Readonly<Record<string, unknown>>,
  context: Context,
  key: string,
) => unknown;
