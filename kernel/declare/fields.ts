// Over 200 lines, because it is one list: the types of fields, with what can be said of them.
import * as z from 'zod';
import * as values from './values.ts';

/** One of the columns that a value is kept in, and what it has of it. */
export type Part = {
  readonly column: string;
  readonly type: string;
  /** Otherwise as the field is. */
  readonly isNullable?: boolean;
  /** As histories name it, which otherwise say nothing of it. */
  readonly shown?: string;
  of(value: unknown): unknown;
};

/** What the kernel knows of a field at run time. Everything that interpreters derive is derived from this. */
export type FieldDef = {
  readonly kind:
    | 'text'
    | 'choice'
    | 'states'
    | 'instant'
    | 'date'
    | 'integer'
    | 'boolean'
    | 'set'
    | 'ref'
    | 'upload'
    | 'list'
    | 'value';
  /** What events may hold: may be loosened later, never tightened. */
  readonly recorded: z.ZodType;
  /** What forms must satisfy. At least as strict as `recorded`. */
  readonly demanded: z.ZodType;
  readonly column: string;
  readonly graphql: string;
  readonly optional?: boolean;
  readonly initial?: unknown;
  readonly values?: readonly string[];
  readonly enumName?: string;
  readonly search?: 'A' | 'B' | 'C' | 'D';
  readonly filter?: string | true;
  readonly sort?: boolean;
  readonly unique?: boolean;
  readonly personal?: { readonly of: string | undefined; readonly erased: string | undefined };
  /** Of references: the aggregate, or its kind where it is declared later. */
  readonly target?: { readonly kind: string } | string;
  readonly item?: Fields;
  readonly key?: string | undefined;
  readonly ordered?: boolean;
  readonly one?: string;
  readonly max?: number;
  /** Of uploads: it may be an address elsewhere. */
  readonly mayBeElsewhere?: boolean;
  readonly says?: string;
  /** Of choices: what some of the words mean. */
  readonly means?: Readonly<Record<string, string>>;
  readonly example?: unknown;
} & OfKernel;

/** What only aggregates of the kernel’s own have. */
type OfKernel = {
  /** Where it is not kept in one column of its name. */
  readonly parts?: readonly Part[];
  /** So many of its latest values are in the state; in the row is the last. */
  readonly remembers?: number;
  /** Of a secret: what of it may be written down outside the log. */
  readonly concealed?: (value: unknown) => unknown;
};

declare const VALUE: unique symbol;
declare const TARGET: unique symbol;
declare const NAMED: unique symbol;
declare const SAID: unique symbol;

/** What was said of a field beside its value, carried by its type alone: clients are typed by it. */
export interface Said<out S> {
  readonly [SAID]: S;
}
/** Options can be given in any order. */
type SaidOf<X> = X extends Said<infer S> ? Said<S> : unknown;

