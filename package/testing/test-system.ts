import type { Wait } from '#kernel/declare/aggregate.ts';
import type { Client } from '../../client/types/client.ts';

export type TestOptions = {
  /**
   * As in the environment of `npm start`; nothing of the real environment counts. With `DATABASE_URL`, that
   * database is used, and stays.
   */
  readonly settings?: Readonly<Record<string, string>>;
};

export type TestSystem<D> = AsyncDisposable & {
  readonly url: string;
  /** Signed in as nobody. */
  readonly client: Client<D>;
  /** A new account of this role, with a client that is signed in as it. */
  as(role: string): Promise<Client<D>>;
  /**
   * Moves the time of commands and timers forward; resolves once all timers that are due have fired and
   * everything is projected.
   */
  advance(duration: Wait): Promise<void>;
  /** Resolves once everything that follows from what was written has been done and projected. */
  settled(): Promise<void>;
};
