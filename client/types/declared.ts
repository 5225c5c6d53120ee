import type { DomainOf } from '#kernel/assembly/assemble.ts';
import type { Aggregate } from '#kernel/declare/aggregate.ts';
import type { Field, Ref, Said, TargetOf } from '#kernel/declare/fields.ts';

/** Takes the declaration of a domain apart into types. Nothing of it exists at run time. */

/** The parts of a domain. */
type Declared<Domain> = Domain extends DomainOf<infer D> ? D : never;
type Of<Domain, Part extends string> = Declared<Domain> extends { readonly [P in Part]: infer X } ? X : never;
export type UserOf<Domain> = Of<Domain, 'user'>;
export type AggregatesOf<Domain> = Of<Domain, 'aggregates'>;
export type ViewsOf<Domain> = Of<Domain, 'views'>;

export type KindOf<A> = A extends { readonly kind: infer K extends string } ? K : never;
export type FieldsOf<A> = A extends { readonly fields: infer F } ? F : never;
export type DerivedOf<A> = A extends { readonly derived: infer D } ? D : never;
export type EventsOf<A> = A extends { readonly events: infer E } ? E : never;
export type CommandsOf<A> = A extends { readonly commands: infer C } ? C : never;
/** The other parts of its declaration: names, label, rights to fields, filters, refusals. */
// biome-ignore lint/suspicious/noExplicitAny: an aggregate of whatever fields, events and commands.
type MoreOf<A> = A extends Aggregate<any, any, any, any, any, any, infer M> ? M : never;
// biome-ignore lint/suspicious/noExplicitAny: an aggregate of whatever fields, events and commands.
export type FactOf<A> = A extends Aggregate<any, any, any, any, infer Fact, any, any> ? Fact : never;
export type MoreOfA<A, Part extends string> =
  MoreOf<A> extends { readonly [P in Part]: infer X } ? X : Record<never, never>;

export type PluralOf<A> =
  MoreOfA<A, 'names'> extends { readonly plural: infer P extends string } ? P : `${KindOf<A>}s`;
export type LabelOf<A> = Extract<MoreOfA<A, 'label'>, string>;
export type OwnerOf<A> = Extract<MoreOfA<A, 'owner'>, string>;
export type ParentOf<A> = Extract<MoreOfA<A, 'parent'>, string>;

/** The attributes of a field beside its value. */
export type SaidOf<X, Part extends string> =
  X extends Said<infer S> ? (S extends { readonly [P in Part]: infer V } ? V : never) : never;
export type Is<X, Part extends string> = [SaidOf<X, Part>] extends [never] ? false : true;

/** The target of a reference, even if it is declared later. */
export type LedTo<X, Domain> = X extends { readonly later: infer Name }
  ? Extract<AggregatesOf<Domain>, { readonly kind: Name }>
  : TargetOf<X>;

/** A field's name in forms, parameters of events, and REST: `teamId`. */
export type Wire<K extends string, X> = X extends Ref<unknown, unknown> ? `${K}Id` : K;

/** The fields that are not lists. */
export type Plain<F> = { [K in keyof F & string]: IsList<F[K]> extends true ? never : K }[keyof F & string];
export type Lists<F> = { [K in keyof F & string]: IsList<F[K]> extends true ? K : never }[keyof F & string];
type IsList<X> = X extends { readonly item: unknown } ? true : false;

export type IsOptional<X> = X extends Field<infer T> ? (null extends T ? true : false) : false;

/** One type instead of an intersection, as editors show it. */
export type Flat<T> = { [K in keyof T]: T[K] };
export type IsUnion<T, U = T> = T extends unknown ? ([U] extends [T] ? false : true) : never;

type Upper =
  | 'A'
  | 'B'
  | 'C'
  | 'D'
  | 'E'
  | 'F'
  | 'G'
  | 'H'
  | 'I'
  | 'J'
  | 'K'
  | 'L'
  | 'M'
  | 'N'
  | 'O'
  | 'P'
  | 'Q'
  | 'R'
  | 'S'
  | 'T'
  | 'U'
  | 'V'
  | 'W'
  | 'X'
  | 'Y'
  | 'Z';
/** `itemAdded` as `item_added` or `item-added`. */
type Cased<Word extends string, Between extends string> = Word extends `${infer First}${infer Rest}`
  ? `${First extends Upper ? `${Between}${Lowercase<First>}` : First}${Cased<Rest, Between>}`
  : '';
export type Snake<Word extends string> = Cased<Word, '_'>;
export type Kebab<Word extends string> = Cased<Word, '-'>;
export type Singular<Word extends string> = Word extends `${infer Stem}ies`
  ? `${Stem}y`
  : Word extends `${infer Stem}s`
    ? Stem
    : Word;