/** A field whose value in the state is a `T`. */
export interface Field<out T> {
  readonly def: FieldDef;
  readonly [VALUE]?: T;
  /** Null until it is set. */
  optional(): Field<T | null> & SaidOf<this>;
  /** The value if a form does not name it. */
  default(value: T): this & Said<{ readonly default: true }>;
  /** Lists can be asked for one value of it, by its name or the one given: `?tag=engines`. */
  filter(): this & Said<{ readonly filter: true }>;
  /** The same, by a name of its own. */
  filter<const Name extends string>(name: Name): this & Said<{ readonly filter: Name }>;
  /** Lists can be ordered by it: instants only. */
  sort(): this & Said<{ readonly sort: true }>;
  /** Its words are found by `?q=`; what weighs `A` counts most. */
  search(weight: 'A' | 'B' | 'C' | 'D'): this & Said<{ readonly search: true }>;
  /** No two aggregates have the same, whatever its case. */
  unique(): this;
  /**
   * It belongs to a person: the owner, or whom `of` names by another reference to a user, or by a path to one
   * (`'claim.employee'`). It is encrypted in the log, and erased with the person. Then `erased` is shown.
   */
  personal(options: { of?: string; erased: string }): this;
  /** The same; once it is erased it is null. */
  personal(options?: { of?: string }): this & Said<{ readonly erasable: true }>;
  /** What it is, for documentation. */
  says(text: string): this;
  /** A value that documentation shows. */
  example(value: NonNullable<T>): this;
}
/** One of some words. Each word is a fact. */
export interface Choice<V extends string> extends Field<V> {
  /** The name of its enumeration in GraphQL. */
  named(name: string): this;
  /** What its words mean, for documentation. */
  means(texts: { readonly [W in V]?: string }): this;
}
/** A choice that only events change; begins as the first. */
export interface States<V extends string> extends Choice<V> {
  readonly isStates: true;
}
/** The id of another aggregate. */
export interface Ref<out A, out N = never> extends Field<number | N> {
  /** Tells it from other numbers. */
  readonly isRef: true;
  readonly [TARGET]?: A;
  optional(): Ref<A, null> & SaidOf<this>;
}
/** Items, each told apart by an id of its own or by its key: rows of a table of their own. */
export interface List<out I extends Fields, out Id = unknown, out Key = unknown, out One = unknown>
  extends Field<readonly ItemOf<I, Id>[]> {
  readonly item: I;
  readonly [NAMED]?: { readonly key: Key; readonly one: One };
}
/** A moment; events set it to theirs by `now`. */
export interface Instant<N = never> extends Field<string | N> {
  readonly isInstant: true;
  optional(): Instant<null> & SaidOf<this>;
}
export interface Upload<N = never> extends Field<string | N> {
  readonly isUpload: true;
  optional(): Upload<null> & SaidOf<this>;
}

export type Fields = { readonly [name: string]: Field<unknown> };
export type ValueOf<X> = X extends Field<infer T> ? T : never;
export type ValuesOf<F> = { readonly [K in keyof F]: ValueOf<F[K]> };
export type ItemOf<I, Id = unknown> = { readonly id: Id } & ValuesOf<I>;
export type TargetOf<X> = X extends Ref<infer A, unknown> ? A : never;

const field = <X>(def: FieldDef): X => {
  const but = (change: Partial<FieldDef>) => field<X>({ ...def, ...change });
  return {
    def,
    ...(def.item && { item: def.item }),
    optional: () => but({ optional: true }),
    default: (initial: unknown) => but({ initial }),
    filter: (name?: string) => but({ filter: name ?? true }),
    sort: () => but({ sort: true }),
    search: (search: 'A') => but({ search }),
    unique: () => but({ unique: true }),
    personal: ({ of, erased }: { of?: string; erased?: string } = {}) => but({ personal: { of, erased } }),
    says: (says: string) => but({ says }),
    example: (example: unknown) => but({ example }),
    named: (enumName: string) => but({ enumName }),
    means: (means: Readonly<Record<string, string>>) => but({ means }),
  } as X;
};

const plain = (
  kind: FieldDef['kind'],
  [column, graphql]: readonly [string, string],
  recorded: z.ZodType,
  demanded = recorded,
) => ({ kind, column, graphql, recorded, demanded }) as const;

const ofText = (recorded: z.ZodType, demanded = recorded): Field<string> =>
  field(plain('text', ['text', 'String'], recorded, demanded));

/** One line with something to see in it. */
export const line = (max: number): Field<string> => ofText(values.visibleText(max), values.demandedLine(max));
/** Lines with something to see in them. */
export const prose = (max: number): Field<string> => ofText(values.visibleText(max));
/** Markdown, which may be empty. */
export const markdown = (max: number): Field<string> => ofText(values.text(max));
/** A word of a certain form; `error` is the sentence for one of another form. */
export const word = (pattern: RegExp, error: string): Field<string> =>
  ofText(z.string().regex(pattern, { error }));
