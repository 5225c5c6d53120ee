import type { List, Ref, ValueOf } from '#kernel/declare/fields.ts';
import type { FieldsOf, Flat, Is, MoreOfA, OwnerOf, ParentOf, SaidOf } from './declared.ts';
import type { At, PageOptions } from './options.ts';

export type FilterValue<X> =
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
export type ItemFilters<L> =
  L extends List<infer I, unknown, unknown, unknown> ? Filters<I> & ItemSort<Sorted<I>> : unknown;
type ItemSort<Name extends string> = [Name] extends [never] ? unknown : Sort<Name>;
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
export type Sort<Name extends string> = { readonly sort?: Name | `-${Name}` };

export type ListQuery<A> = Flat<
  PageOptions &
    At &
    Filters<FieldsOf<A>> &
    OwnFilters<MoreOfA<A, 'filters'>> &
    Searched<FieldsOf<A>> &
    Sort<'createdAt' | Sorted<FieldsOf<A>>>
>;
export type OfOwner<A> = [OwnerOf<A>, ParentOf<A>] extends [infer O extends string, never]
  ? [O] extends [never]
    ? unknown
    : { readonly [K in O]?: number }
  : unknown;
