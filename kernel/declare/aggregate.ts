// Over 200 lines, because it is one type: the declaration of an aggregate, whose parts are inferred from each
// other.
import type { Asked, AskedOf, Condition, Match, ValueMatch } from './conditions.ts';
import type {
  Choice,
  Field,
  Fields,
  Instant,
  List,
  Ref,
  Said,
  States,
  TargetOf,
  ValueOf,
  ValuesOf,
} from './fields.ts';
import type { Commanded, Run } from './run.ts';
import type { ScheduledTime } from './scheduled-time.ts';

// ── Fields by type ──────────────────────────────────────────────────────────────
type KeysOf<F, Type> = { [K in keyof F]: F[K] extends Type ? K : never }[keyof F] & string;
type RefKey<F> = Keys<F, unknown>['reference'];
type ListKey<F> = KeysOf<F, List<Fields>>;
type NumberKey<F> = KeysOf<F, Field<number>>;
/** An interface, so that compiler messages spell the names out. */
export interface Keys<F, D> {
  /** The fields that a form may contain. */
  readonly content: {
    [K in keyof F & string]: F[K] extends List<Fields> | States<string> ? never : K;
  }[keyof F & string];
  readonly list: { [K in keyof F & string]: F[K] extends List<Fields> ? K : never }[keyof F & string];
  readonly reference: { [K in keyof F & string]: F[K] extends Ref<unknown, unknown> ? K : never }[keyof F &
    string];
  readonly any: (keyof F | keyof D) & string;
  /** Fields and derived numbers that an event can record beside its own data. */
  readonly carried:
    | { [K in keyof F & string]: F[K] extends List<Fields> ? never : K }[keyof F & string]
    | (keyof D & string);
  /** The fields that a reference can show beside the id. */
  readonly label: {
    [K in keyof F & string]: F[K] extends List<Fields> | Ref<unknown, unknown> ? never : K;
  }[keyof F & string];
  /** The fields by which aggregates can be counted. */
  readonly plain: { [K in keyof F & string]: F[K] extends List<Fields> ? never : K }[keyof F & string];
}

/** Numbers derived from lists. */
export type DerivedOf<F> = {
  readonly [name: string]: Derived<ListKey<F>, SumPath<F>>;
};
type Derived<Count, Sum> =
  /** The number of items in the list. */
  | { readonly count: Count }
  /** The sum of one number over all items. */
  | { readonly sum: Sum };
type SumPath<F> = {
  [K in ListKey<F>]: F[K] extends List<infer I> ? `${K}.${NumberKey<I>}` : never;
}[ListKey<F>];

// ── Events and their effects on the state ───────────────────────────────────────
/** Generic over names only, so that compiler messages are short. */
type Common<Content, Sets, Carried> = Always<Carried> & {
  /** Values that documentation shows instead of those of the fields; of a change, only these. */
  readonly example?: Sets;
  /**
   * Fields that the event sets to a declared value: a constant, `now`, `caller`, or `null`. Of an event of items,
   * fields of the item.
   */
  readonly sets?: Sets;
  /** Fields whose values the decision computes; no form contains them. Of an event of items, fields of the item. */
  readonly computes?: readonly Content[];
};
type Always<Carried> = {
  /** A sentence for documentation; of a command in the imperative: “Publish an article”. */
  readonly says?: string;
  /**
   * Fields whose values after the event it records, for views. The end of an aggregate records the values
   * before it.
   */
  readonly carries?: readonly Carried[];
  /** Adds a GraphQL subscription to this event alone. */
  readonly subscribe?: true;
  /** No interface shows the event. */
  readonly hidden?: true;
} & Versions;
export type Versions = {
  /**
   * The versions of its data before the present one: functions that convert each to the next, the first from
   * version 1; pure. Personal fields may be missing, because they were erased or cannot be decrypted.
   */
  readonly upcasts?: readonly ((
    data: Readonly<Record<string, unknown>>,
  ) => Readonly<Record<string, unknown>>)[];
};
type SetsOf<F> = { readonly [K in keyof F]?: SetValue<F[K]> };
type SetValue<X> =
  X extends Ref<unknown, infer N> ? 'caller' | N : X extends Instant<infer N> ? 'now' | N : ValueOf<X>;
export type EventSpec<Content, Sets, Carried, Reference> = Common<Content, Sets, Carried> &
  Effect<Content, Reference>;
