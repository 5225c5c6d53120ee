// Over 200 lines, because it is one compilation: from rights to the visibility of events.

import { targetOf, wire } from '../base/names.ts';
import { oncePer } from '../base/once-per.ts';
import { StartRefused } from '../base/start-refused.ts';
import { isUser } from '../base/users.ts';
import { always, type Expression } from '../conditions/expression.ts';
import { type Fact, type Facts, keyedFact, keyedFactsIn, leftBy, questionsAt } from '../conditions/facts.ts';
import { knowing } from '../conditions/fold.ts';
import { type Find, holdsOf, type State } from '../conditions/holds.ts';
import { partOfItems, partRightsOf } from '../conditions/parts-of.ts';
import { operationOf, type Right } from '../conditions/rights.ts';
import type { Domain, EventInfo, Kind, Row } from '../registry/registry.ts';
import { isRoleOfKernel } from '../registry/roles.ts';
import { type Clear, questionsOf, readingRights, type Watch, watchesOf } from './watches.ts';

/** Visibility of a domain’s events, compiled by type of event. Unknown and internal types are missing. */
type Visibility = {
  readonly kinds: ReadonlyMap<string, KindVisibility>;
  readonly types: ReadonlyMap<string, TypeVisibility>;
};

type KindVisibility = {
  readonly kind: Kind;
  readonly watch: Watch | undefined;
  /** The right to an event that cannot be read, so that only administrators see it. */
  readonly rightToDamaged: Operation;
  /** Guarded fields, as events name them, with the right to them. */
  readonly guards: readonly Guard[];
  /** The owner, and the facts on which the rights to read depend. */
  readonly facts: readonly Fact[];
  /** Unknown facts are missing. */
  factsOf(state: State, find: Find): Facts;
  /** The kinds behind the references on the paths to those facts. */
  readonly parents: Parents;
  /** True if everyone who has a right under some facts also has it under the others. */
  covers(operation: string, facts: Facts, others: Facts): boolean;
};
type Operation = ReturnType<typeof operationOf>;
type Guard = { readonly operation: Operation; readonly names: ReadonlySet<string> };
/** The content of an event that belongs to a guarded part. */
export type GuardedContent = {
  readonly operation: Operation;
  /** Keys of its data. */
  readonly names: ReadonlySet<string>;
  /** True if its content belongs to the part; an item may not. */
  isIn(data: Row): boolean;
};
export type Parents = ReadonlyMap<string, { readonly kind: string; readonly parents: Parents }>;

export type TypeVisibility = {
  readonly of: KindVisibility;
  readonly event: EventInfo;
  /** The right that a caller needs to see the event. Unreadable fields are null. */
  rightTo(data: Row): Operation;
  /** The fields of the event on which this right depends. */
  readonly decidedBy: ReadonlySet<string>;
  readonly parts: readonly GuardedContent[];
  /**
   * True if the facts before the event are needed: false if everyone who could read it before can read it
   * after.
   */
  readonly asksBefore: boolean;
  /** True if somebody may lose the right to read by it. */
  readonly takesAway: boolean;
  /** The facts after the event, from the facts before or after it. */
  factsAfter(facts: Facts, clear: Clear): Facts;
};

export const visibilityOf = oncePer((domain: Domain): Visibility => makeVisibility(domain));

const makeVisibility = (domain: Domain): Visibility => {
  const kinds = new Map(Object.values(domain.kinds).map((kind) => [kind.name, ofKind(domain, kind)]));
  const types = [...kinds.values()].flatMap((of) =>
    Object.values(of.kind.events).flatMap((event) =>
      event.hidden ? [] : [[event.type, ofType(domain, of, event)] as const],
    ),
  );
  return { kinds, types: new Map(types) };
};

const ofKind = (domain: Domain, kind: Kind): KindVisibility => {
  const at = { domain, kind, path: [] };
  const rights = readingRights(domain, kind);
  const owner = kind.owner ?? (isUser(kind) ? 'id' : undefined);
  const asked = [...rights].flatMap(({ alternatives }) =>
    alternatives.flatMap((each) => keyedFactsIn(each, at)),
  );
  const facts = differentIn(kind, owner === undefined ? asked : [keyedFact(at, owner), ...asked]);
  const alternativesOf = new Map(rights.map(({ operation, alternatives }) => [operation, alternatives]));
  return {
    kind,
    watch: watchesOf(domain).get(kind.name),
    rightToDamaged: rightToDamaged(domain, kind),
    guards: guardsOf(kind),
    facts,
    parents: parentsOf(
      domain,
      kind,
      facts.map(({ path }) => path),
    ),
    factsOf(state, find) {
      const known: Record<string, unknown> = {};
      for (const fact of facts) {
        const value = factIn(domain, kind, { fact, state, find });
        if (value !== undefined) known[fact.key] = value;
      }
      return known;
    },
    covers: (operation, some, others) =>
      (alternativesOf.get(operation) ?? []).every((each) => {
        const [left, other] = [leftBy(each, at, some), leftBy(each, at, others)];
        return (
          left === always ||
          (other.op === 'const' && !other.value) ||
          JSON.stringify(left) === JSON.stringify(other)
        );
      }),
  };
};

