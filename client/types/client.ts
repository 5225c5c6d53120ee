// Over 200 lines, because it is one type: a client of a domain.

import type { List, Ref, ValueOf } from '#kernel/declare/fields.ts';
import type { View } from '#kernel/declare/view.ts';
import type { FileDetails } from '../file-details.ts';
import type { Followed } from '../follow.ts';
import type { Listing } from '../pages.ts';
import type { Problem } from '../problem.ts';
import type {
  ActionFormOf,
  ActionNames,
  Addition,
  AdditionBy,
  CommandNames,
  Creation,
  Edit,
  EventData,
  FileFields,
  FurtherAdditions,
  ItemActions,
  ItemEdit,
  ItemFormOf,
  ListOfCommand,
  Replacement,
} from './commands.ts';
import type {
  AggregatesOf,
  CommandsOf,
  EventsOf,
  FieldsOf,
  Flat,
  Is,
  KindOf,
  LedTo,
  Lists,
  MoreOfA,
  OwnerOf,
  ParentOf,
  PluralOf,
  SaidOf,
  Singular,
  UserOf,
  ViewsOf,
  Wire,
} from './declared.ts';
import type { ProblemCode } from './problems.ts';
import type { Item, Link, ListItem, Row, Written } from './representation.ts';

// ── Options of a request ─────────────────────────────────────────────────────────────────
type RequestOptions = {
  readonly signal?: AbortSignal | undefined;
  /** The timeout of one attempt. */
  readonly timeoutMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
};
export type ReadOptions = RequestOptions & {
  /**
   * A cursor that the answer must include; by default that of the client's own last write. `false` reads
   * without waiting.
   */
  readonly consistency?: string | false;
};
/** Time travel: a time, a cursor, or a version of an item, such as `v3`. */
type At = { readonly at?: string | Date };
export type WriteOptions = RequestOptions & {
  /**
   * Your own key, if the same call may be repeated, for example after a restart. `false` sends no key: then
   * the request is sent once.
   */
  readonly idempotencyKey?: string | false;
  /**
   * The ETag that the item must have. By default that of the representation that was passed; `false` skips
   * the check.
   */
  readonly ifMatch?: string | false;
};
type PageOptions = { readonly limit?: number; readonly after?: string; readonly before?: string };

/**
 * An item: its id, or its representation. With a representation, the write fails if the item has changed
 * since.
 */
export type Target = number | { readonly id: number };

// ── Lists ────────────────────────────────────────────────────────────────────────────────
type FilterValue<X> =
  X extends Ref<unknown, unknown>
    ? number
    : NonNullable<ValueOf<X>> extends readonly (infer Each)[]
      ? Each
      : NonNullable<ValueOf<X>>;
type FilterName<K extends string, X> = SaidOf<X, 'filter'> extends infer Name extends string ? Name : K;
type Filters<F> = {
  readonly [K in keyof F & string as Is<F[K], 'filter'> extends true
    ? FilterName<K, F[K]>
    : never]?: FilterValue<F[K]>;
};
type ItemFilters<L> = L extends List<infer I, unknown, unknown, unknown> ? Filters<I> : unknown;
interface Taken {
  readonly Int: number;
  readonly Boolean: boolean;
  readonly String: string;
}
type OwnFilters<S> = {
  readonly [N in keyof S & string]?: S[N] extends { readonly takes: infer T extends keyof Taken }
    ? Taken[T]
    : never;
};
type Sorted<F> = { [K in keyof F & string]: Is<F[K], 'sort'> extends true ? K : never }[keyof F & string];
type Searched<F> = true extends { [K in keyof F]: Is<F[K], 'search'> }[keyof F]
  ? { readonly q?: string }
  : unknown;
type Sort<Name extends string> = { readonly sort?: Name | `-${Name}` };

type ListQuery<A> = Flat<
  PageOptions &
    At &
    Filters<FieldsOf<A>> &
    OwnFilters<MoreOfA<A, 'filters'>> &
    Searched<FieldsOf<A>> &
    Sort<'createdAt' | Sorted<FieldsOf<A>>>
>;
type OfOwner<A> = [OwnerOf<A>, ParentOf<A>] extends [infer O extends string, never]
  ? [O] extends [never]
    ? unknown
    : { readonly [K in O]?: number }
  : unknown;