type Effect<Content, Reference> =
  /** Creates the aggregate with these fields from the form. */
  | { readonly creates: readonly Content[] }
  /** Changes these fields; the event holds those that the form contains. */
  | { readonly changes: readonly Content[] }
  /** Moves the aggregate below another parent, which the form names. */
  | { readonly moves: Reference }
  /** Ends the aggregate: it is no longer found, but its history remains. */
  | { readonly ends: true }
  | NoEffect;
type NoEffect = { readonly [Other in 'creates' | 'changes' | 'moves' | 'ends']?: never };
/** An event of one item of a list. Its data contains every value that it gives to the item. */
type ItemOptions<Named, Sets, SetsOfAggregate> = {
  /**
   * The fields of the item in the form. By default these are all that no event of the list sets; an `updates`
   * with `sets` has no form by default.
   */
  readonly fields?: readonly Named[];
  /**
   * Fields that the event sets to a declared value: a constant, `now`, `caller`, or `null`. Of an event of items,
   * fields of the item.
   */
  readonly sets?: Sets;
  /** Fields whose values the decision computes; no form contains them. Of an event of items, fields of the item. */
  readonly computes?: readonly Named[];
  /** Fields of the aggregate that the same event sets. */
  readonly also?: SetsOfAggregate;
};
type ItemEffect<Listed> =
  /** Adds an item to the list; the form has the item’s fields. */
  | { readonly adds: Listed }
  /** Changes fields of an item. */
  | { readonly updates: Listed }
  /** Moves an item of an ordered list before another, or to the end. */
  | { readonly moves: Listed }
  /** Removes an item. */
  | { readonly removes: Listed };
type ItemEventsOf<F, Carried> = {
  [L in ListKey<F>]: F[L] extends List<infer I>
    ? ItemOptions<keyof I & string, SetsOf<I>, SetsOf<F>> & Always<Carried> & ItemEffect<L>
    : never;
}[ListKey<F>];
export type EventsOf<F, D> = {
  readonly [name: string]:
    | EventSpec<Keys<F, D>['content'], SetsOf<F>, Keys<F, D>['carried'], RefKey<F>>
    | ItemEventsOf<F, Keys<F, D>['carried']>;
};

/** The events by which references become null when their targets end. */
export type EndsOfTargets<F> = {
  readonly [P in EmptiedPath<F> as NameOfEnd<P>]: P extends `${infer L}.${infer R}`
    ? { readonly updates: L; readonly sets: { readonly [K in R]: null }; readonly gone: true }
    : { readonly sets: { readonly [K in P]: null }; readonly gone: true };
};
type EmptiedPath<F> =
  | EmptiedKey<F>
  | { [L in ListKey<F>]: `${L}.${EmptiedKey<ItemFields<F, L>>}` }[ListKey<F>];
type EmptiedKey<F> = {
  [K in keyof F]: F[K] extends Said<{ readonly gone: true }> ? K : never;
}[keyof F] &
  string;
type NameOfEnd<P extends string> = P extends `${infer L}.${infer R}`
  ? `${L}${Capitalize<R>}Gone`
  : `${P}Gone`;

/** An event without an effect is valid, so a misspelt effect must not be taken for none. */
type KnownWords<E> = string extends keyof E
  ? unknown
  : { readonly [N in keyof E]: { readonly [Strange in Exclude<keyof E[N], WordOfEvents>]: never } };
export type WordOfEvents =
  | keyof Common<never, never, never>
  | keyof ItemOptions<never, never, never>
  | KeysOfEach<Effect<never, never> | ItemEffect<never>>;
/** The names of an event’s data beyond the ids. */
export type DataKey<E> =
  | (E extends { readonly creates: readonly (infer K)[] } ? K : never)
  | (E extends { readonly changes: readonly (infer K)[] } ? K : never)
  | (E extends { readonly computes: readonly (infer K)[] } ? K : never)
  | (E extends { readonly carries: readonly (infer K)[] } ? K : never);
/** The reference to the parent, in an event that moves the aggregate below another. */
type MovedKey<F, E> = E extends { readonly moves: infer K } ? Extract<K, RefKey<F>> : never;