/** An e-mail address. */
export const email = (): Field<string> => ofText(values.email);
/** A day without a time, as `2026-01-31`. */
export const date = (): Field<string> => field(plain('date', ['date', 'Date'], values.day));
/** A moment in UTC, as `2026-01-02T03:04:05.678Z`; events set it to theirs by `now`. */
export const instant = (): Instant => field(plain('instant', ['timestamptz', 'DateTime'], values.timestamp));
/** A whole number in these limits. */
export const integer = (min: number, max: number): Field<number> =>
  field(plain('integer', ['bigint', 'Int'], z.int().min(min).max(max)));
/** An amount from 1, in the smallest unit of its currency. */
export const money = (): Field<number> =>
  field(plain('integer', ['bigint', 'Int'], z.int().min(1).max(1_000_000_000)));
/** True or false. */
export const flag = (): Field<boolean> => field(plain('boolean', ['boolean', 'Boolean'], z.boolean()));
/** One of these words, which forms say. Each word is a fact for conditions. */
export const choice = <const V extends string>(...values: readonly [V, ...V[]]): Choice<V> =>
  field({ ...plain('choice', ['text', ''], z.enum(values)), values });
/**
 * The state of the aggregate, which only `sets` of events changes. It begins as the first word; each word is
 * a fact for conditions.
 */
export const states = <const V extends string>(...values: readonly [V, ...V[]]): States<V> =>
  field({ ...plain('states', ['text', ''], z.enum(values)), values, initial: values[0] });
/**
 * At most `max` different words, in the order in which they were given; `error` is the sentence if one is
 * repeated.
 */
export const set = (
  of: Field<string>,
  max: number,
  error = 'Must not repeat a value.',
): Field<readonly string[]> =>
  field({
    ...plain('set', ['text[]', `[${of.def.graphql}!]`], values.different(of.def.recorded, max, error)),
    max,
  });
/**
 * A picture: a file that was uploaded, which whoever may read the aggregate or the item may see, or an
 * address elsewhere.
 */
export const picture = (): Upload =>
  field({
    ...plain('upload', ['text', 'String'], values.picture, values.demandedPicture),
    mayBeElsewhere: true,
  });
/**
 * A picture that was uploaded, which whoever may read the aggregate or the item may see. It is optional: what
 * it belongs to comes first.
 */
export const upload = (): Upload =>
  field(plain('upload', ['text', 'String'], z.string().regex(/^\/uploads\/[\w.-]+$/)));

const id = z.int().positive();
/** A reference to another aggregate or a user; by its name only if it is declared later. */
export function ref<A extends { readonly kind: string }>(target: A): Ref<A>;
export function ref<const Name extends string>(later: Name): Ref<unknown> & { readonly later: Name };
export function ref(target: { readonly kind: string } | string): Ref<unknown> {
  return field({ ...plain('ref', ['bigint', 'ID'], id), target });
}

export type ListOptions<K, One> = {
  /** How many items it has at most, up to 1,000. */
  readonly max: number;
  /**
   * No two items have the same of this, it never changes, and it stands for the item in paths. Otherwise each
   * is given a number.
   */
  readonly key?: K;
  /** Items are in an order of their own, and can be moved; otherwise in that of their ids. */
  readonly ordered?: true;
  /** What one of them is called, if that is not the name of the list without its plural. */
  readonly one?: One;
};
/** A list of items with fields of their own: rows of a table, each with a path. */
export const list = <
  I extends Fields,
  const K extends keyof I & string = never,
  const One extends string = never,
>(
  item: I,
  { max, key, ordered, one }: ListOptions<K, One>,
): List<I, [K] extends [never] ? number : ValueOf<I[K]>, K, One> =>
  field({
    ...plain('list', ['', ''], z.array(z.unknown()).max(max)),
    item,
    max,
    key,
    ordered: ordered === true,
    ...(one && { one }),
  });

/** Of the kernel’s own: a value of any form, and the columns that it is kept in. @internal */
export const value = <T>(
  recorded: z.ZodType<T>,
  parts: readonly Part[],
  more: Pick<FieldDef, 'remembers' | 'concealed'> = {},
): Field<T> => field({ ...plain('value', ['', ''], recorded), parts, ...more });
