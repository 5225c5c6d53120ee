// Over 200 lines, because it is one language: everything that the declaration of a view can contain, with
// its types.
import type { AnyDeclaration } from './aggregate.ts';
import type { Match } from './conditions.ts';
import type { Field, FieldDef, Fields, Instant, Period, Ref, TargetOf, ValueOf } from './fields.ts';

// The declaration of views, as types: one file, because its parts are inferred from each other.

/** The options of a view’s number. */
interface Said {
  /** A description for documentation. */
  says(text: string): this;
  /** Lists can be sorted by it. */
  sort(): this & { readonly isSorted: true };
}
type Spoken = { readonly text: string | undefined; readonly isSorted: boolean };
/** A sum of integers of the declaration, and of numbers in events. */
export interface Sum extends Said, Spoken {
  readonly value: 'sum';
}
/** The average of numbers in events. */
export interface Avg extends Said, Spoken {
  readonly value: 'avg';
}
/** The latest value. */
export interface Latest<out X> {
  readonly value: 'latest';
  readonly field: X;
}
/** The lowest value. */
export interface Min<out X> {
  readonly value: 'min';
  readonly field: X;
}
/** The highest value. */
export interface Max<out X> {
  readonly value: 'max';
  readonly field: X;
}

const spoken = <X extends Sum | Avg>(
  value: X['value'],
  { text, isSorted }: Spoken = { text: undefined, isSorted: false },
): X =>
  ({
    ...{ value, text, isSorted },
    says: (says: string) => spoken<X>(value, { text: says, isSorted }),
    sort: () => spoken<X>(value, { text, isSorted: true }),
  }) as unknown as X;

/**
 * A sum over numbers of the declaration and of events: a count, if each event gives 1. It has the options `says`
 * and `sort`, like fields.
 */
export const sum = (): Sum => spoken<Sum>('sum');
/** The average of the numbers of the shares that have one; null without any. It has `says` and `sort` too. */
export const avg = (): Avg => spoken<Avg>('avg');
/** The value of the latest event that gives one: a type of field, with its options. */
export const latest = <X extends Field<unknown>>(field: X): Latest<X> => ({ value: 'latest', field });
/** The lowest value of the shares that have one: a number, a date or an instant, with its options. */
export const min = <X extends Field<number> | Field<string>>(field: X): Min<X> => ({ value: 'min', field });
/** The highest value of the shares that have one. */
export const max = <X extends Field<number> | Field<string>>(field: X): Max<X> => ({ value: 'max', field });

export type OneValue = Latest<Field<unknown>> | Min<Field<unknown>> | Max<Field<unknown>>;
export type Values = { readonly [name: string]: Sum | Avg | OneValue };

export type AnySource = {
  readonly kind: string;
  readonly fields: Fields;
  readonly derived: unknown;
  readonly events: unknown;
  readonly declaration: AnyDeclaration;
};

/** The fields that an event always contains; a creation contains all. */
type Sure<A extends AnySource, E> = E extends { readonly creates: unknown }
  ? keyof A['fields'] & string
  :
      | (E extends { readonly computes: readonly (infer K)[] } ? K : never)
      | (E extends { readonly carries: readonly (infer K)[] } ? K : never);
/** The fields that an event may contain. */
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
  readonly [N in keyof V]?: V[N] extends Sum | Avg
    ? Amount<Extract<NumberField<A>, Names>>
    : V[N] extends Latest<infer X> | Min<infer X> | Max<infer X>
      ? Extract<FieldLike<A, X>, Names> | (X extends Instant<unknown> ? 'now' : never)
      : never;
};
type Numbers<A extends AnySource, Names, V> = {
  readonly [N in keyof V]?: V[N] extends Sum ? Amount<Extract<NumberField<A>, Names>> : never;
};

