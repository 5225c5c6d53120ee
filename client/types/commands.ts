// Over 200 lines, because it is one derivation: the form of each command from its first event.
import type { Field, List, ValueOf } from '#kernel/declare/fields.ts';
import type {
  CommandsOf,
  EventsOf,
  FieldsOf,
  Flat,
  Is,
  IsOptional,
  IsUnion,
  KindOf,
  Lists,
  MoreOfA,
  OwnerOf,
  Wire,
} from './declared.ts';

/** The types of commands; the counterparts are `kernel/registry/kind-of.ts` and `kernel/decide/forms.ts`. */

type First<N> = N extends readonly [infer One, ...unknown[]] ? One : N;
/** A command has the form of its first event. */
type EventOf<A, C> = C extends { readonly emits: infer N }
  ? EventsOf<A>[First<N> & keyof EventsOf<A>]
  : never;

/** A change that also sets fields is an action with a form, and so is a move below another parent. */
type KindOfEvent<E, F> = E extends { readonly creates: unknown }
  ? 'create'
  : E extends { readonly changes: unknown }
    ? E extends { readonly sets: infer S }
      ? [keyof S] extends [never]
        ? 'edit'
        : 'action'
      : 'edit'
    : E extends { readonly adds: unknown }
      ? 'addItem'
      : E extends { readonly updates: unknown }
        ? E extends { readonly sets: infer S }
          ? [keyof S] extends [never]
            ? 'changeItem'
            : 'actOnItem'
          : E extends { readonly computes: unknown }
            ? 'actOnItem'
            : 'changeItem'
        : E extends { readonly moves: infer L }
          ? L extends Lists<F>
            ? 'moveItem'
            : 'action'
          : E extends { readonly removes: unknown }
            ? 'removeItem'
            : E extends { readonly ends: true }
              ? 'end'
              : 'action';

/**
 * The kind of a command, which decides its path; never for internal commands, which only timers and reactions
 * send.
 */
type CommandKindOf<A, C> = C extends { readonly internal: true }
  ? never
  : KindOfEvent<EventOf<A, C>, FieldsOf<A>>;
export type CommandNames<A, Kind> = {
  [C in keyof CommandsOf<A> & string]: [CommandKindOf<A, CommandsOf<A>[C]>] extends [never]
    ? never
    : CommandKindOf<A, CommandsOf<A>[C]> extends Kind
      ? C
      : never;
}[keyof CommandsOf<A> & string];

type Content<E> = E extends
  | { readonly creates: readonly (infer K)[] }
  | { readonly changes: readonly (infer K)[] }
  | { readonly moves: infer K }
  ? K & string
  : never;
type Required<C> = C extends { readonly requires: readonly (infer K)[] } ? K : never;
type Next<C> = C extends { readonly next: readonly (infer N extends string)[] } ? N : never;
/** Optional in a creation. */
type MayBeAbsent<X> = Is<X, 'default'> extends true ? true : IsOptional<X>;
type Optional<F, Names extends keyof F> = { [K in Names]: MayBeAbsent<F[K]> extends true ? K : never }[Names];
type Form<F, Names extends keyof F> = { readonly [K in Names & string as Wire<K, F[K]>]: ValueOf<F[K]> };

type ContentOf<A, Name> = Name extends keyof CommandsOf<A>
  ? Extract<Content<EventOf<A, CommandsOf<A>[Name]>>, keyof FieldsOf<A>>
  : never;
type CreationOf<A, F, Names extends keyof F, C> = Form<F, Exclude<Names, Optional<F, Names>>> &
  DemandedForm<F, Extract<Names, Required<C>>> &
  Partial<Form<F, Exclude<Optional<F, Names>, Required<C>>>> & {
    readonly [O in OwnerOf<A> as `${O}Id`]?: number;
  } & {
    readonly [N in Next<C>]?: boolean;
  };

/** The form of `create`. */
export type Creation<A> = {
  [Name in CommandNames<A, 'create'>]: Flat<
    CreationOf<A, FieldsOf<A>, ContentOf<A, Name>, CommandsOf<A>[Name & keyof CommandsOf<A>]>
  >;
}[CommandNames<A, 'create'>];