// ── Commands ────────────────────────────────────────────────────────────────────
type CommandSpec<EventName, Plain, Cond, FieldName, Decision, Reference, OnItem, Elsewhere> = {
  /** A sentence for documentation; of a command in the imperative: “Publish an article”. */
  readonly says?: string;
  /** A condition on the aggregate; if it is false, the command is refused and no link offers it. */
  readonly when?: Cond;
  /**
   * A condition on the fields of the item that the command changes: `{ state: 'todo' }`, `{ author: 'caller' }`.
   * If it is false, the command is refused and the item has no link to it.
   */
  readonly whenItem?: OnItem;
  /** Optional fields that the form of a creation or an action must have; it may leave out all others. */
  readonly requires?: readonly FieldName[];
  /** Only timers, schedules and reactions send it: it has no path and no mutation. */
  readonly internal?: true;
  /**
   * Its callers must, or may, say why: one line, kept with its events. Timers and reactions need no reason,
   * because the event that caused them is recorded.
   */
  readonly reason?: 'required' | 'optional';
  /**
   * A call of an agent becomes a request, which a person with the right to the command approves or declines. `false`
   * ends this, and keeps the requests from before readable.
   */
  readonly confirm?: 'person' | false;
  /**
   * A person signs it: they prove again who they are, with a passkey or with their password and a code, over what
   * the command does. Events keep the signature with its meaning, and an agent or a session alone cannot send it.
   */
  readonly signed?: {
    /** The meaning of the signature, in one line: `approval`, `review`, `responsibility`, `authorship`. */
    readonly meaning: string;
  };
  /**
   * References whose aggregates `decide` receives as `reads`. They, and everything that the conditions and
   * rights of this command read behind them, are unchanged when the events are appended; otherwise the
   * command is decided again. Requires the event log in PostgreSQL.
   */
  readonly reads?: readonly Reference[];
  /** Commands without a form that the same request can run too: `"publish": true` in the form of `create`. */
  readonly next?: readonly string[];
} /** The event that happens, or those of which `decide` chooses; the command has the form of the first. */ & (
  | { readonly emits: Plain }
  /** The event that happens, or those of which `decide` chooses; the command has the form of the first. */
  | {
      readonly emits: EventName | readonly EventName[];
      /**
       * Events that `decide` may append to the targets of references, by reference: `{ mergedInto: ['absorbed'] }`.
       * All are appended at once, or none; `decide` receives these targets as `reads`.
       */
      readonly also?: Elsewhere;
      /** Refusals of `decide` by name, with their sentences: `{ alreadyMerged: 'The ticket is merged.' }`. */
      readonly refuses?: { readonly [name: string]: string };
      /**
       * Returns the events and the values that they compute; `[]` changes nothing. A pure function, for rules
       * that data cannot express.
       */
      readonly decide: (
        given: Decision,
      ) =>
        | readonly (EventName | readonly [EventName, Computed] | OnTarget<string, string>)[]
        | Refused<string>;
    }
);
/** The events of the targets of references, by reference. */
type AlsoOf<F> = { readonly [K in RefKey<F>]?: readonly EventNameOf<TargetOf<F[K & keyof F]>>[] };
type EventNameOf<A> = A extends { readonly events: infer E } ? keyof E & string : string;
declare const ON_TARGET: unique symbol;
/** An event of the target of a reference, as a decision returns it. */
export interface OnTarget<out Reference extends string, out Name extends string> {
  readonly [ON_TARGET]: readonly [Reference, Name];
}
/** The values of an event elsewhere: of the aggregate, or of an item, which `id` names unless the event adds it. */
type ValuesOn<A, N> = A extends { readonly fields: infer F; readonly events: infer E }
  ? N extends keyof E
    ? E[N] extends InList<infer L extends ListKey<F>>
      ? ItemValuesOn<F, L>
      : OptionalOf<F, DataKey<Omit<E[N], 'carries'>> | MovedKey<F, E[N]>>
    : never
  : Readonly<Record<string, unknown>>;
type InList<L> = OfItem<L> | { readonly moves: L } | { readonly removes: L };
type ItemValuesOn<F, L> = OptionalOf<ItemFields<F, L>, keyof ItemFields<F, L>> & {
  readonly id?: number | string;
  readonly before?: number | string | null;
};
type OptionalOf<F, K> = { readonly [Q in K & keyof F]?: ValueOf<F[Q]> };
declare const REFUSED: unique symbol;
/** The refusal of a decision. */
export interface Refused<out Name extends string> {
  readonly [REFUSED]: Name;
}
/** Keyed by field. */
type Computed = { readonly [field: string]: unknown };
/** Events whose data comes from the form and the declaration alone. */
type PlainOf<E> = {
  [N in keyof E & string]: E[N] extends { readonly computes: unknown } ? never : N;
}[keyof E & string];
type StateOf<F, D> = { readonly id: number } & ValuesOf<F> & { readonly [K in keyof D]: number };
/** Of an aggregate that is referred to by its name, only the id is typed. */
type StateBehind<A> = A extends { readonly fields: infer F; readonly derived: infer D }
  ? StateOf<F, D>
  : { readonly id: number; readonly [field: string]: unknown };
