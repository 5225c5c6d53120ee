// Over 200 lines, because it is one type: what authors write of an aggregate; each part is inferred from the
// others and read with them.
import type { Asked, Condition, ValueMatch } from './conditions.ts';
import type {
  Choice,
  Field,
  Fields,
  Instant,
  List,
  Ref,
  States,
  TargetOf,
  ValueOf,
  ValuesOf,
} from './fields.ts';
import type { CustomFilter, Expression, Projections } from './hatches.ts';
import type { Commanded, Run } from './run.ts';

// ── Which fields are what
// ────────────────────────────────────────────────────────────────────────────────────────────────────
type KeysOf<F, Type> = { [K in keyof F]: F[K] extends Type ? K : never }[keyof F] & string;
type RefKey<F> = Keys<F, unknown>['reference'];
type ListKey<F> = KeysOf<F, List<Fields>>;
type NumberKey<F> = KeysOf<F, Field<number>>;
/** An interface, so that messages spell the names out. */
interface Keys<F, D> {
  /** What forms can say. */
  readonly content: {
    [K in keyof F & string]: F[K] extends List<Fields> | States<string> ? never : K;
  }[keyof F & string];
  readonly list: { [K in keyof F & string]: F[K] extends List<Fields> ? K : never }[keyof F & string];
  readonly reference: { [K in keyof F & string]: F[K] extends Ref<unknown, unknown> ? K : never }[keyof F &
    string];
  readonly any: (keyof F | keyof D) & string;
  /** By which aggregates can be counted. */
  readonly plain: { [K in keyof F & string]: F[K] extends List<Fields> ? never : K }[keyof F & string];
}

/** Numbers that follow from lists. */
export type DerivedOf<F> = {
  readonly [name: string]: Derived<ListKey<F>, SumPath<F>>;
};
type Derived<Count, Sum> =
  /** How many items the list has. */
  | { readonly count: Count }
  /** The sum of a number of all items. */
  | { readonly sum: Sum };
type SumPath<F> = {
  [K in ListKey<F>]: F[K] extends List<infer I> ? `${K}.${NumberKey<I>}` : never;
}[ListKey<F>];

// ── Events: what has happened, and what it does to the state
// ─────────────────────────────────────────────────────────────────
/** By names alone, so that messages are short. */
type Common<Content, Sets, Carried> = {
  /** One sentence for the catalogue of events. */
  readonly says?: string;
  /** Values that documentation shows in the place of those of the fields; of a change, only these. */
  readonly example?: Sets;
  /** Values as they are after it, recorded in the event, for views; of an end, as they were before it. */
  readonly carries?: readonly Carried[];
  /** Fields that get a value which the declaration says: a value, `now`, `caller`, or `null`. */
  readonly sets?: Sets;
  /** Fields that the decision gives a value, which no form says. */
  readonly computes?: readonly Content[];
  /** GraphQL has a subscription to this event alone. */
  readonly subscribe?: true;
  /** Nobody outside sees it. */
  readonly internal?: true;
} & Versions;
export type Versions = {
  /** Of the shape of its data, 1 unless given; raise it when the shape changes. */
  readonly version?: number;
  /**
   * From an earlier version to the next; pure. Personal fields may be missing, because they were erased or
   * nothing opens them.
   */
  readonly upcast?: {
    readonly [version: number]: (
      data: Readonly<Record<string, unknown>>,
    ) => Readonly<Record<string, unknown>>;
  };
};
type SetsOf<F> = { readonly [K in keyof F]?: SetValue<F[K]> };
type SetValue<X> =
  X extends Ref<unknown, infer N> ? 'caller' | N : X extends Instant<infer N> ? 'now' | N : ValueOf<X>;
export type EventSpec<Content, Listed, Sets, Carried> = Common<Content, Sets, Carried> &
  Effect<Content, Listed, Sets>;
type Effect<Content, Listed, Sets> =
  /** Creates the aggregate with these fields, which the form of the command has. */
  | { readonly creates: readonly Content[] }
  /** Changes those of these fields that the form has, and holds them alone. */
  | { readonly changes: readonly Content[] }
  /** Adds an item to the list; the form has its fields. */
  | { readonly adds: Listed }
  /** Changes fields of an item. */
  | { readonly updates: Listed }
  /** Moves an item of an ordered list before another, or to the end. */
  | { readonly moves: Listed }
  /** Removes an item. */
  | { readonly removes: Listed }
  /** Ends the aggregate: it is not found any more, and its history stays. */
  | { readonly ends: true }
  /** Gives fields the values that the declaration says. */
  | { readonly sets: Sets }
  /** Gives fields the values that the function `decide` of the command returns. */
  | { readonly computes: readonly Content[] }
  /** Changes nothing; the event is recorded and delivered. */
  | { readonly notes: true };
