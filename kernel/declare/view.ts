import type { AnyDeclaration } from './aggregate.ts';
import type { Match } from './conditions.ts';
import type { Field, FieldDef, Fields, Instant, Ref, TargetOf, ValueOf } from './fields.ts';

// What authors of views write, as types: one file, because each part is inferred from the others and read
// with them.

/** What can be said of a number of a view. */
interface Said {
  /** What it is, for documentation. */
  says(text: string): this;
  /** Lists can be ordered by it. */
  sort(): this & { readonly isSorted: true };
}
type Spoken = { readonly text: string | undefined; readonly isSorted: boolean };
/** How many there are: events give whole numbers. */
export interface Count extends Said, Spoken {
  readonly value: 'count';
}
/** What numbers of events add up to. */
export interface Sum extends Said, Spoken {
  readonly value: 'sum';
}
/** What was said last of all. */
export interface Latest<out X> {
  readonly value: 'latest';
  readonly field: X;
}

const spoken = <X extends Count | Sum>(
  value: X['value'],
  { text, isSorted }: Spoken = { text: undefined, isSorted: false },
): X =>
  ({
    ...{ value, text, isSorted },
    says: (says: string) => spoken<X>(value, { text: says, isSorted }),
    sort: () => spoken<X>(value, { text, isSorted: true }),
  }) as unknown as X;

/** How many: whole numbers that the declaration says. It has `says` and `sort`, as fields have them. */
export const count = (): Count => spoken<Count>('count');
/** A sum over numbers of events. It has `says` and `sort` too. */
export const sum = (): Sum => spoken<Sum>('sum');
/** The value of the latest event that gives one: a type of field, with what is said of that. */
export const latest = <X extends Field<unknown>>(field: X): Latest<X> => ({ value: 'latest', field });

export type Values = { readonly [name: string]: Count | Sum | Latest<Field<unknown>> };

export type AnySource = {
  readonly kind: string;
  readonly fields: Fields;
  readonly derived: unknown;
  readonly events: unknown;
  readonly declaration: AnyDeclaration;
};

/** The names of fields that an event always gives a value; one that creates gives all of them one. */
type Sure<A extends AnySource, E> = E extends { readonly creates: unknown }
  ? keyof A['fields'] & string
  :
      | (E extends { readonly computes: readonly (infer K)[] } ? K : never)
      | (E extends { readonly carries: readonly (infer K)[] } ? K : never);
/** And those that it may give one. */
type Held<A extends AnySource, E> =
  | Sure<A, E>
  | (E extends { readonly changes: readonly (infer K)[] } ? K : never);

type NumberField<A extends AnySource> =
  | {
      [K in keyof A['fields'] & string]: A['fields'][K] extends Ref<unknown, unknown>
        ? never
        : A['fields'][K] extends Field<number | null>
          ? K
          : never;
    }[keyof A['fields'] & string]
  | (keyof A['derived'] & string);
type FieldLike<A extends AnySource, X> = {
  [K in keyof A['fields'] & string]: ValueOf<A['fields'][K]> extends ValueOf<X> | null ? K : never;
}[keyof A['fields'] & string];

type Amount<Name extends string> = number | Name | `-${Name}`;
type Parts<A extends AnySource, Names, V> = {
  readonly [N in keyof V]?: V[N] extends Count
    ? number
    : V[N] extends Sum
      ? Amount<Extract<NumberField<A>, Names>>
      : V[N] extends Latest<infer X>
        ? Extract<FieldLike<A, X>, Names> | (X extends Instant<unknown> ? 'now' : never)
        : never;
};
type Numbers<A extends AnySource, Names, V> = {
  readonly [N in keyof V]?: V[N] extends Count
    ? number
    : V[N] extends Sum
      ? Amount<Extract<NumberField<A>, Names>>
      : never;
};

/** What an event does to the share that its aggregate has in the view. */
type ShareSpec<Given, Changed, Added> =
  /**
   * From then on its share is this, whatever it was: a number, a number that the event holds (`'total'`,
   * `'-total'`), or a field for `latest`.
   */
  | { readonly gives: Given }
  /**
   * These parts of its share are this from then on, as far as the event holds them. Without a share, nothing.
   */
  | { readonly changes: Changed; readonly adds?: Added }
  /** To these parts of its share it adds so much. Without a share, nothing. */
  | { readonly changes?: Changed; readonly adds: Added }
  /** It has no share any more; the end of an aggregate says so by itself. */
  | { readonly ends: true };