/** The input of a decision. */
export type Given<F extends Fields, D> = {
  /** The present aggregate: its id, fields, derived numbers, and items of lists. */
  readonly state: StateOf<F, D>;
  /** The form, with its names; fields that were not given are missing. */
  readonly form: FormOf<F, ItemFieldsIn<F>>;
  /** The item that the command changes, before it; null if the command adds one. */
  readonly item:
    | { [L in ListKey<F>]: ValueOf<F[L]> extends readonly (infer T)[] ? T : never }[ListKey<F>]
    | null;
  /**
   * The targets of the references in the command’s `reads`, as the form changes them; null if a target does
   * not exist.
   */
  readonly reads: {
    readonly [K in keyof F & string as F[K] extends Ref<unknown, unknown> ? K : never]: StateBehind<
      TargetOf<F[K]>
    > | null;
  };
  /** Refuses the command by a name in its `refuses`: `return refuse('alreadyMerged')`. */
  readonly refuse: <const Name extends string>(name: Name) => Refused<Name>;
  /**
   * An event of the target of a reference in the command’s `also`, with the values that it needs:
   * `on('mergedInto', 'absorbed', { … })`.
   */
  readonly on: <const K extends RefKey<F>, const N extends EventNameOf<TargetOf<F[K]>>>(
    reference: K,
    event: N,
    values?: ValuesOn<TargetOf<F[K]>, N>,
  ) => OnTarget<K, N>;
  /** The user who sent the command; null for anonymous callers. */
  readonly callerId: number | null;
  /** The time of the command, which its events get. */
  readonly now: string;
};
type ItemFieldsIn<F> = { [L in ListKey<F>]: ItemFields<F, L> }[ListKey<F>];
type WireOf<F> = {
  [K in keyof F & string as F[K] extends Ref<unknown, unknown> ? `${K}Id` : K]: ValueOf<F[K]>;
};
type KeysOfEach<U> = U extends unknown ? keyof U & string : never;
type ValueIn<U, K> = U extends { readonly [N in K & string]: infer V } ? V : never;
/** The form of a command on the aggregate, or on an item of one of its lists. */
type FormOf<F, Items> = {
  readonly [K in keyof WireOf<F> | KeysOfEach<WiredEach<Items>>]?: ValueIn<WireOf<F> | WiredEach<Items>, K>;
};
type WiredEach<Items> = Items extends unknown ? WireOf<Items> : never;
/** Checks that a decision returns only events that the command emits, and refusals that it declares. */
type Decided<C, F, E> = {
  readonly [K in keyof C]: C[K] extends { readonly emits: infer N } & Deciding
    ? {
        readonly decide: (
          given: never,
        ) => readonly (DecisionIn<F, E, N> | ElsewhereIn<C[K]>)[] | Refused<RefusalIn<C[K]>>;
      }
    : unknown;
};
type Deciding = { readonly decide: unknown } | { readonly refuses: unknown };
type OneOf<N> = N extends readonly (infer One)[] ? One : N;
type RefusalIn<Spec> = Spec extends { readonly refuses: infer R } ? keyof R & string : never;
/** The events elsewhere that a command declares. */
type ElsewhereIn<Spec> = Spec extends { readonly also: infer A }
  ? {
      [K in keyof A & string]: A[K] extends readonly (infer N extends string)[] ? OnTarget<K, N> : never;
    }[keyof A & string]
  : never;
/** A command of the aggregate names the item of an event with its values; one of an item has it already. */
type DecisionIn<F, E, N> = [ListOf<F, E, FirstOf<N>>] extends [never]
  ? DecisionOn<F, E, EventOfAggregate<F, E, OneOf<N>>> | DecisionOnItem<F, E, OneOf<N>>
  : DecisionOn<F, E, OneOf<N>>;
type FirstOf<N> = N extends readonly [infer First, ...unknown[]] ? First : N;
type ListOf<F, E, N> = N extends keyof E
  ? E[N] extends InList<infer L extends ListKey<F>>
    ? L
    : never
  : never;
type EventOfAggregate<F, E, N> = N extends unknown ? ([ListOf<F, E, N>] extends [never] ? N : never) : never;
type DecisionOnItem<F, E, N> = N extends unknown
  ? [ListOf<F, E, N>] extends [never]
    ? never
    : readonly [N, ItemValuesOn<F, ListOf<F, E, N>>]
  : never;