// ── Aggregates ───────────────────────────────────────────────────────────────────────────
type HistoryEntry = {
  readonly version: number;
  readonly id: string;
  readonly type: string;
  readonly at: string;
  /** When an import recorded it, which claims its time and its actor. */
  readonly importedAt?: string;
  readonly cursor: string;
  readonly actor: string | null;
  readonly changes: readonly {
    readonly field: string;
    readonly from?: unknown;
    readonly to?: unknown;
    readonly diff?: string;
  }[];
  readonly erased?: true;
  readonly unreadable?: true;
  readonly _links: Readonly<Record<string, Link>>;
};

type Reads<A, D> = {
  get(id: number, query?: At, options?: ReadOptions): Promise<Item<A, D>>;
  /** The changes with their authors, the latest first. */
  history(id: number, query?: PageOptions, options?: ReadOptions): Listing<HistoryEntry>;
};
type If<Names, Methods> = [Names] extends [never] ? unknown : Methods;
type Lister<A, D> = {
  list(query?: Flat<ListQuery<A> & OfOwner<A>>, options?: ReadOptions): Listing<Item<A, D>>;
};
type Creator<A> = If<
  CommandNames<A, 'create'>,
  { create(form: Creation<A>, options?: WriteOptions): Promise<Written> }
>;

/** The commands that have REST methods of their own. */
type Writes<A> = If<
  CommandNames<A, 'edit'>,
  {
    /** Changes the given fields only. */
    edit(target: Target, form: Edit<A>, options?: WriteOptions): Promise<Written>;
    /** Replaces all fields that can be changed. */
    replace(target: Target, form: Replacement<A>, options?: WriteOptions): Promise<Written>;
  }
> &
  If<CommandNames<A, 'end'>, { delete(target: Target, options?: WriteOptions): Promise<void> }> &
  If<
    FileFields<A>,
    {
      /**
       * Uploads a picture or another file with its media type. A stream is sent once; any other body is
       * retried if needed.
       */
      putFile(
        target: Target,
        field: FileFields<A>,
        file: Blob | ReadableStream<Uint8Array>,
        options?: FileOptions,
      ): Promise<Written>;
      deleteFile(target: Target, field: FileFields<A>, options?: WriteOptions): Promise<void>;
    }
  >;
type FileOptions = WriteOptions & {
  /** The media type, if the file does not say it. */
  readonly type?: string;
  /** The name of the file, if it is no `File` with a name. Pictures have none. */
  readonly name?: string;
};

/** The names of the client's own methods. */
type Reserved =
  | 'get'
  | 'list'
  | 'history'
  | 'create'
  | 'edit'
  | 'replace'
  | 'delete'
  | 'putFile'
  | 'deleteFile'
  | 'of'
  | 'command'
  | 'then';
type Action<Form> = undefined extends Form
  ? (target: Target, form?: undefined, options?: WriteOptions) => Promise<Written>
  : (target: Target, form: Form, options?: WriteOptions) => Promise<Written>;
type Actions<A> = {
  readonly [N in Exclude<ActionNames<A>, Reserved>]: Action<ActionFormOf<A, N & keyof CommandsOf<A>>>;
} & {
  readonly [N in Exclude<FurtherAdditions<A>, Reserved>]: (
    target: Target,
    form: AdditionBy<A, N>,
    options?: WriteOptions,
  ) => Promise<Written>;
} & If<
    ActionNames<A>,
    {
      /** Sends a command by name, if its name is also one of the client's own methods. */
      command<N extends ActionNames<A>>(
        target: Target,
        name: N,
        form?: ActionFormOf<A, N & keyof CommandsOf<A>>,
        options?: WriteOptions,
      ): Promise<Written>;
    }
  >;

// ── Below an item ────────────────────────────────────────────────────────────────────────
type IdOf<L> =
  L extends List<never, infer Id, unknown, unknown>
    ? Id
    : L extends { readonly item: infer _ }
      ? ItemId<L>
      : never;
type ItemId<L> = ValueOf<L> extends readonly { readonly id: infer Id }[] ? Id : never;
type OneOf<Name extends string, L> = L extends { readonly item: infer _ }
  ? L extends List<infer _I, unknown, infer Key extends string, unknown>
    ? [Key] extends [never]
      ? `${WordOf<Name, L>}Id`
      : Key
    : never
  : never;
/** The word for one item. */
type WordOf<Name extends string, L> =
  L extends List<infer _I, unknown, unknown, infer One>
    ? [One] extends [never]
      ? Singular<Name>
      : Extract<One, string>
    : never;
/** Adds `Methods` if the list has commands of a kind. */
type Can<A, Name, Kind extends 'addItem' | 'changeItem' | 'moveItem' | 'removeItem', Methods> =
  Name extends ListOfCommand<A, Kind> ? Methods : unknown;