/** The effect of an event on its aggregate’s share in the view. */
type ShareSpec<Given, Changed, Added> =
  /**
   * Replaces the share: with a number, a number in the event (`'total'`, `'-total'`), or a field for
   * `latest`. `gives: null` removes it; the end of an aggregate does so by itself.
   */
  | { readonly gives: Given | null }
  /** Replaces these parts of the share if the event contains them. No effect without a share. */
  | { readonly changes: Changed; readonly adds?: Added }
  /** Adds to these parts of the share. No effect without a share. */
  | { readonly changes?: Changed; readonly adds: Added };

/** The fields that can identify the row of a source under a part of the key. */
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
/** A part of the key that is a period is found by a date or an instant, or by the time of the event. */
type PeriodBy<A extends AnySource, X> =
  X extends Ref<unknown, unknown>
    ? never
    : X extends Period<unknown>
      ?
          | {
              [K in keyof A['fields'] & string]: A['fields'][K] extends Ref<unknown, unknown>
                ? never
                : A['fields'][K] extends Field<string | null>
                  ? K
                  : never;
            }[keyof A['fields'] & string]
          | 'now'
      : never;
type IsSame<One, Other> = One extends { readonly kind: infer N }
  ? Other extends { readonly kind: infer M }
    ? [N, M] extends [M, N]
      ? true
      : false
    : false
  : false;

type Source<A extends AnySource, K, V> = {
  /**
   * The key of its row: fields of its own, or `'id'` for itself. A day, a week or a month is that of a date or an
   * instant, in UTC, or of the event that gives the share: `'now'`. If one is null, the aggregate has no share.
   */
  readonly by: { readonly [N in keyof K]: ByOf<A, K[N]> | PeriodBy<A, K[N]> };
  /** The effect of each of its events on its share. */
  readonly on: {
    readonly [E in keyof A['events']]?: ShareSpec<
      Parts<A, Sure<A, A['events'][E]>, V>,
      Parts<A, Held<A, A['events'][E]>, V>,
      Numbers<A, Sure<A, A['events'][E]>, V>
    >;
  };
};

export type ViewDeclaration<Role extends string, S extends readonly AnySource[], K extends Fields, V> = {
  /** A sentence for documentation; of a command in the imperative: “Publish an article”. */
  readonly says?: string;
  /** The aggregates from whose events it is computed. */
  readonly of: S;
  /** The key of a row: references, choices, numbers, periods or short texts, none of them personal. */
  readonly key: K;
  /** The values of a row: `sum()`, `avg()`, `latest(field)`, `min(field)`, `max(field)`. */
  readonly values: V;
  /** The contribution of each of these aggregates. */
  readonly from: {
    readonly [N in S[number]['kind']]: Source<
      Extract<S[number], { readonly kind: N }>,
      NoInfer<K>,
      NoInfer<V>
    >;
  };
  /** The right to read it: a row of rights, with conditions on its key. */
  readonly read: {
    /** The right of this role. */
    readonly [R in Role | 'admin' | 'anyone' | 'signedIn']?:
      | boolean
      | Match<never, NoInfer<K>, unknown>
      | readonly Match<never, NoInfer<K>, unknown>[];
  };
};

/** The untyped declaration that the registry reads. */
export type AnyView = {
  readonly view: string;
  readonly says: string | undefined;
  readonly of: readonly AnySource[];
  readonly key: Readonly<Record<string, { readonly def: FieldDef }>>;
  readonly values: Values;
  readonly from: Readonly<
    Record<
      string,
      {
        readonly by: Readonly<Record<string, string>>;
        readonly on: Readonly<Record<string, AnyShare>>;
      }
    >
  >;
  readonly read: Readonly<Record<string, unknown>>;
};
/** Keyed by value. */
type AnyParts = Readonly<Record<string, number | string>>;
declare const ROW: unique symbol;
/** The fields of its rows, carried by its type alone: clients are typed by them. */
export interface View<Name extends string, K, V> extends AnyView {
  readonly view: Name;
  readonly [ROW]?: { readonly key: K; readonly values: V };
}
export type AnyShare = {
  readonly gives?: AnyParts | null;
  readonly changes?: AnyParts;
  readonly adds?: AnyParts;
};

/** The `view()` of one domain, typed by its roles. @internal */
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