export type EventsOf<F, D> = {
  readonly [name: string]: EventSpec<Keys<F, D>['content'], Keys<F, D>['list'], SetsOf<F>, Keys<F, D>['any']>;
};

/** The names of what an event holds beyond the ids. */
export type DataKey<E> =
  | (E extends { readonly creates: readonly (infer K)[] } ? K : never)
  | (E extends { readonly changes: readonly (infer K)[] } ? K : never)
  | (E extends { readonly computes: readonly (infer K)[] } ? K : never)
  | (E extends { readonly carries: readonly (infer K)[] } ? K : never);

// ── Commands: what can be asked for
// ──────────────────────────────────────────────────────────────────────────────────────────
type CommandSpec<EventName, Plain, Cond, FieldName, Decision, Reference> = {
  /** What it does, as one would ask for it: “Publish an article”. */
  readonly says?: string;
  /** What must be true of the aggregate; otherwise the command is refused, and no link leads to it. */
  readonly when?: Cond;
  /** Fields of the form that may not be null, although they are optional. */
  readonly requires?: readonly FieldName[];
  /** Only timers and reactions send it: it has no path and no mutation. */
  readonly internal?: true;
  /**
   * References whose aggregates `decide` is given as `reads`. They, and what the conditions and rights of
   * this command ask behind them, are the same when its events are appended; if they have changed meanwhile,
   * it is decided again. The event log in PostgreSQL only.
   */
  readonly reads?: readonly Reference[];
  /** Commands without a form that the same request can ask for: `"publish": true` in the form of `create`. */
  readonly next?: readonly string[];
} /** The event that happens. */ & (
  | { readonly emits: Plain }
  /** The events that `decide` chooses from. The form is that of the first. */
  | {
      readonly emits: readonly EventName[];
      /**
       * Which events happen, and the values of fields that they compute: a pure function, for what data
       * cannot say.
       */
      readonly decide: (given: Decision) => readonly (EventName | readonly [EventName, Computed])[];
    }
);
/** By the names of the fields. */
type Computed = { readonly [field: string]: unknown };
/** Events that hold only what the form and the declaration say. */
type PlainOf<E> = {
  [N in keyof E & string]: E[N] extends { readonly computes: unknown } ? never : N;
}[keyof E & string];
type StateOf<F, D> = { readonly id: number } & ValuesOf<F> & { readonly [K in keyof D]: number };
/** Of what is declared later, nothing but its id is known. */
type StateBehind<A> = A extends { readonly fields: infer F; readonly derived: infer D }
  ? StateOf<F, D>
  : { readonly id: number };
/** What a decision can depend on. */
export type Given<F extends Fields, D> = {
  /** The aggregate as it is: its id, fields and derived numbers. Of lists, the items. */
  readonly state: StateOf<F, D>;
  /** As forms name the fields; what was not given is not there. */
  readonly form: {
    readonly [K in keyof F & string as F[K] extends Ref<unknown, unknown> ? `${K}Id` : K]?: ValueOf<F[K]>;
  };
  /**
   * What the references lead to that the command names in its `reads`, by the form if that gives another;
   * null if it is not there.
   */
  readonly reads: {
    readonly [K in keyof F & string as F[K] extends Ref<unknown, unknown> ? K : never]: StateBehind<
      TargetOf<F[K]>
    > | null;
  };
  /** The user who asks, unless nobody is signed in. */
  readonly callerId: number | null;
  /** The time of the command, which its events get. */
  readonly now: string;
};
/** What a form can ask for at once are commands too. */
/** Only what a command emits can be decided. */
type Decided<C, F, E> = {
  readonly [K in keyof C]: C[K] extends { readonly emits: readonly (infer N)[] }
    ? { readonly decide: (given: never) => readonly DecisionOn<F, E, N>[] }
    : unknown;
};
/** The name of an event, with all that it computes. */
type DecisionOn<F, E, N> = N extends keyof E
  ? E[N] extends { readonly computes: readonly (infer P)[] }
    ? readonly [N, { readonly [Q in P & keyof F]: ValueOf<F[Q]> }]
    : N
  : never;