type ItemList<A, Name extends string, L, D> = {
  list(query?: Flat<PageOptions & At & ItemFilters<L>>, options?: ReadOptions): Listing<ListItem<L, D>>;
  get(id: IdOf<L>, query?: At, options?: ReadOptions): Promise<ListItem<L, D>>;
} & Can<
  A,
  Name,
  'addItem',
  {
    add(
      form: Addition<A, Name>,
      options?: WriteOptions,
    ): Promise<Written & { readonly [K in OneOf<Name, L>]: IdOf<L> }>;
  }
> &
  Can<
    A,
    Name,
    'changeItem',
    { edit(id: IdOf<L>, form: ItemEdit<A, Name>, options?: WriteOptions): Promise<Written> }
  > &
  Can<
    A,
    Name,
    'moveItem',
    {
      /** Moves it before another item, or to the end. */
      move(id: IdOf<L>, form: { readonly before: IdOf<L> | null }, options?: WriteOptions): Promise<Written>;
    }
  > &
  Can<A, Name, 'removeItem', { remove(id: IdOf<L>, options?: WriteOptions): Promise<void> }> & {
    readonly [C in ItemActions<A, Name> as Verb<C, WordOf<Name, L>>]: ItemAction<IdOf<L>, ItemFormOf<A, C>>;
  };
/** `finishTask` on a task is `finish`. */
type Verb<C extends string, One extends string> = C extends `${infer V}${Capitalize<One>}`
  ? V extends ''
    ? C
    : V
  : C;
type ItemAction<Id, Form> = [keyof Form] extends [never]
  ? (id: Id, form?: undefined, options?: WriteOptions) => Promise<Written>
  : (id: Id, form: Form, options?: WriteOptions) => Promise<Written>;

type ItemLists<A, D> = {
  readonly [K in Lists<FieldsOf<A>>]: ItemList<A, K, FieldsOf<A>[K & keyof FieldsOf<A>], D>;
};
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
type Nested<C, D> = { list(query?: ListQuery<C>, options?: ReadOptions): Listing<Item<C, D>> } & Creator<C>;
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
  };
};

/** An aggregate: its items, its commands, and the lists and children below an item. */
type Collection<A, D> = Reads<A, D> &
  ([ParentOf<A>] extends [never] ? Lister<A, D> & Creator<A> : unknown) &
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
type Users<U, D> = Reads<U, D> & {
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

// ── Events ───────────────────────────────────────────────────────────────────────────────
type PublicEvents<A> = {
  [E in keyof EventsOf<A> & string]: EventsOf<A>[E] extends { readonly hidden: true } ? never : E;
}[keyof EventsOf<A> & string];
type EventOf<A> = A extends unknown
  ? {
      [E in PublicEvents<A>]: PublicEvent<
        `${KindOf<A>}.${E}`,
        EventData<A, EventsOf<A>[E & keyof EventsOf<A>]>
      >;
    }[PublicEvents<A>]
  : never;
type PublicEvent<Type, Data> = {
  readonly id: string;
  readonly type: Type;
  /** The schema version of the type. */
  readonly version: number;
  readonly at: string;
  /** When an import recorded it, which claims its time and its actor. */
  readonly importedAt?: string;
  readonly cursor: string;
  /** The aggregate of the event, such as `claim-7`. */
  readonly subject: string;
  readonly actor: string | null;
  readonly data: Data;
  readonly parked?: true;
};
export type AnyEvent<D> = EventOf<AggregatesOf<D> | UserOf<D>>;
type TypeOf<E> = E extends { readonly type: infer T extends string } ? T : never;
type Pattern<D> = `${KindOf<AggregatesOf<D> | UserOf<D>>}.*` | '*';
/** The events that a type or a pattern matches. */
type Matching<E, P> = P extends '*'
  ? E
  : P extends `${infer Kind}.*`
    ? E extends { readonly type: `${Kind}.${string}` }
      ? E
      : never
    : Extract<E, { readonly type: P }>;
export type EventQuery<T> = {
  readonly types?: readonly T[];
  readonly after?: string | undefined;
  readonly actor?: string;
  /** The aggregate of the event, such as `claim-7`. */
  readonly subject?: string;
  readonly since?: string | Date;
  /** References in the event's data: `{ team: 3 }`. */
  readonly of?: Readonly<Record<string, number>>;
};
export type FollowOptions = Omit<RequestOptions, 'timeoutMs'> & {
  /** Reconnects after so long without a byte. */
  readonly silenceMaxMs?: number;
};

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