/** The name of an event, with all values that it computes. */
type DecisionOn<F, E, N> = N extends keyof E
  ? E[N] extends { readonly computes: readonly (infer P)[] }
    ? readonly [N, ComputedOf<P, E[N] extends OfItem<infer L> ? ItemFields<F, L> : F>]
    : N
  : never;
type ComputedOf<P, F> = { readonly [Q in P & keyof F]: ValueOf<F[Q]> };
type OfItem<L> = { readonly adds: L } | { readonly updates: L };
type ItemFields<F, L> = L extends keyof F ? (F[L] extends List<infer I> ? I : never) : never;
/** Checks that commands in `next` are declared. */
type Followed<C> = { readonly [K in keyof C]: { readonly next?: readonly (keyof C & string)[] } };
type OnItemOf<F> = {
  [L in ListKey<F>]: F[L] extends List<infer I> ? Match<never, I, unknown> : never;
}[ListKey<F>];
export type CommandsOf<F extends Fields, D, E, Cond> = {
  readonly [name: string]: CommandSpec<
    keyof E & string,
    PlainOf<E>,
    Cond,
    keyof F & string,
    Given<F, D>,
    RefKey<F>,
    OnItemOf<F>,
    AlsoOf<F>
  >;
};

// ── Rights ──────────────────────────────────────────────────────────────────────
/**
 * Roles without an entry have no right, except administrators, who have every right unless denied. An entry
 * is `true`, `false`, or a condition.
 */
type Row<Role extends string, Cond, Parent = never> = {
  /** The right of this role. */
  readonly [R in Role | 'admin']?: boolean | Cond;
} & {
  /** Everyone, signed in or not, whose role has no entry. */
  readonly anyone?: boolean | Cond;
  /** Every signed-in user whose role has no entry. */
  readonly signedIn?: boolean | Cond;
  /**
   * Everyone whose role has no entry, with their right to the aggregate that this reference leads to.
   * Excludes `anyone`.
   */
  readonly as?: Parent;
  /** The first word of the scope that a token needs, if not `read` or `write`. */
  readonly scope?: string;
};
export type RightsOf<Role extends string, F, C, Cond> = {
  /** The right to read the aggregate: items, lists, changes, history. */
  readonly read: Row<Role, Cond, RefKey<F>>;
  /** The right to every command that has no row of its own. */
  readonly write?: Row<Role, Cond, RefKey<F>>;
  /**
   * The right to name another user than oneself as the owner of a new aggregate, beside the right to the
   * command that creates it. Without this row, administrators alone have it.
   */
  readonly forOthers?: Row<Role, Cond, RefKey<F>>;
  /**
   * The right to read who has read the aggregate, if its reads are logged. Without this row, administrators
   * alone have it.
   */
  readonly readers?: Row<Role, Cond, RefKey<F>>;
} & {
  /** The right to this command. */
  readonly [K in keyof C]?: Row<Role, Cond, RefKey<F>>;
};
export type LoggedReads<Name extends string> = {
  /** `all`, or the fields, lists and derived numbers whose reads are recorded; an answer without them is not. */
  readonly log: 'all' | readonly Name[];
  /**
   * If the log of reads cannot be written, `refuse` answers 503, and shows nothing that is not recorded;
   * `serve` answers, records later what fits into memory, and records how many reads are missing. `refuse`
   * unless given.
   */
  readonly ifUnwritable?: 'refuse' | 'serve';
};
type FieldRight<Role extends string, F, D, Cond> = Row<Role, Cond> & {
  /**
   * Fields, lists and derived numbers that callers may read only with this right, beside the right to read
   * the aggregate.
   */
  readonly reads?: readonly (Keys<F, D>['any'] | 'createdAt' | 'updatedAt')[];
  /**
   * Items that callers may read only with this right, selected by their own fields: `{ notes: { internal:
   * true } }`.
   */
  readonly items?: ItemsOf<F>;
  /** Fields that callers may set only with this right; on users only. */
  readonly writes?: readonly (keyof F & string)[];
};
/** Keys of a row that are not roles. */
export type WordOfRights = Exclude<keyof FieldRight<never, Fields, unknown, unknown>, 'admin'>;
type ItemsOf<F> = { readonly [L in ListKey<F>]?: F[L] extends List<infer I> ? ItemMatch<I> : never };
/** Constants only, because the events of an item contain them. */
type ItemMatch<I> = {
  readonly [K in keyof I as I[K] extends Ref<unknown, unknown> ? never : K]?: I[K] extends Field<infer T>
    ? ValueMatch<T>
    : never;
};

