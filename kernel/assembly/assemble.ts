import { AUDITOR } from '../base/auditor.ts';
import { byName } from '../base/names.ts';
import { demandAttributes } from '../conditions/attributes.ts';
import { membershipsOf } from '../decide/memberships.ts';
import type { AnyAggregate } from '../declare/aggregate.ts';
import type { AnyView } from '../declare/view.ts';
import { definitionsOf } from '../events/definitions.ts';
import { withReactionsToEnds } from '../registry/gone.ts';
import { kindOf } from '../registry/kind-of.ts';
import type { Domain, Kind } from '../registry/registry.ts';
import { tableOf } from '../rows/table.ts';
import type { AnySender } from '../sender/sender.ts';
import { visibilityOf } from '../visibility/visibility.ts';
import { demandConfirm } from './demand-confirm.ts';
import { demandCreatable } from './demand-creatable.ts';
import { demandFields } from './demand-fields.ts';
import { demandFiles } from './demand-files.ts';
import { demandLabels } from './demand-labels.ts';
import { demandLimits } from './demand-limits.ts';
import { demandLists } from './demand-lists.ts';
import { demandNames } from './demand-names.ts';
import { demandOperations } from './demand-operations.ts';
import { demandOwnNames } from './demand-own-names.ts';
import { demandParts } from './demand-parts.ts';
import { demandReadLog } from './demand-read-log.ts';
import { demandReads } from './demand-reads.ts';
import { demandReasons } from './demand-reasons.ts';
import { demandParents, demandReferences } from './demand-references.ts';
import { demandRequires } from './demand-requires.ts';
import { demandCells, demandForOthers, demandRoles } from './demand-roles.ts';
import { demandSigned } from './demand-signed.ts';
import { demandSupported } from './demand-supported.ts';
import { demandWhole } from './demand-whole.ts';
import { demandItemConditions } from './list-conditions.ts';
import { refuse } from './refusals.ts';
import { areLoaded, assembledLater, WORDS, type Word, wordsIn } from './words.ts';

type Base = {
  readonly name: string;
  readonly roles: readonly string[];
  readonly signUp: string;
  readonly auditors?: true | undefined;
  readonly user: AnyAggregate;
};
/** References by name must lead to a declared aggregate. */
type Later<A> = A extends { readonly fields: infer F }
  ? { [K in keyof F]-?: F[K] extends { readonly later: infer N } ? N : never }[keyof F]
  : never;
type Known<A extends readonly AnyAggregate[]> = [Exclude<Later<A[number]>, A[number]['kind']>] extends [never]
  ? unknown
  : {
      readonly 'refers to an aggregate that is not in the domain': Exclude<
        Later<A[number]>,
        A[number]['kind']
      >;
    };

declare const DECLARED: unique symbol;
/** A domain with its declarations, carried by its type alone: clients are typed by them. */
export interface DomainOf<out Declared> extends Domain {
  readonly [DECLARED]?: Declared;
}

/**
 * Assembles a domain. Throws `StartRefused` for a contradiction; its message names the place and a solution.
 */
export const assemble = <
  const A extends readonly AnyAggregate[],
  const B extends Base,
  const V extends readonly AnyView[] = readonly [],
>(
  base: B,
  aggregates: A & Known<A>,
  views?: V,
  senders: readonly AnySender[] = [],
): DomainOf<{
  readonly user: B['user'];
  readonly aggregates: A[number];
  readonly views: V[number];
}> => {
  const words = wordsIn([base.user, ...aggregates], views ?? []);
  const given = { base, aggregates, views: views ?? [], senders, words };
  return areLoaded(words) ? assembled(given) : assembledLater(namesOf(base), words, () => assembled(given));
};

const namesOf = ({ name, roles, signUp, auditors }: Base) => ({
  name,
  roles: ['anonymous', ...roles, ...(auditors === true ? [AUDITOR] : []), 'admin'],
  signUp,
  ...(auditors === true && { auditors }),
});

type Given = {
  readonly base: Base;
  readonly aggregates: readonly AnyAggregate[];
  readonly views: readonly AnyView[];
  readonly senders: readonly AnySender[];
  readonly words: ReadonlySet<Word>;
};

const assembled = ({ base, aggregates, views, senders, words }: Given): Domain => {
  const declared = [base.user, ...aggregates];
  refuse(
    demandWhole(declared, views),
    demandOwnNames({ roles: base.roles, aggregates: declared, views }),
    demandRoles(base),
  );
  const { given, kinds } = kindsOf(base, aggregates, words);
  const domain = {
    ...namesOf(base),
    kinds: byName(kinds.map((kind) => [kind.name, kind])),
    views: words.has('views') ? views.map(WORDS.views.module.VIEWS.viewOf) : [],
  };
  refuse(
    demandSupported(domain),
    demandReferences(base.name, given),
    demandParents(domain),
    demandNames(domain),
    demandCreatable(domain),
    demandLabels(domain),
    demandRequires(domain),
    demandReasons(domain),
    demandCells(domain),
    demandForOthers(domain),
    demandReadLog(domain),
    demandLists(domain),
    demandItemConditions(domain),
    demandFiles(domain),
    demandParts(domain),
    demandConfirm(domain),
    demandSigned(domain),
  );
  demandAttributes(domain);
  refuse(
    demandReads(domain),
    demandLimits(domain),
    words.has('consequences') ? WORDS.consequences.module.demandReactions(domain) : [],
    words.has('schedules') ? WORDS.schedules.module.demandSchedules(domain) : [],
    words.has('views') ? WORDS.views.module.VIEWS.demandViews(domain) : [],
  );
  compile(domain);
  refuse(demandOperations(domain), demandFields(domain));
  if (senders.length === 0) return domain;
  refuse(sameNames(senders));
  return { ...domain, senders: senders.map((each) => each.resolve(domain)) };
};

/** The kinds, and the declarations without what `retain` and `hold` add to them. */
const kindsOf = ({ user, auditors }: Base, aggregates: readonly AnyAggregate[], words: ReadonlySet<Word>) => {
  const [confirm, hold, retain] = (['confirm', 'hold', 'retain'] as const).map((word) => words.has(word));
  const given = [
    user,
    ...aggregates,
    ...(confirm ? WORDS.confirm.module.agentRequestsFor(user, aggregates) : []),
  ];
  const retained = retain ? given.map(WORDS.retain.module.withRetention) : given;
  const all = hold ? WORDS.hold.module.withHolds(retained) : retained;
  const alone = hold ? all.map(kindOf).map(WORDS.hold.module.withCodesOfHolds) : all.map(kindOf);
  const kinds = all
    .map(({ fields }, index) => withReactionsToEnds(alone[index] as Kind, fields, alone))
    .map((kind) => (confirm ? WORDS.confirm.module.withConfirmed(kind, alone) : kind))
    .map((kind) => (auditors === true ? { ...kind, isAudited: auditors } : kind));
  return { given, kinds };
};

function* sameNames(senders: readonly AnySender[]): Iterable<string> {
  const names = senders.map(({ sender }) => sender);
  for (const [index, name] of names.entries())
    if (names.indexOf(name) < index)
      yield `There are two senders named ${name}: give one of them another name.`;
}

/** Compiles everything once, so that authors see mistakes here, and not when a process starts. */
const compile = (domain: Domain): void => {
  visibilityOf(domain);
  membershipsOf(domain);
  for (const kind of Object.values(domain.kinds)) tableOf(kind);
  definitionsOf(domain);
};
