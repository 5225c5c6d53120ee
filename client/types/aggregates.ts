import type { Ref, ValueOf } from '#kernel/declare/fields.ts';
import type { DerivedOf, FieldsOf, Flat, Is, Plain } from './declared.ts';
import type { ReadOptions } from './options.ts';
import type { ListQuery, OfOwner } from './queries.ts';

/** The groups of a list; the counterpart is `kernel/rest/aggregates.ts`. */

type Moments = 'createdAt' | 'updatedAt';
/** Personal data, addresses and files are in no aggregate. */
type Counted<F> = {
  [K in Plain<F>]: F[K] extends { readonly isUpload: true }
    ? never
    : true extends Is<F[K], 'personal'> | Is<F[K], 'address'>
      ? never
      : K;
}[Plain<F>];
type Times<F> =
  | {
      [K in Counted<F>]: F[K] extends { readonly isInstant: true } | { readonly isPeriod: true } ? K : never;
    }[Counted<F>]
  | Moments;
type Numbers<F> = {
  [K in Counted<F>]: F[K] extends Ref<unknown, unknown>
    ? never
    : NonNullable<ValueOf<F[K]>> extends number
      ? K
      : never;
}[Counted<F>];
/** Choices, numbers, flags, references and texts; the server refuses long texts. */
type Grouped<F> = {
  [K in Counted<F>]: NonNullable<ValueOf<F[K]>> extends string | number | boolean ? K : never;
}[Counted<F>];

type Named<A> = (keyof DerivedOf<A> & string) | Numbers<FieldsOf<A>>;
/** `status`, `month(createdAt)`. */
type Dimension<A> =
  | Exclude<Grouped<FieldsOf<A>>, Times<FieldsOf<A>>>
  | (keyof DerivedOf<A> & string)
  | `${'day' | 'week' | 'month'}(${Times<FieldsOf<A>>})`;
type NumberMeasure<A> = 'count' | `${'sum' | 'avg' | 'min' | 'max'}(${Named<A>})`;
/** `count`, `sum(total)`. */
type Measure<A> = NumberMeasure<A> | `${'min' | 'max'}(${Times<FieldsOf<A>>})`;
type Signed<Name extends string> = Name | `-${Name}`;

type Query<A, G, M> = Flat<
  Omit<ListQuery<A> & OfOwner<A>, 'limit' | 'after' | 'before' | 'sort'> & {
    /** The parts that the items of a group have in common; without it, all items are one group. */
    readonly groupBy?: readonly G[];
    /** By default `['count']`. */
    readonly measures?: readonly M[];
    /** Ranges of measures, such as `count:3..` or `sum(total):..1000`. */
    readonly having?: readonly `${NumberMeasure<A>}:${string}..${string}`[];
    /** By default `groupBy`. */
    readonly sort?: readonly Signed<Dimension<A> | Measure<A>>[];
    /** The maximum number of groups, up to 1,000; by default 100. */
    readonly limit?: number;
  }
>;

type FieldIn<Name> = Name extends `${string}(${infer Field})` ? Field : Name;
type KeyValue<A, Name> = Name extends `${string}(${string})`
  ? string
  : Name extends keyof FieldsOf<A>
    ? FieldsOf<A>[Name] extends Ref<unknown, unknown>
      ? number
      : NonNullable<ValueOf<FieldsOf<A>[Name]>>
    : number;
type Of<M, F extends string> = M extends `${F}(${infer Field})` ? Field : never;
type Values<A, M, F extends string> = [Of<M, F>] extends [never]
  ? unknown
  : {
      readonly [K in F]: {
        readonly [N in Of<M, F>]: (N extends Times<FieldsOf<A>> ? string : number) | null;
      };
    };

type Group<A, G, M> = Flat<
  {
    /** Null is no value, or one that you may not read. */
    readonly key: { readonly [Name in G & string as FieldIn<Name>]: KeyValue<A, Name> | null };
  } & ('count' extends M ? { readonly count: number } : unknown) &
    Values<A, M, 'sum'> &
    Values<A, M, 'avg'> &
    Values<A, M, 'min'> &
    Values<A, M, 'max'>
>;

export type Aggregator<A> = {
  /** The number of items of the list, with sums and other measures, by groups. */
  aggregate<const G extends Dimension<A> = never, const M extends Measure<A> = 'count'>(
    query?: Query<A, G, M>,
    options?: ReadOptions,
  ): Promise<{
    readonly groups: readonly Group<A, G, M>[];
    /** Whether there are more groups than `limit`. */
    readonly hasMore: boolean;
  }>;
};