type Followed<C> = { readonly [K in keyof C]: { readonly next?: readonly (keyof C & string)[] } };
export type CommandsOf<F extends Fields, D, E, Cond> = {
  readonly [name: string]: CommandSpec<
    keyof E & string,
    PlainOf<E>,
    Cond,
    keyof F & string,
    Given<F, D>,
    RefKey<F>
  >;
};

// ── Rights
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────
/**
 * Nobody who is not named may; administrators may unless it is said. `true`, `false`, or on what it depends.
 */
type Row<Role extends string, Cond, Parent = never> = {
  /** Who has this role. */
  readonly [R in Role | 'admin']?: boolean | Cond;
} & {
  /** Everybody, signed in or not, whose role is not named. */
  readonly anyone?: boolean | Cond;
  /** Everybody signed in whose role is not named. */
  readonly signedIn?: boolean | Cond;
  /**
   * Everybody whose role is not named, as they may do it with the aggregate that this reference leads to. It
   * leaves nothing to `anyone`.
   */
  readonly as?: Parent;
  /** The first word of the scope that a token needs, if it is not `read` or `write`. */
  readonly scope?: string;
};
export type RightsOf<Role extends string, F, C, Cond> = {
  /** Who may read it: items, lists, changes, history. */
  readonly read: Row<Role, Cond, RefKey<F>>;
  /** Every command that has no row of its own. */
  readonly write?: Row<Role, Cond, RefKey<F>>;
} & {
  /** Who may give this command. */
  readonly [K in keyof C]?: Row<Role, Cond, RefKey<F>>;
};
type FieldRight<Role extends string, F, D, Cond> = Row<Role, Cond> & {
  /**
   * Fields, lists and numbers that follow from lists, which only those of this row may read, of what they may
   * read at all.
   */
  readonly reads?: readonly (Keys<F, D>['any'] | 'createdAt' | 'updatedAt')[];
  /** Items that only those of this row may read, by their own fields: `{ notes: { internal: true } }`. */
  readonly items?: ItemsOf<F>;
  /** Fields that only those of this row may give a value: of the user only. */
  readonly writes?: readonly (keyof F & string)[];
};
/** The words of a row that are no roles. */
type WordOfRights = Exclude<keyof FieldRight<never, Fields, unknown, unknown>, 'admin'>;
/** The compiler holds them against what a row can have. */
export const WORDS_OF_RIGHTS: ReadonlySet<string> = new Set(
  Object.keys({
    anyone: true,
    signedIn: true,
    as: true,
    scope: true,
    reads: true,
    items: true,
    writes: true,
  } satisfies Record<WordOfRights, true>),
);
type ItemsOf<F> = { readonly [L in ListKey<F>]?: F[L] extends List<infer I> ? ItemMatch<I> : never };
/** Values alone, because the events of an item say them. */
type ItemMatch<I> = {
  readonly [K in keyof I as I[K] extends Ref<unknown, unknown> ? never : K]?: I[K] extends Field<infer T>
    ? ValueMatch<T>
    : never;
};

/** So many aggregates at most have the same values of some fields; without fields, so many at all. */
type Limit<Counted, Cond> = {
  /** So many, from 1 to 100. */
  readonly max: number;
  /**
   * Those with the same values of this field, or of these, are counted together. Where one is null there is
   * no limit. Otherwise all are counted.
   */
  readonly per?: Counted | readonly Counted[];
  /** Only items for which it is true count. */
  readonly while?: Cond;
  /** What a command is answered by which one more would count. */
  readonly says: string;
  /** That of the refusal; otherwise it follows from the names, as `claim_open_full`. */
  readonly code?: string;
};

