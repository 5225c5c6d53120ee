import type { List, Ref, ValueOf } from '#kernel/declare/fields.ts';
import type { Avg, Latest, Max, Min, Sum, View } from '#kernel/declare/view.ts';
import type { CommandNames } from './commands.ts';
import type {
  DerivedOf,
  FieldsOf,
  Flat,
  Is,
  Kebab,
  KindOf,
  LabelOf,
  LedTo,
  MoreOfA,
  OwnerOf,
  ParentOf,
  Plain,
} from './declared.ts';

/**
 * The representations of items, items of lists, and rows of views in REST; the counterpart is
 * `kernel/rest/schemas.ts`.
 */

export type Link = { readonly href: string; readonly method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE' };
/** Links of actions exist if the caller may take them now. */
type Links<Rel extends string = never> = { readonly self: Link } & { readonly [R in Rel]?: Link } & {
  readonly [rel: string]: Link | undefined;
};

/** The answer to a write. */
export type Written = {
  readonly id: number;
  /** How often the item has been changed, including its creation. */
  readonly version: number;
  /** The cursor of the change. */
  readonly cursor: string;
  readonly _links: Links;
};

type Label<X, Domain> = LabelOf<LedTo<X, Domain>>;
/** A reference is shown with the label of its target, under its own name; without a label, as an id. */
type ShownName<K extends string, X, Domain> =
  X extends Ref<unknown, unknown> ? ([Label<X, Domain>] extends [never] ? `${K}Id` : K) : K;
/** `Absent` is null if the target may have ended, or if some readers may not read it; the label is null then. */
type ShownValue<X, Domain, Absent = null> =
  X extends Ref<unknown, infer N>
    ?
        | ([Label<X, Domain>] extends [never]
            ? number
            : Labelled<FieldsOf<LedTo<X, Domain>>, Label<X, Domain>, Absent>)
        | Extract<N, null>
    : ValueOf<X> | (Is<X, 'erasable'> extends true ? null : never);
type Labelled<F, L extends string, Absent> = Flat<
  { readonly id: number } & {
    readonly [K in L & keyof F]: ValueOf<F[K]> | (Is<F[K], 'erasable'> extends true ? null : never) | Absent;
  }
>;
type Shown<F, Names extends keyof F, Domain> = {
  readonly [K in Names & string as ShownName<K, F[K], Domain>]: ShownValue<F[K], Domain>;
};
/** True for users whom everybody may read: such an owner always has a name. */
type IsPublic<A> = MoreOfA<A, 'isPublic'> extends true ? true : false;
/** The parent is shown as an id. */
type ShownOf<A, Names, Domain, F = FieldsOf<A>> = {
  readonly [K in Names & keyof F & string as K extends ParentOf<A>
    ? `${K}Id`
    : ShownName<K, F[K], Domain>]: K extends ParentOf<A>
    ? number
    : ShownValue<
        F[K],
        Domain,
        K extends OwnerOf<A> ? (IsPublic<LedTo<F[K], Domain>> extends true ? never : null) : null
      >;
};

type Times = 'createdAt' | 'updatedAt';
type GuardsOf<A> = MoreOfA<A, 'fieldRights'>;
/** Fields that not every reader of the aggregate may read. */
type Guarded<A> = {
  [G in keyof GuardsOf<A>]: GuardsOf<A>[G] extends { readonly reads: readonly (infer K)[] } ? K : never;
}[keyof GuardsOf<A>];
/** If some fields have fewer readers, the time of a change would reveal changes to those fields. */
type GuardedTimes<A> =
  | Extract<Guarded<A>, Times>
  | (KindOf<A> extends 'user' ? never : [keyof GuardsOf<A>] extends [never] ? never : 'updatedAt');

/** The link of an action has the command's name; that of the first edit is `edit`. */
type Rels<A> =
  CommandNames<A, 'action' | 'end'> extends infer Name extends string
    ?
        | Kebab<Name>
        | (CommandNames<A, 'edit'> extends never ? never : 'edit')
        | (CommandNames<A, 'addItem'> extends infer Add extends string ? Kebab<Add> : never)
    : never;

/** An aggregate as `GET` returns it. */
export type Item<A, Domain> = Flat<
  { readonly id: number } & ShownOf<A, Exclude<Plain<FieldsOf<A>>, Guarded<A>>, Domain> &
    Partial<ShownOf<A, Extract<Plain<FieldsOf<A>>, Guarded<A>>, Domain>> & {
      readonly [K in Exclude<keyof DerivedOf<A> & string, Guarded<A>>]: number;
    } & { readonly [K in Extract<keyof DerivedOf<A> & string, Guarded<A>>]?: number } & {
      readonly [K in Exclude<Times, GuardedTimes<A>>]: string;
    } & { readonly [K in GuardedTimes<A>]?: string } & { readonly _links: Links<Rels<A>> }
>;

/** An item of a list: with its own id, unless a key replaces it. */
export type ListItem<L, Domain> =
  L extends List<infer I, infer Id, infer Key, unknown>
    ? Flat<
        ([Key] extends [never] ? { readonly id: Id } : unknown) &
          Shown<I, keyof I, Domain> & { readonly [K in Times]: string } & { readonly _links: Links<'edit'> }
      >
    : never;

type ViewValue<X, Domain> = X extends Sum
  ? number
  : X extends Avg
    ? number | null
    : X extends Latest<infer Y> | Min<infer Y> | Max<infer Y>
      ? ShownValue<Y, Domain> | null
      : never;
type ViewName<K extends string, X, Domain> = X extends Latest<infer Y> ? ShownName<K, Y, Domain> : K;
/** A row of a view: its key, and its values. */
export type Row<V, Domain> =
  V extends View<string, infer K, infer Values>
    ? Flat<
        Shown<K, keyof K, Domain> & {
          readonly [N in keyof Values & string as ViewName<N, Values[N], Domain>]: ViewValue<
            Values[N],
            Domain
          >;
        } & { readonly _links: Links }
      >
    : never;