/** Two facts with one key would be confused. */
const differentIn = (kind: Kind, facts: readonly Fact[]): readonly Fact[] => {
  const byKey = new Map<string, Fact>();
  for (const fact of facts) {
    const other = byKey.get(fact.key) ?? fact;
    if (JSON.stringify(other) !== JSON.stringify(fact))
      throw new StartRefused(
        `${kind.name}: rights to read use ${fact.key} with two meanings: give one of the fields another name.`,
      );
    byKey.set(fact.key, fact);
  }
  return [...byKey.values()];
};

type Asked = { readonly fact: Fact; readonly state: State; readonly find: Find };
const factIn = (domain: Domain, kind: Kind, { fact: { path, field }, state, find }: Asked): unknown => {
  let [at, of]: [State | undefined, Kind | undefined] = [state, kind];
  for (const reference of path) {
    const id: unknown = at?.[reference];
    of = targetIn(domain, of, reference);
    at = of === undefined || typeof id !== 'number' ? undefined : find(of.name, id);
  }
  return at?.[field];
};

const targetIn = (domain: Domain, kind: Kind | undefined, reference: string): Kind | undefined => {
  const def = kind?.fields[reference];
  return def && domain.kinds[targetOf(def)];
};

const parentsOf = (domain: Domain, kind: Kind, paths: readonly (readonly string[])[]): Parents => {
  const first = new Set(paths.flatMap(([reference]) => reference ?? []));
  return new Map(
    [...first].flatMap((reference) => {
      const there = targetIn(domain, kind, reference);
      const beyond = paths.filter(([each]) => each === reference).map(([, ...others]) => others);
      return there === undefined
        ? []
        : [[reference, { kind: there.name, parents: parentsOf(domain, there, beyond) }] as const];
    }),
  );
};

const guardsOf = (kind: Kind): readonly Guard[] =>
  partRightsOf(kind).map(({ name, fields }) => ({
    operation: operationOf(kind, name),
    names: new Set(fields.map((field) => wire(field, kind.fields[field]))),
  }));

/** For a kind that everyone reads, the right to its guarded parts, or the one to private data of users. */
const rightToDamaged = (domain: Domain, kind: Kind): Operation => {
  const isKept = ({ byRole }: Right): boolean =>
    [...byRole].every(([role, reach]) => isRoleOfKernel(domain, role) || !reach.has(always));
  const kept = readingRights(domain, kind).find(isKept);
  return (kept?.operation ?? 'user.read_private') as Operation;
};

const ofType = (domain: Domain, of: KindVisibility, event: EventInfo): TypeVisibility => {
  const { kind } = of;
  const read = operationOf(kind, 'read');
  const constants = new Set(Object.keys(event.sets).map((field) => wire(field, kind.fields[field])));
  const held = [...event.values, ...event.carries].map((field) => wire(field, kind.fields[field]));
  const names = isChange(event)
    ? [...event.values.map((field) => wire(field, kind.fields[field])), ...constants]
    : [];
  const sealed = new Set(
    event.values
      .filter((field) => kind.fields[field]?.personal)
      .map((field) => wire(field, kind.fields[field])),
  );
  const guards = of.guards
    .filter((guard) => names.some((name) => guard.names.has(name)))
    .map((guard) => ({ ...guard, others: names.filter((name) => !guard.names.has(name)) }));
  const free = names.filter((name) => !guards.some((guard) => guard.names.has(name)));
  const ofItem = partOfItem(kind, event);
  const rightTo = (data: Row): Operation => {
    if (ofItem?.isIn(data)) return ofItem.operation;
    const isSet = (name: string): boolean => {
      if (constants.has(name)) return true;
      return sealed.has(name) ? (data[name] ?? null) !== null : data[name] !== undefined;
    };
    const whole = guards.find(({ others }) => !others.some(isSet));
    if (whole || free.some(isSet)) return whole?.operation ?? read;
    return (
      guards.find((guard) => names.some((name) => guard.names.has(name) && isSet(name)))?.operation ?? read
    );
  };
  const ofFields = of.guards
    .map((guard) => ({
      ...guard,
      names: new Set(held.filter((name) => guard.names.has(name))),
      isIn: () => true,
    }))
    .filter((part) => part.names.size > 0);
  return {
    of,
    event,
    // Requires the right to all changed fields; with several guards, to any of them; with unguarded changes,
    // the right to read.
    rightTo,
    decidedBy: new Set(guards.flatMap(({ others }) => others)),
    parts: ofItem === undefined ? ofFields : [...ofFields, ofItem],
    asksBefore: asksBefore(domain, of, event),
    takesAway: takesAway(domain, kind, event),
    factsAfter: factsAfter(of, event),
  };
};