/** The maximum number of aggregates with equal values of some fields; without fields, of all aggregates. */
export type Limit<Counted, Cond> = {
  /** The maximum, from 1 to 100. */
  readonly max: number;
  /**
   * Counts aggregates with equal values of this field, or of these fields, together. If one of the values is
   * null, there is no limit. By default all are counted.
   */
  readonly per?: Counted | readonly Counted[];
  /**
   * Only aggregates for which this condition holds: a limit counts these. Those that react run the command if it
   * holds when the command is executed; those with a timer, if it also holds when the timer runs out.
   */
  readonly when?: Cond;
  /** The message for a command that would exceed the limit; its code is as `claim_open_full`. */
  readonly says: string;
};

// ── Reactions and timers ────────────────────────────────────────────────────────
/**
 * By reference, commands after events of its target; for references of items: `items.article`. By event of its
 * own, code.
 */
type Reactions<F extends Fields, D, E, C, Cond> = string extends keyof E
  ? Unchecked
  : ReactionsOn<F, D, E, C, Cond>;
type ReactionsOn<F extends Fields, D, E, C, Cond> = {
  readonly [K in RefPath<F> | (keyof E & string)]?: K extends RefPath<F>
    ? OfTarget<At<F, K>, C, Cond>
    : K extends keyof E
      ? Reacting<F, D, E[K]>
      : never;
};
/** The compiler has reported a mistake in the events, and does not repeat it here. */
// biome-ignore lint/suspicious/noExplicitAny: nothing is known of the events.
type Unchecked = { readonly [name: string]: ((given: any) => any) | { readonly [event: string]: any } };
type RefPath<F> =
  | RefKey<F>
  | { [K in ListKey<F>]: F[K] extends List<infer I> ? `${K}.${RefKey<I>}` : never }[ListKey<F>];
type At<F, K> = K extends keyof F
  ? F[K]
  : K extends `${infer L extends keyof F & string}.${infer R}`
    ? F[L] extends List<infer I>
      ? At<I, R>
      : never
    : never;
type OfTarget<X, C, Cond> =
  X extends Ref<infer A, unknown>
    ? {
        readonly [N in A extends { readonly events: infer E } ? keyof E & string : string]?: Reaction<
          C,
          Cond
        >;
      }
    : never;
type Reaction<C, Cond> = {
  /** The command that the aggregate, or its item, runs. It must have no form. */
  readonly run: keyof C & string;
  /**
   * Only aggregates for which this condition holds: a limit counts these. Those that react run the command if it
   * holds when the command is executed; those with a timer, if it also holds when the timer runs out.
   */
  readonly when?: Cond;
};
/** Given to code with the state of the aggregate right after the event, and its time as `now`. */
type Occurred<F, E> = {
  /** The values of the event, named as in forms. Personal values are null once the person is erased. */
  readonly form: {
    readonly [K in (DataKey<E> | MovedKey<F, E>) & keyof F & string as F[K] extends Ref<unknown, unknown>
      ? `${K}Id`
      : K]: E extends {
      readonly changes: unknown;
    }
      ? ValueOf<F[K]> | undefined
      : ValueOf<F[K]>;
  };
  /**
   * A command to any aggregate: to the one with this id, or a creation. With `when`, only if this condition holds
   * for that aggregate then.
   */
  readonly run: Run;
};
/** Pure: it runs again after a crash, and must return the same commands. */
type Reacting<F extends Fields, D, E> = (
  given: Pick<Given<F, D>, 'state' | 'now'> & Occurred<F, E>,
) => Commanded | readonly Commanded[];