/** The form of `edit`: omitted fields stay as they are. */
export type Edit<A> = {
  [Name in CommandNames<A, 'edit'>]: IsUnion<ContentOf<A, Name>> extends false
    ? Flat<Form<FieldsOf<A>, ContentOf<A, Name>>>
    : Flat<Partial<Form<FieldsOf<A>, ContentOf<A, Name>>>>;
}[CommandNames<A, 'edit'>];

type GuardsOf<A> = MoreOfA<A, 'fieldRights'>;
type Guarded<A> = {
  [G in keyof GuardsOf<A>]: GuardsOf<A>[G] extends {
    readonly [W in 'reads' | 'writes']?: readonly (infer K)[];
  }
    ? K
    : never;
}[keyof GuardsOf<A>];
/** The form of `replace`: all fields that can be changed, except those that not everybody may write. */
export type Replacement<A> = {
  [Name in CommandNames<A, 'edit'>]: Flat<
    Form<FieldsOf<A>, Exclude<ContentOf<A, Name>, Guarded<A>>> &
      Partial<Form<FieldsOf<A>, Extract<ContentOf<A, Name>, Guarded<A>>>>
  >;
}[CommandNames<A, 'edit'>];

/** Optional in an action: the field stays as it is. */
type LeftIn<F, Names extends keyof F, Demanded> = {
  [K in Names]: K extends Demanded ? never : IsOptional<F[K]> extends true ? K : never;
}[Names];
type DemandedForm<F, Names extends keyof F> = {
  readonly [K in Names & string as Wire<K, F[K]>]: NonNullable<ValueOf<F[K]>>;
};
type ActionForm<F, Names extends keyof F, Demanded> = DemandedForm<
  F,
  Exclude<Names, LeftIn<F, Names, Demanded>>
> &
  Partial<Form<F, LeftIn<F, Names, Demanded>>>;
/** The form of an action. */
export type ActionFormOf<A, Name extends keyof CommandsOf<A>> = [ContentOf<A, Name>] extends [never]
  ? undefined
  : Flat<ActionForm<FieldsOf<A>, ContentOf<A, Name>, Required<CommandsOf<A>[Name]>>>;

/**
 * If there are several edits or ends, the first of each has the path of the item, and the others are actions.
 * Types do not know which is first.
 */
export type ActionNames<A> =
  | CommandNames<A, 'action'>
  | (IsUnion<CommandNames<A, 'edit'>> extends true ? CommandNames<A, 'edit'> : never)
  | (IsUnion<CommandNames<A, 'end'>> extends true ? CommandNames<A, 'end'> : never);

export type FileFields<A> = {
  [K in ContentOf<A, CommandNames<A, 'edit'>>]: FieldsOf<A>[K] extends { readonly isUpload: true }
    ? K
    : never;
}[ContentOf<A, CommandNames<A, 'edit'>>];

type KeyOf<L> = L extends List<infer I, unknown, infer K, unknown> ? Extract<K, keyof I> : never;
type ItemFields<L> = L extends { readonly item: infer I } ? I : never;
type NameOfList<E> = E extends
  | { readonly adds: infer L }
  | { readonly updates: infer L }
  | { readonly moves: infer L }
  | { readonly removes: infer L }
  ? L
  : never;
/** The fields that events of a list set. */
type SetBy<A, L> = {
  [N in keyof EventsOf<A>]: [NameOfList<EventsOf<A>[N]>] extends [never]
    ? never
    : NameOfList<EventsOf<A>[N]> extends L
      ? GivenBySystem<EventsOf<A>[N]>
      : never;
}[keyof EventsOf<A>];
/** A reference stays in forms although the end of its target sets it to null. */
type GivenBySystem<E> = E extends { readonly gone: true } ? never : SetOrComputed<E>;
type SetOrComputed<E> =
  | (E extends { readonly sets: infer S } ? keyof S : never)
  | (E extends { readonly computes: readonly (infer K)[] } ? K : never);
type StatesIn<I> = { [K in keyof I]: I[K] extends { readonly isStates: true } ? K : never }[keyof I];
/** The fields that decide who may read an item never change. */
type Settled<A, L> = {
  [G in keyof GuardsOf<A>]: GuardsOf<A>[G] extends { readonly items: { readonly [K in L & string]: infer M } }
    ? keyof M
    : never;
}[keyof GuardsOf<A>];

