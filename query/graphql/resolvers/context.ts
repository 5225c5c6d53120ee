import type { Pool } from '#shared/database/pool.ts';
import type { Caller } from '#shared/policy.ts';
import type { Loaders } from './loaders.ts';
import type { SendCommand } from './send-command.ts';

/** What the resolvers of one request share. */
export type Context = {
  readonly pool: Pool;
  readonly caller: Caller;
  readonly loaders: Loaders;
  readonly send: SendCommand;
};

/** Resolves a field: its parent, its arguments, what the request shares, and the key that it has in the answer. */
export type Resolver = (parent: never, args: Readonly<Record<string, unknown>>, context: Context, key: string) => unknown;
