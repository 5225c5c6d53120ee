import type { Wait } from '#kernel/declare/aggregate.ts';
import type { Client } from '../../client/types/client.ts';

export type TestOptions = {
  /**
   * Settings as in the environment of `npm start`; the real environment is ignored. A database in
   * `DATABASE_URL` is used, and kept.
   */
  readonly settings?: Readonly<Record<string, string>>;
};

export type TestSystem<D> = AsyncDisposable & {
  readonly url: string;
  /** Without a sign-in. */
  readonly client: Client<D>;
  /** A new account of this role, with a client that is signed in as it. */
  as(role: string): Promise<Client<D>>;
  /**
   * Moves the date of all roles forward; resolves once all due timers have fired and everything is projected.
   * Sign-ins, access tokens, retries of webhooks and leases keep the real time, because browsers, other servers
   * and PostgreSQL measure them.
   */
  advance(duration: Wait): Promise<void>;
  /** Resolves once all consequences of the writes have been processed and projected. */
  settled(): Promise<void>;
};