type ListAt<A, Name> = FieldsOf<A>[Name & keyof FieldsOf<A>];
type Event<A, C> = EventOf<A, CommandsOf<A>[C & keyof CommandsOf<A>]>;
/** The fields of an item in the form of a command, without its key. */
type ItemContent<A, E, I, L = NameOfList<E>> = E extends { readonly fields: readonly (infer K)[] }
  ? K & keyof I
  : E extends { readonly adds: unknown }
    ? Exclude<keyof I, SetBy<A, L> | StatesIn<I> | KeyOf<ListAt<A, L>>>
    : E extends { readonly updates: unknown }
      ? E extends { readonly sets: unknown } | { readonly computes: unknown }
        ? never
        : Exclude<keyof I, SetBy<A, L> | StatesIn<I> | KeyOf<ListAt<A, L>> | Settled<A, L>>
      : never;

type AddedForm<I, Names extends keyof I, Key extends keyof I> = Flat<
  Form<I, Exclude<Names, Optional<I, Names>> | Key> & Partial<Form<I, Optional<I, Names>>>
>;
/** The form of a command that adds an item. */
export type AdditionBy<A, C> = AddedForm<
  ItemFields<ListAt<A, NameOfList<Event<A, C>>>>,
  ItemContent<A, Event<A, C>, ItemFields<ListAt<A, NameOfList<Event<A, C>>>>>,
  KeyOf<ListAt<A, NameOfList<Event<A, C>>>> & keyof ItemFields<ListAt<A, NameOfList<Event<A, C>>>>
>;
/** The form of another command to an item. */
export type ItemFormOf<A, C> = Flat<
  Form<
    ItemFields<ListAt<A, NameOfList<Event<A, C>>>>,
    ItemContent<A, Event<A, C>, ItemFields<ListAt<A, NameOfList<Event<A, C>>>>>
  >
>;

/** The commands of a kind to the items of one list. */
type CommandsOnList<A, Name, Kind> = {
  [C in CommandNames<A, Kind>]: NameOfList<Event<A, C>> extends Name ? C : never;
}[CommandNames<A, Kind>];
/** The forms of `add`. Types do not know which of several commands is first. */
export type Addition<A, Name> = {
  [C in CommandsOnList<A, Name, 'addItem'>]: AdditionBy<A, C>;
}[CommandsOnList<A, Name, 'addItem'>];
/** The form of `edit` of an item of a list. */
export type ItemEdit<A, Name> = {
  [C in CommandsOnList<A, Name, 'changeItem'>]: Partial<ItemFormOf<A, C>>;
}[CommandsOnList<A, Name, 'changeItem'>];

/** Further commands that add items are actions of the aggregate. */
export type FurtherAdditions<A> = {
  [N in Lists<FieldsOf<A>>]: IsUnion<CommandsOnList<A, N, 'addItem'>> extends true
    ? CommandsOnList<A, N, 'addItem'>
    : never;
}[Lists<FieldsOf<A>>];
/** Commands to an item that have a path of their own below it. */
export type ItemActions<A, Name> =
  | CommandsOnList<A, Name, 'actOnItem'>
  | (IsUnion<CommandsOnList<A, Name, 'changeItem'>> extends true
      ? CommandsOnList<A, Name, 'changeItem'>
      : never)
  | (IsUnion<CommandsOnList<A, Name, 'removeItem'>> extends true
      ? CommandsOnList<A, Name, 'removeItem'>
      : never);

/** The lists that a kind of command changes. */
export type ListOfCommand<A, Kind extends 'addItem' | 'changeItem' | 'moveItem' | 'removeItem'> = {
  [C in CommandNames<A, Kind>]: NameOfList<Event<A, C>>;
}[CommandNames<A, Kind>];

/** The data of an event, as far as the caller may read it: the ids are always there. */
export type EventData<A, E> = { readonly [K in `${KindOf<A>}Id`]: number } & {
  readonly [K in DataKey<E> & keyof FieldsOf<A> & string as Wire<
    K,
    FieldsOf<A>[K]
  >]?: FieldsOf<A>[K] extends Field<infer T> ? T | null : never;
} & { readonly [name: string]: unknown };
type DataKey<E> =
  | Content<E>
  | (E extends { readonly computes: readonly (infer K)[] } ? K : never)
  | (E extends { readonly carries: readonly (infer K)[] } ? K : never);