// ── What follows from what
// ───────────────────────────────────────────────────────────────────────────────────────────────────
/** When what I refer to has this event, I am given this command. Of items: `items.article`. */
type Reactions<F, C, Cond> = { readonly [K in RefPath<F>]?: OfTarget<At<F, K>, C, Cond> };
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
  /** The command that the aggregate, or its item, is given then. It has no form. */
  readonly run: keyof C & string;
  /** Which aggregates are given it; others are left out. */
  readonly when?: Cond;
};
/** What code is told of an event: as it is recorded, and what the aggregate was right after it. */
type Occurred<F, E> = {
  /** The id of the event. */
  readonly id: string;
  /** When it happened. */
  readonly at: string;
  /** What it holds, as forms name the fields. Personal values are null once the person is erased. */
  readonly data: {
    readonly [K in DataKey<E> & keyof F & string as F[K] extends Ref<unknown, unknown>
      ? `${K}Id`
      : K]: E extends {
      readonly changes: unknown;
    }
      ? ValueOf<F[K]> | undefined
      : ValueOf<F[K]>;
  };
};
/** Pure: it is run again after a crash, and must come to the same commands. */
type Reacting<F extends Fields, D, E> = {
  readonly [N in keyof E & string]?: (
    event: Occurred<F, E[N]>,
    given: { readonly state: Given<F, D>['state']; readonly run: Run },
  ) => Commanded | readonly Commanded[];
};

/** `'3 days'`, `'90 minutes'`. */
export type Wait = `${number} ${'second' | 'minute' | 'hour' | 'day' | 'week'}${'' | 's'}`;
type Timer<E, C, Cond> = {
  /** The event that starts it; the latest such event counts. */
  readonly after: keyof E & string;
  /** How long: a number of seconds, minutes, hours, days or weeks. */
  readonly wait: Wait;
  /** The command that it sends. It has no form. */
  readonly run: keyof C & string;
  /** What must be true when it runs out, and when the command is given: otherwise nothing is done. */
  readonly while?: Cond;
  /** What must not be true then. */
  readonly unless?: Cond;
  /** The time does not pass for it as long as this is true. */
  readonly pause?: Cond;
};

// ── The whole
// ────────────────────────────────────────────────────────────────────────────────────────────────────────────────
/** Whether `own` is a fact. */
type Own<O> = [O] extends [string] ? 'own' : never;
/** An interface, so that messages spell the words out. */
interface Facts<F, K, O> {
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
  /** Where the name of the aggregate does not give them. */
  readonly names?: {
    /** Of paths, tables and lists: by default the name with an s. */
    readonly plural?: string;
    /** The type of GraphQL: by default the name with a capital. */
    readonly graphql?: string;
  };
  /** What it is, in one sentence. */
  readonly says?: string;
  /** The user whose it is: whoever creates it, unless they may name somebody else. */
  readonly owner?: O;
  /**
   * The reference to what it stands under: it is created and listed there, as
   * `/articles/{articleId}/comments`.
   */
  readonly parent?: P;
  /** What others that refer to it show of it beside the id. */
  readonly label?: keyof F & string;
  /** Which comes first in its lists, unless another order is asked for: the newest, unless given. */
  readonly order?: 'oldest' | 'newest';
  /** What it holds: types and options of fields. */
  readonly fields: F;
  /** Numbers that follow from its lists. */
  readonly derived?: D;
  /** What can happen to it, and what that does to it. They are storage: only add to them. */
  readonly events: E;
  /**
   * Conditions with a name, to be used as words. The words of choices and states are facts already, and so is
   * `own`.
   */
  readonly facts?: K;
  /**
   * What a command is answered that asks for one of these facts where it is not true: a sentence, or one with
   * a code of its own.
   */
  readonly refusals?: {
    readonly [N in Facts<F, NoInfer<K>, O>['fact']]?:
      | string
      | { readonly code: string; readonly says: string };
  };
  /** What must be true after every command; one that would break it is refused. */
  readonly invariants?: { readonly [name: string]: Cond };
  /** At most so many at a time, however many ask at once: “three open claims of one employee”. */
  readonly limits?: { readonly [name: string]: Limit<Keys<F, unknown>['plain'], Cond> };
  /** What can be asked for. */
  readonly commands: C & Followed<C> & Decided<C, NoInfer<F>, NoInfer<E>>;
  /** Who may read it, and give which command. */
  readonly rights: RightsOf<Role, F, C, Cond>;
  /** Fields and items of lists that fewer may read, and fields that fewer may write. */
  readonly fieldRights?: { readonly [name: string]: FieldRight<Role, F, NoInfer<D>, Cond> };
  /** Commands that follow when something happens to what a reference leads to. */
  readonly reactions?: Reactions<F, C, Cond>;
  /** What follows from its own events, where data does not say it: commands to any aggregate. */
  readonly react?: Reacting<NoInfer<F>, NoInfer<D>, NoInfer<E>>;
  /** Fields of its type of GraphQL, each an expression of SQL. */
  readonly expressions?: { readonly [name: string]: Expression<NoInfer<F>, NoInfer<D>> };
  /** By what its lists can be narrowed, where `filter()` of a field does not say it. */
  readonly filters?: { readonly [name: string]: CustomFilter<NoInfer<F>, NoInfer<D>> };
  /** Fields whose values code makes of what events hold. */
  readonly projects?: Projections<
    NoInfer<F>,
    NoInfer<E>,
    { readonly [N in keyof E & string]: Occurred<NoInfer<F>, E[N]>['data'] }
  >;
  /** Commands without a form that follow some time after an event, unless they do not fit any more. */
  readonly timers?: { readonly [name: string]: Timer<E, C, Cond> };
};

