import type { Blobs } from '#shared/blobs/blobs.ts';
import type { Cursor } from '#shared/cursor.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Caller } from '#shared/policy.ts';
import type { Searches } from '../../searches.ts';
import type { RequestFacts } from '../execute.ts';
import type { Loaders } from './loaders.ts';
import type { CheckCommand, SendCommand } from './send-command.ts';

/** What the resolvers of one request share. */
export type Context = {
  readonly pool: Pool;
  readonly searches: Searches;
  readonly caller: Caller;
  /** Whose cursors are told. */
  readonly eventLog: Pick<EventLog, 'identity'>;
  readonly facts: RequestFacts;
  readonly loaders: Loaders;
  readonly check: CheckCommand;
  readonly send: SendCommand;
  /** Where the read model was before anything was read, where that is asked for. */
  readonly cursor: Cursor | undefined;
  readonly blobs: Pick<Blobs, 'put' | 'remove'>;
};

/** Resolves a field: its parent, its arguments, what the request shares, and the key that it has in the answer. */
export type Resolver = (parent: never, args: Readonly<Record<string, unknown>>, context: Context, key: string) => unknown;
