import type { ValueOf } from '#kernel/declare/fields.ts';
import type { View } from '#kernel/declare/view.ts';
import type { FileDetails } from '../file-details.ts';
import type { Followed } from '../follow.ts';
import type { Listing } from '../pages.ts';
import type { Problem } from '../problem.ts';
import type { Aggregator } from './aggregates.ts';
import type { Actions, Creator, Lister, Reads, Writes } from './collection.ts';
import type {
  AggregatesOf,
  FieldsOf,
  Flat,
  Is,
  KindOf,
  LedTo,
  OwnerOf,
  ParentOf,
  PluralOf,
  UserOf,
  ViewsOf,
  Wire,
} from './declared.ts';
import type { AnyEvent, EventQuery, FollowOptions, Matching, Pattern, TypeOf } from './events.ts';
import type { ItemLists } from './item-lists.ts';
import type { At, PageOptions, ReadOptions, Target, WriteOptions } from './options.ts';
import type { ProblemCode } from './problems.ts';
import type { FilterValue, ListQuery, Sort } from './queries.ts';
import type { Item, Row, Written } from './representation.ts';

/** The aggregates whose parent this is. */
type ChildOf<C, A, D> = C extends unknown
  ? [ParentOf<C>] extends [never]
    ? never
    : KindOf<LedTo<FieldsOf<C>[ParentOf<C> & keyof FieldsOf<C>], D>> extends KindOf<A>
      ? C
      : never
  : never;
type Children<C, D> = {
  readonly [K in KindOf<C> as PluralOf<Extract<C, { readonly kind: K }>>]: Nested<
    Extract<C, { readonly kind: K }>,
    D
  >;
};
type Nested<C, D> = {
  list(query?: ListQuery<C>, options?: ReadOptions): Listing<Item<C, D>>;
} & Aggregator<C> &
  Creator<C>;
/** Aggregates that a user owns and that have no parent. */
type Owned<C> = C extends unknown
  ? [OwnerOf<C>] extends [never]
    ? never
    : [ParentOf<C>] extends [never]
      ? C
      : never
  : never;
type OfUser<C, D> = {
  readonly [K in KindOf<C> as PluralOf<Extract<C, { readonly kind: K }>>]: {
    list(
      query?: ListQuery<Extract<C, { readonly kind: K }>>,
      options?: ReadOptions,
    ): Listing<Item<Extract<C, { readonly kind: K }>, D>>;
  } & Aggregator<Extract<C, { readonly kind: K }>>;
};

/** An aggregate: its items, its commands, and the lists and children below an item. */
type Collection<A, D> = Reads<A, D> &
  ([ParentOf<A>] extends [never] ? Lister<A, D> & Aggregator<A> & Creator<A> : unknown) &
  Writes<A> &
  Actions<A> & {
    /** The resources below an item. `{ ifMatch }` of a passed item also applies to writes there. */
    of(target: Target): ItemLists<A, D> & Children<ChildOf<AggregatesOf<D>, A, D>, D>;
  };

type UserForm<U> = Omit<
  Partial<
    Flat<{ readonly [K in keyof FieldsOf<U> & string as Wire<K, FieldsOf<U>[K]>]: ValueOf<FieldsOf<U>[K]> }>
  >,
  never
>;
type Users<U, D> = Reads<U, D> &
  Aggregator<U> & {
    list(query?: PageOptions & At & Sort<'createdAt'>, options?: ReadOptions): Listing<Item<U, D>>;
    create(form: UserForm<U> & { readonly name: string }, options?: WriteOptions): Promise<Written>;
    edit(target: Target, form: UserForm<U>, options?: WriteOptions): Promise<Written>;
    /** Deletes a user and erases their personal data. */
    delete(target: Target, options?: WriteOptions): Promise<void>;
    of(target: Target): OfUser<Owned<AggregatesOf<D>>, D>;
  };

// ── Views ────────────────────────────────────────────────────────────────────────────────
type ViewKey<K> = { readonly [N in keyof K & string]?: FilterValue<K[N]> };
type SortedValues<V> = {
  [N in keyof V & string]: V[N] extends { readonly isSorted: true }
    ? N
    : V[N] extends { readonly field: infer X }
      ? Is<X, 'sort'> extends true
        ? N
        : never
      : never;
}[keyof V & string];
type Rows<X, D> =
  X extends View<string, infer K, infer V>
    ? {
        list(
          query?: Flat<PageOptions & ViewKey<K> & Sort<(keyof K & string) | SortedValues<V>>>,
          options?: ReadOptions,
        ): Listing<Row<X, D>>;
        /** The row of a key; undefined if there is none, or the caller may not read it. */
        find(key: Required<ViewKey<K>>, options?: ReadOptions): Promise<Row<X, D> | undefined>;
      }
    : never;
type NameOf<X> = X extends { readonly view: infer N extends string } ? N : never;

// ── The whole client ─────────────────────────────────────────────────────────────────────
type Aggregates<A, D> = {
  readonly [K in KindOf<A> as PluralOf<Extract<A, { readonly kind: K }>>]: Collection<
    Extract<A, { readonly kind: K }>,
    D
  >;
};
type Views<V, D> = { readonly [N in NameOf<V>]: Rows<Extract<V, { readonly view: N }>, D> };

/** The client's members that do not depend on the domain. */
type Kernel<D> = {
  readonly users: Users<UserOf<D>, D>;
  /** The user of the token. */
  me(options?: ReadOptions): Promise<Item<UserOf<D>, D>>;
  /**
   * Events as they happen, across reconnects; each once, in the order of the log. Without `after`, only new
   * ones.
   */
  follow<const T extends TypeOf<AnyEvent<D>> | Pattern<D> = '*'>(
    query?: EventQuery<T>,
    options?: FollowOptions,
  ): Followed<Matching<AnyEvent<D>, T>>;
  readonly events: {
    /** Past events, the oldest first, up to now. */
    list<const T extends TypeOf<AnyEvent<D>> | Pattern<D> = '*'>(
      query?: EventQuery<T> & { readonly until?: string | Date; readonly limit?: number },
      options?: ReadOptions,
    ): Listing<Matching<AnyEvent<D>, T>>;
  };
  readonly files: {
    /** The bytes that a field names, such as `/uploads/…`; the token is sent to no other origin. */
    get(path: string, options?: ReadOptions): Promise<Response>;
    /** A signed address, valid for some minutes, for places that cannot send a token, such as `<img>`. */
    address(
      path: string,
      options?: ReadOptions,
    ): Promise<{ readonly href: string; readonly expiresAt: string } & Partial<FileDetails>>;
    /** The whole signed address, such as for `src` of an `<img>`; an address of another site as it is. */
    url(path: string, options?: ReadOptions): Promise<string>;
  };
  /**
   * Any other path, such as `/webhooks`. A request other than `GET` is sent once; with an `idempotencyKey`,
   * which the path must support, it is retried like all writes.
   */
  request(
    method: string,
    path: string,
    body?: unknown,
    options?: WriteOptions & ReadOptions,
  ): Promise<Response>;
  /** The same client with these default options for its requests. */
  with(options: ReadOptions & WriteOptions): Client<D>;
  /** Returns whether an error is a problem with one of these codes; without codes, any problem. */
  isProblem<Code extends ProblemCode<D>>(
    error: unknown,
    ...codes: readonly Code[]
  ): error is Problem<[Code] extends [never] ? ProblemCode<D> : Code>;
  /** The cursor of the last write, which reads wait for. */
  readonly written: string | undefined;
};
export type Client<D> = Kernel<D> & Aggregates<AggregatesOf<D>, D> & Views<ViewsOf<D>, D>;