/** For example `'3 days'` and `'90 minutes'`. */
export type Wait = `${number} ${'second' | 'minute' | 'hour' | 'day' | 'week'}${'' | 's'}`;
type Timer<F, E, C, Cond> = TimerCommand<C, Cond> & (TimerByEvent<F, E, Cond> | TimerByField<F>);
type TimerByEvent<F, E, Cond> = {
  /** The event that starts it, or several: the latest of them counts, and starts it again. */
  readonly after: (keyof E & string) | readonly (keyof E & string)[];
  /**
   * The delay: a number of seconds, minutes, hours, days or weeks, or one for each word of a choice, which it
   * follows: `{ priority: { urgent: '4 hours', low: '2 days' } }`. Without a delay for the word, it does not
   * run.
   */
  readonly wait: Wait | WaitByWord<F>;
  /** The timer is paused while this condition holds. */
  readonly pause?: Cond;
  readonly at?: never;
  readonly before?: never;
};
type WaitByWord<F> = {
  [K in keyof F]: F[K] extends Field<infer T>
    ? [T] extends [string | null]
      ? { readonly [N in K]: { readonly [W in T & string]?: Wait } }
      : never
    : never;
}[keyof F];
type TimerByField<F> = {
  /** A date or an instant: the timer runs out then, and follows every change. A date begins at midnight UTC. */
  readonly at: KeysOf<F, Field<string | null>>;
  /** The timer runs out that long before: `'1 day'`. */
  readonly before?: Wait;
  readonly after?: never;
  readonly wait?: never;
  readonly pause?: never;
};
type TimerCommand<C, Cond> = {
  /** The command that the aggregate, or its item, runs. It must have no form. */
  readonly run: keyof C & string;
  /**
   * Only aggregates for which this condition holds: a limit counts these. Those that react run the command if it
   * holds when the command is executed; those with a timer, if it also holds when the timer runs out.
   */
  readonly when?: Cond;
};

type Hold<Role extends string, Cond> = {
  /**
   * The right to place a hold, to release that of another person, and to read who placed one and why. `{}` is a
   * right of administrators alone.
   */
  readonly right: Omit<Row<Role, Cond>, 'as'>;
};

/** For example `'10 years'` and `'18 months'`. */
type Period = `${number} ${'day' | 'month' | 'year'}${'' | 's'}`;
type Retain<E, C> = {
  /**
   * For how long each must be kept: a number of days, months or years, as `'10 years'`, by the calendar in UTC.
   * Until then nobody can delete it.
   */
  readonly for: Period;
  /** The event from which on it must be kept, or several: the latest of them counts. */
  readonly after: (keyof E & string) | readonly (keyof E & string)[];
  /** The command that ends it when the time is over, without a form, and after the release of its holds. */
  readonly run: keyof C & string;
};

type Schedule<F, C, Cond> = {
  /**
   * Minute, hour, day of the month, month and day of the week: `'30 2 * * *'` is half past two every night, `'0 9 * *
   * MON'` is nine on Mondays.
   */
  readonly cron: string;
  /** The time zone of the expression, by its IANA name: `'Europe/Berlin'`, or `'UTC'`. */
  readonly timeZone: string;
  /** The command: a creation once, any other sent to each aggregate for which `when` holds. */
  readonly run: keyof C & string;
  /** Only aggregates for which this condition holds when they are selected, and when the command is executed. */
  readonly when?: Cond;
  /** The form of the command, made of the scheduled time. Pure: it runs again after a crash. */
  readonly form?: (given: ScheduledTime) => ScheduledForm<F>;
  /**
   * Times at which no process could run it: they are skipped, or the latest of them are caught up, seven with
   * `{ catchUp: 7 }`.
   */
  readonly missed: 'skip' | { readonly catchUp: number };
};
type ScheduledForm<F> = {
  readonly [K in keyof F & string as F[K] extends Ref<unknown, unknown> ? `${K}Id` : K]?: ValueOf<F[K]>;
};

// ── The declaration ─────────────────────────────────────────────────────────────
/** `own` is a fact only if the aggregate has an owner. */
type Own<O> = [O] extends [string] ? 'own' : never;
export type FactSpec<Cond> = Cond | { readonly when?: Cond; readonly says: string };
/** An interface, so that compiler messages spell the words out. */
export interface Facts<F, K, O> {
  readonly fact:
    | { [N in keyof F]: F[N] extends Choice<infer V> ? V : never }[keyof F]
    | Own<O>
    | (keyof K & string);
}

export type Declaration<
  Role extends string,
  F extends Fields,
  D,
  E,
  K,
  C,
  O,
  P,
  Cond = Condition<Facts<F, NoInfer<K>, O>['fact'], F, NoInfer<D>>,
