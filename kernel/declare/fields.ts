// Over 200 lines, because it is one list: the types of fields and their options.
import * as z from 'zod';
import type { Period as PeriodKind } from '../base/period.ts';
import { REASON_CHARACTERS_MAX, reason } from '../base/reason.ts';
import * as values from '../base/values.ts';

/** One of several columns that store a value. */
export type Part = {
  readonly column: string;
  readonly type: string;
  /** Overrides the nullability of the field. */
  readonly isNullable?: boolean;
  /** The name in histories; without one, histories omit it. */
  readonly shown?: string;
  of(value: unknown): unknown;
};

/** The run-time definition of a field, from which all interpreters derive theirs. */
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
  /** Validates events; may be loosened later, never tightened. */
  readonly recorded: z.ZodType;
  /** Validates forms; at least as strict as `recorded`. */
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
  /** The target of a reference: the aggregate, or its kind if it is declared later. */
  readonly target?: { readonly kind: string } | string;
  /** The reference becomes null when its target ends. */
  readonly gone?: 'null';
  readonly item?: Fields;
  readonly key?: string | undefined;
  readonly ordered?: boolean;
  readonly one?: string;
  readonly max?: number;
  /** An upload may also be an external address. */
  readonly mayBeElsewhere?: boolean;
  /** A part of the key of a view that holds periods of this kind. */
  readonly period?: PeriodKind;
  /** The files that an upload accepts, if it is no picture. */
  readonly file?: FileLimits;
  readonly says?: string;
  /** A text in Markdown. */
  readonly isMarkdown?: true;
  /** Descriptions of some words of a choice. */
  readonly means?: Readonly<Record<string, string>>;
  readonly example?: unknown;
} & OfKernel;

/** Options for aggregates of the kernel only. */
type OfKernel = {
  /** The columns, if the field is not stored in one column of its name. */
  readonly parts?: readonly Part[];
  /** The number of latest values that the state keeps; the row keeps the last. */
  readonly remembers?: number;
  /** An e-mail address, of which several spellings are the same. */
  readonly isAddress?: true;
  /** Converts a secret to the form that may be stored outside the log. */
  readonly concealed?: (value: unknown) => unknown;
};

export type FileLimits = { readonly types: readonly string[]; readonly bytesMax: number };

declare const VALUE: unique symbol;
declare const TARGET: unique symbol;
declare const NAMED: unique symbol;
declare const SAID: unique symbol;