/** The fields by which a source can be counted under a part of the key. */
type ByOf<A extends AnySource, X> =
  | {
      [K in keyof A['fields'] & string]: X extends Ref<infer T, unknown>
        ? A['fields'][K] extends Ref<unknown, unknown>
          ? IsSame<TargetOf<A['fields'][K]>, T> extends true
            ? K
            : never
          : never
        : A['fields'][K] extends Ref<unknown, unknown>
          ? never
          : ValueOf<A['fields'][K]> extends ValueOf<X> | null
            ? K
            : never;
    }[keyof A['fields'] & string]
  | (X extends Ref<infer T, unknown>
      ? T extends { readonly kind: infer N }
        ? N extends A['kind']
          ? 'id'
          : never
        : never
      : never);
type IsSame<One, Other> = One extends { readonly kind: infer N }
  ? Other extends { readonly kind: infer M }
    ? [N, M] extends [M, N]
      ? true
      : false
    : false
  : false;

type Source<A extends AnySource, K, V> = {
  /**
   * Under which key it is counted: by a field of its own, or `'id'` for itself. Where one is null, it is not
   * counted.
   */
  readonly by: { readonly [N in keyof K]: ByOf<A, K[N]> };
  /** What each of its events does to its share. */
  readonly on: {
    readonly [E in keyof A['events']]?: ShareSpec<
      Parts<A, Sure<A, A['events'][E]>, V>,
      Parts<A, Held<A, A['events'][E]>, V>,
      Numbers<A, Sure<A, A['events'][E]>, V>
    >;
  };
};

export type ViewDeclaration<Role extends string, S extends readonly AnySource[], K extends Fields, V> = {
  /** What it is, in one sentence. */
  readonly says?: string;
  /** The aggregates from whose events it is made. */
  readonly of: S;
  /** What there is one row for: references, choices, numbers or short texts, none of them personal. */
  readonly key: K;
  /** What is kept for each: `count()`, `sum()`, `latest(field)`. */
  readonly values: V;
  /** What each of these aggregates has a share in. */
  readonly from: {
    readonly [N in S[number]['kind']]: Source<
      Extract<S[number], { readonly kind: N }>,
      NoInfer<K>,
      NoInfer<V>
    >;
  };
  /** Who may read it, on which conditions on its key. */
  readonly rights: {
    /** Nobody who is not named may; administrators may, unless it is said. */
    readonly read: {
      /** Who has this role. */
      readonly [R in Role | 'admin' | 'anyone' | 'signedIn']?:
        | boolean
        | Match<never, NoInfer<K>, unknown>
        | readonly Match<never, NoInfer<K>, unknown>[];
    };
  };
};

/** As the registry reads it: the one place where types end. */
export type AnyView = {
  readonly view: string;
  readonly says: string | undefined;
  readonly of: readonly AnySource[];
  readonly key: Readonly<Record<string, { readonly def: FieldDef }>>;
  readonly values: Values;
  readonly from: Readonly<
    Record<
      string,
      { readonly by: Readonly<Record<string, string>>; readonly on: Readonly<Record<string, AnyShare>> }
    >
  >;
  readonly rights: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};
/** By the names of values. */
type AnyParts = Readonly<Record<string, number | string>>;
declare const ROW: unique symbol;
/** What its rows have, carried by its type alone: clients are typed by it. */
export interface View<Name extends string, K, V> extends AnyView {
  readonly view: Name;
  readonly [ROW]?: { readonly key: K; readonly values: V };
}
export type AnyShare = {
  readonly gives?: AnyParts;
  readonly changes?: AnyParts;
  readonly adds?: AnyParts;
  readonly ends?: true;
};

/** What authors of one domain declare views with: it knows their roles. @internal */
export const viewFor =
  <Role extends string>() =>
  <
    const Name extends string,
    const S extends readonly AnySource[],
    const K extends Fields,
    const V extends Values,
  >(
    name: Name,
    declaration: ViewDeclaration<Role, S, K, V>,
  ): View<Name, K, V> => ({
    says: undefined,
    ...(declaration as unknown as Omit<AnyView, 'view' | 'says'>),
    view: name,
  });