> = {
  /** Names that cannot be derived from that of the aggregate. */
  readonly names?: {
    /** The plural, in paths, tables and lists; by default the name with an s. */
    readonly plural?: string;
    /** The type in GraphQL; by default the name with a capital. */
    readonly graphql?: string;
  };
  /** A sentence for documentation; of a command in the imperative: “Publish an article”. */
  readonly says?: string;
  /**
   * The user who owns it, for ever: its creator, unless the right `forOthers` lets the creator name another
   * user.
   */
  readonly owner?: O;
  /**
   * The reference to its parent, below which it is created and listed, as `/articles/{articleId}/comments`.
   * Only an event with `moves` changes it.
   */
  readonly parent?: P;
  /**
   * The field that other aggregates show, beside the id, when they refer to it: to callers who may read the
   * aggregate itself, otherwise null.
   */
  readonly label?: Keys<F, unknown>['label'];
  /** The default order of its lists; `newest` first unless given. */
  readonly order?: 'oldest' | 'newest';
  /** Its fields, with their types and options. */
  readonly fields: F;
  /** Numbers derived from its lists. */
  readonly derived?: D;
  /** Its events and their effects. They are storage: only add to them. */
  readonly events: E & KnownWords<E>;
  /**
   * Named conditions, for use as words, each with or without the message for a command that requires it:
   * `{ when: ['draft', 'rejected'], says: 'The claim was submitted.' }`. The words of choices and states are
   * facts already, and so is `own`: they get a message by `{ says }` alone.
   */
  readonly facts?: K;
  /** Conditions that hold after every command; a command that would violate one is refused. */
  readonly invariants?: { readonly [name: string]: Cond };
  /**
   * Maximum numbers of aggregates, enforced for concurrent requests too: “three open claims of one employee”.
   */
  readonly limits?: { readonly [name: string]: Limit<Keys<F, unknown>['plain'], Cond> };
  /** The commands that clients can send. */
  readonly commands: C & Followed<C> & Decided<C, NoInfer<F>, NoInfer<E>>;
  /** The rights to read the aggregate and to send each command. */
  readonly rights: RightsOf<Role, F, C, Cond>;
  /** Fields and items of lists with narrower rights to read, and fields with narrower rights to write. */
  readonly fieldRights?: { readonly [name: string]: FieldRight<Role, F, NoInfer<D>, Cond> };
  /**
   * `logged` records every read of it in the log of reads, by every interface: by whom, when, through which
   * client, and which fields. An object names what to record, and what happens if the log cannot be written.
   */
  readonly reads?: 'logged' | LoggedReads<Keys<F, NoInfer<D>>['any']>;
  /**
   * Commands that follow from events: by reference, its own commands after events of the target; by event of its
   * own, code that returns commands to any aggregate, where data cannot express it.
   */
  readonly reactions?: Reactions<NoInfer<F>, NoInfer<D>, NoInfer<E>, C, Cond>;
  /** Commands without a form that run some time after an event, unless they no longer apply. */
  readonly timers?: { readonly [name: string]: Timer<NoInfer<F>, E, C, Cond> };
  /** Holds, during which nobody can delete the aggregate or erase the persons to whom its personal data belongs. */
  readonly hold?: Hold<Role, Cond>;
  /** For how long each must be kept, and how it ends afterwards. */
  readonly retain?: Retain<E, C>;
  /** Commands at the times of cron expressions, once across all processes; their names are the actors in histories. */
  readonly schedules?: { readonly [name: string]: Schedule<NoInfer<F>, C, Cond> };
};

declare const MORE: unique symbol;
/** The other parts of a declaration by which clients are typed. */
export type More<Names, Label, Guards, Invariants, Limits> = {
  readonly names?: Names;
  readonly label?: Label;
  readonly fieldRights?: Guards;
  readonly invariants?: Invariants;
  readonly limits?: Limits;
};
export type Named = { readonly [name: string]: unknown };

export interface Aggregate<
  Kind extends string,
  F extends Fields,
  D,
  E,
  Fact extends string,
  C,
  More = unknown,
> extends Asked<AskedOf<Fact, F, D>> {
  readonly [MORE]?: { readonly facts: Fact; readonly more: More };
  readonly kind: Kind;
  readonly fields: F;
  readonly derived: D;
  readonly events: E;
  readonly commands: C;
  readonly declaration: AnyDeclaration;
}
/** The parts by which clients are typed. */
export type Part<Role extends string, F extends Fields, D, E, K, C, O, P> = Required<
  Declaration<Role, F, D, E, K, C, O, P>
>;
/** The untyped declaration that the registry reads. */
export type AnyDeclaration = Declaration<
  string,
  Fields,
  Record<string, never>,
  unknown,
  unknown,
  unknown,
  unknown,
  unknown
>;
export type AnyAggregate = {
  readonly kind: string;
  readonly fields: Fields;
  readonly declaration: AnyDeclaration;
};
