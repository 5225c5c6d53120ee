import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { describeLimits, describeReactions, describeTimers } from '../description.ts';

/** What is refused or done beside what forms, rights and events say of it. */
export type KindRules = {
  /** The kernel’s own are left out. */
  readonly limits?: Readonly<Record<string, LimitRule>>;
  /** How many items each list may have. */
  readonly lists?: Readonly<Record<string, number>>;
  /** What follows from which event of what it refers to, or from its own by code. */
  readonly reactions?: Readonly<Record<string, string>>;
  readonly timers?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Numbers that follow from lists, and from what. */
  readonly derived?: Readonly<Record<string, string>>;
  /** Fields that code makes of events: of which, and its version. */
  readonly projects?: Readonly<Record<string, string>>;
};
export type LimitRule = {
  readonly max: number;
  readonly per: readonly string[];
  readonly while?: string;
  readonly refusal: string;
};

/** Of those aggregates that have any. */
export const rulesOf = (domain: Domain): Readonly<Record<string, KindRules>> =>
  named(Object.values(domain.kinds), (kind) => [kind.name, rulesOfKind(domain, kind)]);

const rulesOfKind = (domain: Domain, kind: Kind): KindRules => ({
  ...unlessEmpty(
    'limits',
    named(describeLimits(domain, ownLimits(kind)), ({ name, ...limit }) => [name, limit]),
  ),
  ...unlessEmpty(
    'lists',
    named(Object.values(kind.lists), ({ name, max }) => [name, max]),
  ),
  ...unlessEmpty(
    'reactions',
    named(describeReactions(domain, kind), ({ to, runs, if: when }) => [
      to,
      when === undefined ? runs : `${runs} if ${when}`,
    ]),
  ),
  ...unlessEmpty(
    'timers',
    named(describeTimers(domain, kind), ({ name, ...timer }) => [name, timer]),
  ),
  ...unlessEmpty(
    'derived',
    named(kind.derived, ({ name, list, field }) => [
      name,
      field === undefined ? `count of ${list.name}` : `sum of ${list.name}.${field}`,
    ]),
  ),
  ...unlessEmpty(
    'projects',
    named(kind.projectionVersions, (each) => [
      each.split(' ', 1)[0] ?? '',
      each.slice(each.indexOf(' ') + 1),
    ]),
  ),
});

/** That no two users have the same address is the kernel’s. */
const ownLimits = (kind: Kind): Kind =>
  kind.name === 'user' ? { ...kind, limits: kind.limits.filter(({ name }) => name !== 'email') } : kind;

const named = <T, Value extends object | string | number>(
  all: readonly T[],
  of: (each: T) => readonly [string, Value],
) =>
  Object.fromEntries(
    all.map(of).filter(([, value]) => typeof value !== 'object' || Object.keys(value).length > 0),
  ) as Readonly<Record<string, Value>>;
export const unlessEmpty = <Name extends string, Value extends object>(name: Name, value: Value) =>
  (Object.keys(value).length === 0 ? {} : { [name]: value }) as { readonly [N in Name]?: Value };