/** The options of a field, carried by its type alone: clients are typed by them. */
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
  /** The value if a form does not contain it. */
  default(value: T): this & Said<{ readonly default: true }>;
  /** Lists can be filtered by it, under its name or the given one: `?tag=engines`. */
  filter<const Name extends string | true = true>(name?: Name): this & Said<{ readonly filter: Name }>;
  /** Lists can be sorted by it; instants only. */
  sort(): this & Said<{ readonly sort: true }>;
  /** Makes its words searchable by `?q=`; weight `A` counts most. */
  search(weight: 'A' | 'B' | 'C' | 'D'): this & Said<{ readonly search: true }>;
  /** No two aggregates have the same value, ignoring case. */
  unique(): this;
  /**
   * Personal data of the owner, or of the user to whom `of` leads: another reference, or a path to one
   * (`'claim.employee'`). It is encrypted in the log, and erased with the person. Afterwards it is `erased`,
   * by default null.
   */
  personal<const Erased extends string | null = null>(options?: {
    of?: string;
    erased?: Erased;
  }): this &
    Said<
      Erased extends string
        ? { readonly personal: true }
        : { readonly personal: true; readonly erasable: true }
    >;
  /** A sentence for documentation; of a command in the imperative: “Publish an article”. */
  says(text: string): this;
  /** An example value for documentation. */
  example(value: NonNullable<T>): this;
}
/** One of some words. Each word is a fact. */
export interface Choice<V extends string> extends Field<V> {
  /** The name of its GraphQL enumeration. @internal */
  named(name: string): this;
}
/** A choice that only events change; it starts as the first word. */
export interface States<V extends string> extends Choice<V> {
  readonly isStates: true;
}
/** The id of another aggregate. */
export interface Ref<out A, out N = never> extends Field<number | N> {
  /** Distinguishes a reference from other numbers in types. */
  readonly isRef: true;
  readonly [TARGET]?: A;
  optional(): Ref<A, null> & SaidOf<this>;
}
/** A reference that becomes null when its target ends. */
type Emptied<A> = Ref<A, null> & Said<{ readonly gone: true }>;
/** Items in a table of their own, each identified by an id or by its key. */
export interface List<out I extends Fields, out Id = unknown, out Key = unknown, out One = unknown>
  extends Field<readonly ItemOf<I, Id>[]> {
  readonly item: I;
  readonly [NAMED]?: { readonly key: Key; readonly one: One };
}
/** A timestamp; an event can set it to its own time by `now`. */
export interface Instant<N = never> extends Field<string | N> {
  readonly isInstant: true;
  optional(): Instant<null> & SaidOf<this>;
}
/** A part of the key of a view that holds days, weeks or months. */
export interface Period<N = never> extends Field<string | N> {
  readonly isPeriod: true;
  optional(): Period<null> & SaidOf<this>;
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

/** A single line that is not blank. */
export const line = (max: number): Field<string> => ofText(values.visibleText(max), values.demandedLine(max));
/** Why somebody does something: a line that callers cannot leave to punctuation. @internal */
export const reasonLine = (): Field<string> => ofText(values.visibleText(REASON_CHARACTERS_MAX), reason);
/** One or more lines that are not blank. */
export const prose = (max: number): Field<string> => ofText(values.visibleText(max));
/** Markdown, which may be empty. */
export const markdown = (max: number): Field<string> =>
  field({ ...plain('text', ['text', 'String'], values.text(max)), isMarkdown: true });
/** A word that matches a pattern; `error` is the message for one that does not. */
export const word = (pattern: RegExp, error: string): Field<string> =>
  ofText(z.string().regex(pattern, { error }));
/** An e-mail address. @internal */
export const email = (): Field<string> & Said<{ readonly address: true }> =>
  field({ ...plain('text', ['text', 'String'], values.email), isAddress: true });
/** A day without a time, as `2026-01-31`. */
export const date = (): Period => field(plain('date', ['date', 'Date'], values.day));
/** A timestamp in UTC, as `2026-01-02T03:04:05.678Z`; an event can set it to its own time by `now`. */
export const instant = (): Instant =>
  field(plain('instant', ['timestamptz', 'DateTime'], values.timestampOfField));
/** An integer between these limits. Beyond the 32 bits of GraphQL it is a `Float` there. */
export const integer = (min: number, max: number): Field<number> =>
  field(
    plain('integer', ['bigint', Math.max(max, -min) < 2 ** 31 ? 'Int' : 'Float'], z.int().min(min).max(max)),
  );
/** True or false. */
export const flag = (): Field<boolean> => field(plain('boolean', ['boolean', 'Boolean'], z.boolean()));
/** Words with their descriptions for documentation, in this order. */
export type Described<V extends string> = { readonly [W in V]: string };
type Words<V extends string> = readonly [V, ...V[]];
const wordsIn = (given: Words<string> | readonly [Described<string>]) => {
  const [first] = given;
  if (typeof first !== 'object') return { values: given as Words<string> };
  const means = Object.fromEntries(Object.entries(first).filter(([, text]) => text !== ''));
  return { values: Object.keys(first) as unknown as Words<string>, means };
};
/**
 * One of these words, given by forms. Each word is a fact for conditions. Words can have descriptions for
 * documentation: `choice({ low: 'It can wait.', high: 'Today.' })`.
 */
export function choice<const V extends string>(...words: Words<V>): Choice<V>;
export function choice<const V extends string>(described: Described<V>): Choice<V>;
export function choice(...given: Words<string> | readonly [Described<string>]): unknown {
  const words = wordsIn(given);
  return field({ ...plain('choice', ['text', ''], z.enum(words.values)), ...words });
}
/**
 * The state of the aggregate, which only `sets` of events changes. It starts as the first word; each word is
 * a fact for conditions. Words can have descriptions, as those of a choice.
 */
export function states<const V extends string>(...words: Words<V>): States<V>;
export function states<const V extends string>(described: Described<V>): States<V>;
export function states(...given: Words<string> | readonly [Described<string>]): unknown {
  const words = wordsIn(given);
  return field({
    ...plain('states', ['text', ''], z.enum(words.values)),
    ...words,
    initial: words.values[0],
  });
}
/** At most `max` different words, in the given order; `error` is the message for a repeated word. */
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
 * An uploaded picture (PNG, JPEG, WebP, GIF, AVIF) with the visibility of its aggregate or item. It must be
 * optional, because its aggregate or item is created before it. With `external: true`, forms can give the address
 * of a picture elsewhere instead.
 */
export const picture = ({ external = false }: { readonly external?: boolean } = {}): Upload =>
  field(
    external
      ? {
          ...plain('upload', ['text', 'String'], values.picture, values.demandedPicture),
          mayBeElsewhere: true,
        }
      : plain('upload', ['text', 'String'], z.string().regex(/^\/uploads\/[\w.-]+$/)),
  );

export type FileOptions = {
  /**
   * The media types of its files, as `application/pdf`. The content must match the type if its first bytes tell;
   * any other file is refused with 415.
   */
  readonly types: readonly [string, ...string[]];
  /** The maximum size of a file, up to 104,857,600 bytes (100 MiB); a larger one is refused with 413. */
  readonly bytesMax: number;
};
/**
 * An uploaded file of the named types, with the visibility of its aggregate or item. Its value is the address
 * of the file, which states its type, size, SHA-256 digest and name. It must be optional, because its aggregate
 * or item is created before it. Browsers download it, and run nothing in it.
 */
export const file = ({ types, bytesMax }: FileOptions): Upload =>
  field({
    ...plain('upload', ['text', 'String'], values.recordedFile, values.demandedFile),
    file: { types, bytesMax },
  });

export type RefOptions = {
  /**
   * The reference becomes null when its target ends, by an event of its own: `teamGone`, or `talksSpeakerGone`
   * in a list. It is `optional()` by this. Otherwise it keeps the id, and shows nothing else of the target.
   */
  readonly gone: 'null';
};
type Later<Name> = { readonly later: Name };
const id = z.int().positive();
/** A reference to another aggregate or a user; by name only if the aggregate is declared later. */
export function ref<A extends { readonly kind: string }>(target: A): Ref<A>;
export function ref<A extends { readonly kind: string }>(target: A, options: RefOptions): Emptied<A>;
export function ref<const Name extends string>(later: Name): Ref<unknown> & Later<Name>;
export function ref<const Name extends string>(
  later: Name,
  options: RefOptions,
): Emptied<unknown> & Later<Name>;
export function ref(target: { readonly kind: string } | string, options?: RefOptions): unknown {
  const of = { ...plain('ref', ['bigint', 'ID'], id), target };
  return field(options === undefined ? of : { ...of, gone: options.gone, optional: true });
}

export type ListOptions<K, One> = {
  /** The maximum number of items, up to 1,000. */
  readonly max: number;
  /**
   * A field that identifies an item: unique in the list, constant, and part of paths. Without a key, items
   * are numbered.
   */
  readonly key?: K;
  /** Items have an order of their own, and can be moved; by default they are ordered by id. */
  readonly ordered?: true;
  /** The name of one item, if not the singular of the list’s name. */
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

const periods = (period: PeriodKind, pattern: RegExp, example: string): Period =>
  field({
    ...plain('text', ['text', 'String'], z.string().regex(pattern).meta({ maxLength: example.length })),
    period,
    example,
  });
/** A week of ISO 8601, which begins on Monday, in the key of a view: `2026-W05`. */
export const week = (): Period => periods('week', /^\d{4}-W(?:0[1-9]|[1-4]\d|5[0-3])$/, '2026-W05');
/** A month in the key of a view: `2026-01`. */
export const month = (): Period => periods('month', /^\d{4}-(?:0[1-9]|1[0-2])$/, '2026-01');

/** For the kernel: a value of any type, and the columns that store it. @internal */
export const value = <T>(
  recorded: z.ZodType<T>,
  parts: readonly Part[],
  more: Pick<FieldDef, 'remembers' | 'concealed'> = {},
): Field<T> => field({ ...plain('value', ['', ''], recorded), parts, ...more });
