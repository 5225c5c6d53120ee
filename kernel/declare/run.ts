import type { Asked, OwnCondition } from './conditions.ts';
import type { Fields, Ref, ValueOf } from './fields.ts';

/** A command that code sends to an aggregate: to an existing one by id, or to create one. */
export type Commanded = {
  readonly kind: string;
  readonly command: string;
  readonly id: number | undefined;
  readonly form: Readonly<Record<string, unknown>>;
  readonly when: unknown;
};

/** An aggregate that commands are sent to. */
export type Any = {
  readonly kind: string;
  readonly fields: Fields;
  readonly events: unknown;
  readonly commands: unknown;
};
/** The event that a command emits; if there are several, the first, whose form it has. */
export type EventOf<A extends Any, C extends keyof A['commands']> = A['commands'][C] extends {
  readonly emits: infer N;
}
  ? A['events'][(N extends readonly [infer First, ...unknown[]] ? First : N) & keyof A['events']]
  : never;
type ContentOf<E> = E extends
  | { readonly creates: readonly (infer K)[] }
  | { readonly changes: readonly (infer K)[] }
  | { readonly moves: infer K }
  ? K
  : never;
/** The form, with its names. A missing required field parks the reaction. */
type FormOf<F, Content> = {
  readonly [K in keyof F & Content & string as F[K] extends Ref<unknown, unknown> ? `${K}Id` : K]?: ValueOf<
    F[K]
  >;
};
type RefKey<F> = { [K in keyof F]: F[K] extends Ref<unknown, unknown> ? K : never }[keyof F];
/** The forms of items are not typed. */
type ItemForm = { readonly [name: string]: unknown };

/** A condition is a word of its own, so that none can be taken for a form. */
export type GivenTo<A extends Any, E> = E extends { readonly creates: unknown }
  ? { readonly form: FormOf<A['fields'], ContentOf<E> | RefKey<A['fields']>> }
  : {
      readonly id: number;
      /** Only if this holds for the aggregate then; otherwise nothing happens. */
      readonly when?: A extends Asked<infer Target> ? OwnCondition<Target> : never;
    } & (E extends { readonly changes: unknown } | { readonly moves: RefKey<A['fields']> }
      ? { readonly form?: FormOf<A['fields'], ContentOf<E>> }
      : E extends OfItems
        ? { readonly form: ItemForm }
        : { readonly form?: never });
type OfItems =
  | { readonly adds: unknown }
  | { readonly updates: unknown }
  | { readonly moves: unknown }
  | { readonly removes: unknown };

/**
 * For example `run(payment, 'open', { form: { amount: 5 } })`, and `run(team, 'book', { id: state.team, form: {
 * amount: 5 }, when: 'open' })`.
 */
export type Run = <A extends Any, C extends keyof A['commands'] & string>(
  aggregate: A,
  command: C,
  given: GivenTo<A, EventOf<A, C>>,
) => Commanded;

/** Describes the command; the kernel sends it. @internal */
export const run: Run = ({ kind }, command, given) => {
  const { id, form = {}, when } = given as Partial<Commanded>;
  return { kind, command, id, form, when };
};
