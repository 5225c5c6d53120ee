import type { CollectionConfig, CreateOptimisticActionsOptions } from '@tanstack/db';
import type { Listing } from '../client/pages.ts';
import type { ReadOptions } from '../client/types/options.ts';

/** The types of `annalsCollection`: everything follows from the list of the typed client. */

/** A list of the client, such as `client.claims`, `client.articles.of(7).comments` or a view. */
// biome-ignore lint/suspicious/noExplicitAny: a list with whatever filters.
export type Listed = { list(query?: any, options?: ReadOptions): Listing<object> };
/** What `createClient` returns. */
export type AnyClient = {
  // biome-ignore lint/suspicious/noExplicitAny: a client of whatever domain.
  follow(query?: any, options?: any): unknown;
  readonly written: string | undefined;
};

export type RowOf<L> = L extends { list(...args: never[]): Listing<infer T extends object> } ? T : never;
/** The filters of a list, and its order. The collection pages through it by itself. */
type QueryOf<L> = L extends { list(query?: infer Q, options?: infer _): unknown }
  ? Omit<NonNullable<Q>, 'limit' | 'after' | 'before' | 'at'>
  : never;
type TypesOf<C> = C extends { follow(query?: infer Q, options?: infer _): unknown }
  ? NonNullable<Q> extends { readonly types?: readonly (infer T)[] }
    ? T
    : string
  : string;
/** The id of an item; for a row of a view the path of its key, such as `3` or `3/travel`. */
export type KeyOf<T> = T extends { readonly id: infer Id extends string | number } ? Id : string;

/** The options for the one call of a handler: a retry with the same key is executed once. */
type SendOptions = { readonly idempotencyKey: string };
type Changed<T> = {
  /** The item with the optimistic changes. */
  readonly item: T;
  readonly metadata: unknown;
  /** Pass them to one call of the client. */
  readonly options: SendOptions;
};
type ChangedExisting<T> = Changed<T> & {
  /** The item before the optimistic changes. */
  readonly original: T;
  /**
   * Reads the item for a write that applies only to the version that the user saw: pass the result as the
   * target. Throws the `Problem` `version_mismatch` if the item differs from `original`.
   */
  unchanged(): Promise<T>;
};

export type CollectionOptions<C extends AnyClient, L extends Listed> = {
  readonly client: C;
  readonly list: L;
  /** The filters of the list, as its `list` takes them, and its order. */
  readonly query?: QueryOf<L>;
  /**
   * The event types that may change the list, if it has no stream of its own. Other changes are noticed with
   * the next heartbeat.
   */
  readonly subscribe?: readonly TypesOf<C>[];
  /** The maximum number of rows: 1,000. Of a longer list the collection has the first ones, in its order. */
  readonly limit?: number;
  /** How long a transaction waits for its write to arrive: 20 s. */
  readonly settleMs?: number;
  readonly onInsert?: (change: Changed<RowOf<L>>) => Promise<unknown>;
  readonly onUpdate?: (
    change: ChangedExisting<RowOf<L>> & { readonly changes: Partial<RowOf<L>> },
  ) => Promise<unknown>;
  readonly onDelete?: (change: ChangedExisting<RowOf<L>>) => Promise<unknown>;
} & Pick<
  CollectionConfig<RowOf<L>, KeyOf<RowOf<L>>>,
  'id' | 'gcTime' | 'startSync' | 'autoIndex' | 'defaultIndexType' | 'compare' | 'defaultStringCollation'
>;

/** The state of a collection’s connection. A change makes a new object. */
export type Connection = {
  /** `refused`: the server refuses to show the list, so the collection is empty until `retry`. */
  readonly state: 'connecting' | 'live' | 'refused';
  /** The collection has every change up to this cursor. */
  readonly cursor: string | undefined;
  /** False if the list has more rows than `limit`. */
  readonly isComplete: boolean;
  /** Why it is refused: a `Problem`. */
  readonly error: unknown;
};

export type Utils<T> = {
  /** Also for `useSyncExternalStore(utils.onConnection, utils.connection)`. */
  readonly connection: () => Connection;
  readonly onConnection: (listener: () => void) => () => void;
  /**
   * Waits until the collection has a write, by its cursor; by default the client’s last write. Resolves to
   * false after `settleMs`, or if the collection is not kept up to date.
   */
  readonly reached: (token?: string) => Promise<boolean>;
  /** Connects again after a refusal, for example when the user has signed in. */
  readonly retry: () => void;
  /** An item to insert: with a temporary id, which the server replaces, and without the fields not given. */
  readonly draft: (fields: Partial<Omit<T, 'id' | '_links'>>) => T;
};
export type AnnalsCollectionConfig<T extends object, K extends string | number> = Omit<
  CollectionConfig<T, K, never, Utils<T>>,
  'utils'
> & { readonly utils: Utils<T>; readonly schema?: never; readonly singleResult?: never };

export type CommandOptions<Variables> = Omit<
  CreateOptimisticActionsOptions<Variables>,
  'onMutate' | 'mutationFn'
> & {
  /** Changes collections as the command is expected to change them. */
  readonly onMutate: (variables: Variables) => void;
  /** Sends the command: `(id, options) => client.claims.submit(id, undefined, options)`. */
  readonly command: (variables: Variables, options: SendOptions) => Promise<unknown>;
  /** Further collections that the command changes, such as those of views. */
  readonly also?: readonly { readonly utils: Pick<Utils<never>, 'reached'> }[];
};
