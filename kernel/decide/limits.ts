import { oncePer } from '../base/once-per.ts';
import type { RejectionCode } from '../base/rejection.ts';
import { lookAlikeAddress, sameAddress } from '../base/same-address.ts';
import { always, type Expression, resolve } from '../conditions/expression.ts';
import { factsIn, knowing } from '../conditions/fold.ts';
import { holdsOf } from '../conditions/holds.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { CommandInfo, Domain, EventInfo, Kind, LimitInfo } from '../registry/registry.ts';
import type { AggregateState } from './state.ts';

/** A limit, compiled for states. */
export type Limit = LimitInfo & {
  /** True if its values may be erased. */
  readonly isPersonal: boolean;
  /** The values that an aggregate shares with others it counts with; undefined if it does not count. */
  among(state: AggregateState): Values | undefined;
  /** The same, except that e-mail addresses that only look alike differ. */
  amongSpelled(state: AggregateState): Values | undefined;
};
export type Values = readonly (string | number | boolean)[];

export const limitsOf = (domain: Domain, kind: Kind): readonly Limit[] => limitsIn(domain)(kind);

const limitsIn = oncePer((domain: Domain) =>
  oncePer((kind: Kind) => kind.limits.map((limit) => limitOf(domain, kind, limit))),
);

const limitOf = (domain: Domain, kind: Kind, limit: LimitInfo): Limit => {
  const counting = countingOf(domain, kind, limit);
  const counts = holdsOf(counting);
  const amongBy = (address: (email: string) => string): Limit['among'] => {
    const read = limit.per.map((name) => [name, sameOf(kind.fields[name], address)] as const);
    return (state) => {
      if (state.status !== 'present' || !counts(state.fields, null, () => undefined)) return undefined;
      const values = read.map(([name, same]) => same(state.fields[name]));
      return values.some((value) => value === null || value === undefined) ? undefined : (values as Values);
    };
  };
  return {
    ...limit,
    isPersonal: askedBy(limit, counting).some((name) => kind.fields[name]?.personal !== undefined),
    among: amongBy(lookAlikeAddress),
    amongSpelled: amongBy(sameAddress),
  };
};

/** The condition under which an aggregate counts. */
export const countingOf = (domain: Domain, kind: Kind, limit: LimitInfo): Expression =>
  limit.when === undefined ? always : resolve(domain, kind, limit.when);

const askedBy = ({ per }: LimitInfo, counting: Expression): readonly string[] => [
  ...per,
  ...factsIn(counting).map(({ field }) => field),
];

/** Texts are equal regardless of case. */
const sameOf = (
  def: FieldDef | undefined,
  address: (email: string) => string,
): ((value: unknown) => unknown) => {
  if (def?.kind !== 'text') return (value) => value;
  const same = def.isAddress ? address : sameText;
  return (value) => (typeof value === 'string' ? same(value) : value);
};

const sameText = (text: string): string => text.normalize('NFC').toLowerCase().normalize('NFC');

/**
 * The refusals of a command after which one more aggregate may count. The operations of the kernel declare
 * those for e-mail addresses of users.
 */
export const limitRefusalsOf = (
  domain: Domain,
  kind: Kind,
  command: Pick<CommandInfo, 'events'>,
): readonly RejectionCode[] =>
  kind.limits
    .filter(
      (limit) =>
        limit.fence !== 'email_abandoned' &&
        command.events.some((event) => canReach(domain, kind, { limit, event })),
    )
    .map(({ refusal }) => refusal.code);

type Reached = { readonly limit: LimitInfo; readonly event: EventInfo };

/** True if an aggregate may start to count, or count with others, after an event. */
const canReach = (domain: Domain, kind: Kind, { limit, event }: Reached): boolean => {
  const { effect, sets, values } = event;
  if (effect === 'ends' || effect === 'notes') return false;
  const isSet = (value: unknown): boolean => value !== 'now' && value !== 'caller';
  const begun: readonly (readonly [string, unknown])[] =
    effect === 'creates'
      ? Object.entries(kind.fields).flatMap(([name, { initial }]) =>
          values.includes(name) || name in sets || initial === undefined ? [] : [[name, initial] as const],
        )
      : [];
  const known = [...begun, ...Object.entries(sets)].filter(([, value]) => isSet(value));
  const counting = countingOf(domain, kind, limit);
  const left = known.reduce((expression, [name, value]) => knowing(expression, name, value), counting);
  if (left.op === 'const' && !left.value) return false;
  return (
    effect === 'creates' || askedBy(limit, counting).some((name) => values.includes(name) || name in sets)
  );
};
