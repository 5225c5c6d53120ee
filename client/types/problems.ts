import type { REJECTIONS } from '#kernel/base/rejection.ts';
import type { HttpProblemCode } from '#kernel/base/rest/http-problem.ts';
import type {
  AggregatesOf,
  CommandsOf,
  FactOf,
  FieldsOf,
  KindOf,
  Lists,
  MoreOfA,
  Snake,
  UserOf,
} from './declared.ts';

/** The codes of problems: those of the kernel, and those derived from a domain. */

type KernelCode = HttpProblemCode | keyof typeof REJECTIONS;

type OfLimits<A, Limits> = `${Snake<KindOf<A>>}_${Snake<keyof Limits & string>}_full`;
type OfUnique<A, F> = { [K in keyof F & string]: `${Snake<KindOf<A>>}_${Snake<K>}_taken` }[keyof F & string];
type OfLists<A, F> = { [K in Lists<F>]: `${Snake<KindOf<A>>}_${Snake<K>}_full` }[Lists<F>];

type OfDecisions<A, C> = {
  [K in keyof C]: C[K] extends { readonly refuses: infer R }
    ? `${Snake<KindOf<A>>}_${Snake<keyof R & string>}`
    : never;
}[keyof C];
/** Conditions of commands on items: `plan_task_not_todo`. */
type OfItems<A, F> = [Lists<F>] extends [never] ? never : `${Snake<KindOf<A>>}_${string}_not_${string}`;

type CodeOf<A> = A extends unknown
  ?
      | `${Snake<KindOf<A>>}_${'not_found' | 'deleted'}`
      | `${Snake<KindOf<A>>}_not_${Snake<FactOf<A> | (keyof MoreOfA<A, 'invariants'> & string) | 'created'>}`
      | `${Snake<KindOf<A>>}_${string}_${'not_found' | 'exists'}`
      | OfLimits<A, MoreOfA<A, 'limits'>>
      | OfUnique<A, FieldsOf<A>>
      | OfDecisions<A, CommandsOf<A>>
      | OfLists<A, FieldsOf<A>>
      | OfItems<A, FieldsOf<A>>
  : never;

/** Every code that a client of this domain can get. */
export type ProblemCode<Domain> = KernelCode | CodeOf<AggregatesOf<Domain> | UserOf<Domain>>;