declare const MORE: unique symbol;
/** What else is said of an aggregate, as far as clients are typed by it. */
export type More<Names, Label, Guards, Filters, Invariants, Limits> = {
  readonly names?: Names;
  readonly label?: Label;
  readonly fieldRights?: Guards;
  readonly filters?: Filters;
  readonly invariants?: Invariants;
  readonly limits?: Limits;
};
type Named = { readonly [name: string]: unknown };

export interface Aggregate<
  Kind extends string,
  F extends Fields,
  D,
  E,
  Fact extends string,
  C,
  More = unknown,
> extends Asked<Condition<Fact, F, D>> {
  readonly [MORE]?: { readonly facts: Fact; readonly more: More };
  readonly kind: Kind;
  readonly fields: F;
  readonly derived: D;
  readonly events: E;
  readonly commands: C;
  readonly declaration: AnyDeclaration;
}
/** The parts that clients are typed by. */
type Part<Role extends string, F extends Fields, D, E, K, C, O, P> = Required<
  Declaration<Role, F, D, E, K, C, O, P>
>;
/** As the registry reads it: the one place where types end. */
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

const declarers = new WeakMap<AnyAggregate, object>();
/** What stands for the `domain()` by which an aggregate was declared. @internal */
export const declarerOf = (aggregate: AnyAggregate): object | undefined => declarers.get(aggregate);
const declaredBy = <A extends AnyAggregate>(declarer: object | undefined, aggregate: A): A => {
  if (declarer !== undefined) declarers.set(aggregate, declarer);
  return aggregate;
};

/** What authors of one domain declare with: it knows their roles. @internal */
export const declareFor =
  <Role extends string>(declarer?: object) =>
  <
    const Kind extends string,
    F extends Fields,
    const E extends EventsOf<F, D>,
    const C extends CommandsOf<F, D, E, Condition<Facts<F, K, O>['fact'], F, D>>,
    const D extends DerivedOf<F> = Record<never, never>,
    const K extends { readonly [name: string]: Condition<Facts<F, unknown, O>['fact'], F, D> } = Record<
      never,
      never
    >,
    const O extends Keys<F, unknown>['reference'] | undefined = undefined,
    const P extends Keys<F, unknown>['reference'] | undefined = undefined,
    const Names extends Named = Record<never, never>,
    const Label extends string | undefined = undefined,
    // What is wrong with one of these is said where it stands, because they are held against what can be
    // declared before they are inferred.
    const Guards extends Part<Role, F, D, E, K, C, O, P>['fieldRights'] = Record<never, never>,
    const Filters extends Part<Role, F, D, E, K, C, O, P>['filters'] = Record<never, never>,
    const Invariants extends Part<Role, F, D, E, K, C, O, P>['invariants'] = Record<never, never>,
    const Limits extends Part<Role, F, D, E, K, C, O, P>['limits'] = Record<never, never>,
  >(
    kind: Kind,
    declaration: Declaration<Role, F, D, E, K, C, O, P> &
      More<Names, Label, Guards, Filters, Invariants, Limits>,
  ): Aggregate<
    Kind,
    F,
    D,
    E,
    Facts<F, K, O>['fact'],
    C,
    { owner: O; parent: P } & Required<More<Names, Label, Guards, Filters, Invariants, Limits>>
  > =>
    declaredBy(declarer, {
      kind,
      fields: declaration.fields,
      derived: declaration.derived ?? ({} as D),
      events: declaration.events,
      commands: declaration.commands,
      declaration: declaration as unknown as AnyDeclaration,
    });
