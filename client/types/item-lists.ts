import type { List, ValueOf } from '#kernel/declare/fields.ts';
import type { Listing } from '../pages.ts';
import type { Addition, ItemActions, ItemEdit, ItemFormOf, ListOfCommand } from './commands.ts';
import type { FieldsOf, Flat, Lists, Singular } from './declared.ts';
import type { At, PageOptions, ReadOptions, WriteOptions } from './options.ts';
import type { ItemFilters } from './queries.ts';
import type { ListItem, Written } from './representation.ts';

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

export type ItemLists<A, D> = {
  readonly [K in Lists<FieldsOf<A>>]: ItemList<A, K, FieldsOf<A>[K & keyof FieldsOf<A>], D>;
};