/** A change of an aggregate’s own fields, not of its items. */
const isChange = ({ effect }: EventInfo): boolean => effect === 'changes' || effect === 'sets';

/**
 * An event that lacks the fields which the right asks for, as one from before the right existed, belongs to
 * the part.
 */
const partOfItem = (kind: Kind, { list }: EventInfo): GuardedContent | undefined => {
  const part = list && partOfItems(kind, list);
  if (list === undefined || part === undefined) return undefined;
  const holds = holdsOf(part.of);
  const fields = Object.entries(list.fields).map(([name, def]) => wire(name, def));
  return {
    operation: operationOf(kind, part.name),
    names: new Set([list.id.name, 'rank', ...fields]),
    isIn: (data) =>
      part.of === always ||
      list.settled.some((name) => data[name] === undefined) ||
      holds(data, null, () => undefined),
  };
};

const constantsOf = ({ sets }: EventInfo): readonly (readonly [string, unknown])[] =>
  Object.entries(sets).filter(([, value]) => value !== 'now' && value !== 'caller');

const factsAfter = ({ watch, facts }: KindVisibility, event: EventInfo): TypeVisibility['factsAfter'] => {
  const own = facts.filter(({ path }) => path.length === 0);
  const fold = watch?.folds.get(event.type);
  return (known, clear) => {
    const after = fold?.apply(Object.fromEntries(own.map(({ key, field }) => [field, known[key]])), clear);
    const recorded = own.flatMap(({ key, field }) =>
      after?.[field] === undefined ? [] : [[key, after[field]] as const],
    );
    return { ...known, ...Object.fromEntries(recorded) };
  };
};

/** Simplifies a condition by the values that an event sets. */
const leftAfter = (event: EventInfo, condition: Expression): Expression =>
  constantsOf(event).reduce((left, [field, value]) => knowing(left, field, value), condition);

const asksBefore = (domain: Domain, { kind, watch }: KindVisibility, event: EventInfo): boolean => {
  if (watch === undefined || watch.fields.size === 0 || event.effect === 'creates') return false;
  const alternatives = readingRights(domain, kind).flatMap((right) => right.alternatives);
  return alternatives.some(
    (each) => asksFor(domain, each, kind, watch.fields) && leftAfter(event, each) !== always,
  );
};

/** True if the condition asks for any of these fields of the aggregate itself. */
const asksFor = (domain: Domain, expression: Expression, kind: Kind, fields: ReadonlySet<string>): boolean =>
  questionsAt(expression, { domain, kind, path: [] }).some(
    ({ asked, at }) => at.path.length === 0 && fields.has(asked.field),
  );

const takesAway = (domain: Domain, kind: Kind, event: EventInfo): boolean => {
  if (event.effect === 'ends' || event.effect === 'creates') return event.effect === 'ends';
  const changed = new Set([
    ...Object.keys(event.sets),
    ...event.values,
    ...(event.list === undefined ? [] : [event.list.name]),
  ]);
  return conditionsOn(domain, kind).some(
    (each) => asksFor(domain, each, kind, changed) && leftAfter(event, each) !== always,
  );
};

/** The conditions of rights on a kind, directly and through references. */
const conditionsOn = (domain: Domain, kind: Kind): readonly Expression[] =>
  Object.values(domain.kinds).flatMap((of) =>
    readingRights(domain, of).flatMap((right) => [
      ...(of === kind ? right.alternatives : []),
      ...questionsOf(domain, right).flatMap(({ asked }) =>
        asked.op === 'at' && asked.kind === kind.name ? [asked.of] : [],
      ),
    ]),
  );
