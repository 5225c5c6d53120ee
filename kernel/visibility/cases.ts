import { targetOf } from '../base/names.ts';
import { leadsToUser } from '../base/users.ts';
import { attributesIn } from '../conditions/attributes.ts';
import { type Expression, fieldsOfItem, resolve } from '../conditions/expression.ts';
import { checkOf, type Fact, type Facts, keyedFact, keyedFactsIn } from '../conditions/facts.ts';
import { callersIn, childrenOf } from '../conditions/fold.ts';
import type { Attributes } from '../conditions/holds.ts';
import { type AskedList, askedListOf } from '../conditions/lists.ts';
import { operationOf } from '../conditions/rights.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { Domain, EventInfo, Kind } from '../registry/registry.ts';
import { type TypeVisibility, visibilityOf } from './visibility.ts';
import { questionsOf, readingRights } from './watches.ts';

/**
 * A sample of facts for one type of event: callers with the right under any of the facts may see the event.
 */
export type Case = { readonly right: ReturnType<typeof operationOf>; readonly facts: readonly Facts[] };

type Persons = {
  readonly owner: number;
  readonly other: number;
  /** The owner’s fields that rights compare. */
  readonly own?: Attributes;
};

/**
 * Every case in which an event of a type can happen, as far as rights distinguish them; a person is the owner
 * or the other.
 */
export const casesOf = (domain: Domain, type: string, persons: Persons): readonly Case[] => {
  const visibility = visibilityOf(domain).types.get(type);
  if (visibility === undefined) return [];
  const { of, event, decidedBy } = visibility;
  const operations = [
    operationOf(of.kind, 'read'),
    ...(decidedBy.size > 0 ? of.guards.map(({ operation }) => operation) : []),
  ];
  const facts = happeningsOf(domain, visibility, persons);
  return event.hidden ? [] : operations.flatMap((right) => facts.map((each) => ({ right, facts: each })));
};

/** The facts before and after an event. */
const happeningsOf = (
  domain: Domain,
  { of, event }: TypeVisibility,
  persons: Persons,
): readonly (readonly Facts[])[] => {
  const { kind, facts } = of;
  const wanted = wantedBy(domain, kind, event, facts);
  const own = new Map(facts.filter(({ path }) => path.length === 0).map(({ field, key }) => [field, key]));
  const constants = Object.entries(event.sets).filter(([, value]) => value !== 'now' && value !== 'caller');
  const set = Object.fromEntries(
    constants.flatMap(([field, value]) => (own.has(field) ? [[own.get(field), value]] : [])),
  );
  const initial = Object.fromEntries(
    [...own]
      .flatMap(([field, key]) => (event.values.includes(field) ? [] : [[key, kind.fields[field]?.initial]]))
      .filter(([, value]) => value !== undefined),
  );
  const isChanged = (before: Facts): boolean =>
    Object.keys(set).length === 0 || Object.entries(set).some(([key, value]) => before[key] !== value);
  return productOf(facts.map((fact) => [fact.key, valuesOf(domain, kind, fact, persons)]))
    .filter(wanted)
    .flatMap((before): (readonly Facts[])[] => {
      if (event.effect === 'creates') return [[{ ...before, ...initial, ...set }]];
      if (event.effect === 'ends') return [[before]];
      return isChanged(before) ? [[before, { ...before, ...set }]] : [];
    });
};

/** True for facts under which some command can cause the event, if every such command has a condition. */
const wantedBy = (
  domain: Domain,
  kind: Kind,
  event: EventInfo,
  facts: readonly Fact[],
): ((before: Facts) => boolean) => {
  const at = { domain, kind, path: [] };
  const keys = new Set(facts.map(({ key }) => key));
  // The caller of the command is unknown here.
  const isKnown = (each: Expression): boolean =>
    keyedFactsIn(each, at).every(({ key }) => keys.has(key)) &&
    callersIn(each).length + attributesIn(each).length === 0;
  const demanded = Object.values(kind.commands)
    .filter(({ events }) => events.includes(event))
    .map(({ when }) => (when === undefined ? undefined : resolve(domain, kind, when)));
  const checks = demanded.flatMap((each) => (each !== undefined && isKnown(each) ? [checkOf(each, at)] : []));
  return checks.length === 0 || checks.length < demanded.length
    ? () => true
    : (before) => checks.some((check) => check(before, null));
};

const productOf = (
  values: readonly (readonly [key: string, values: readonly unknown[]])[],
): readonly Facts[] =>
  values.reduce<readonly Facts[]>(
    (all, [key, each]) => all.flatMap((facts) => each.map((value) => ({ ...facts, [key]: value }))),
    [{}],
  );

/** The values of a fact that rights distinguish. */
const valuesOf = (
  domain: Domain,
  kind: Kind,
  fact: Fact,
  { owner, other, own = {} }: Persons,
): readonly unknown[] => {
  const of = fact.path.reduce<Kind | undefined>(
    (at, reference) => at && targetIn(domain, at, reference),
    kind,
  );
  const list = of && askedListOf(domain, of, fact.field);
  if (list !== undefined) return itemsOf(list, { domain, kind, fact, persons: { owner, other, own } });
  const def = of?.fields[fact.field];
  if (fact.field === 'id' || (def !== undefined && leadsToUser(def))) return [owner, other];
  const all =
    def?.kind === 'boolean'
      ? [true, false]
      : (def?.values ?? [...new Set([...namedIn(domain, kind, fact.key, own), 0])]);
  return def?.optional ? [...all, null] : all;
};

const targetIn = (domain: Domain, kind: Kind, reference: string): Kind | undefined => {
  const def: FieldDef | undefined = kind.fields[reference];
  return def && domain.kinds[targetOf(def)];
};

type Listed = {
  readonly domain: Domain;
  readonly kind: Kind;
  readonly fact: Fact;
  readonly persons: Persons;
};

/** An empty list, or one item of each sort. */
const itemsOf = (
  { list, fields }: AskedList,
  { domain, kind, fact, persons: { owner, other, own = {} } }: Listed,
): readonly (readonly Facts[])[] => {
  const defs = fieldsOfItem(list);
  const asked = readingRights(domain, kind)
    .flatMap((right) => questionsOf(domain, right))
    .flatMap(({ asked: each, at }) =>
      each.op === 'some' && keyedFact(at, each.field).key === fact.key ? childrenOf(each.of) : [],
    );
  const valuesOfField = (name: string): readonly unknown[] => {
    const def = defs[name];
    if (def !== undefined && leadsToUser(def)) return [owner, other];
    const all =
      def?.kind === 'boolean'
        ? [true, false]
        : (def?.values ?? [...new Set([...asked.flatMap(namedBy(name, own)), 0])]);
    return def?.optional ? [...all, null] : all;
  };
  return [[], ...productOf(fields.map((name) => [name, valuesOfField(name)])).map((item) => [item])];
};

const namedBy =
  (field: string, own: Attributes) =>
  (asked: Expression): readonly unknown[] => {
    if (!('field' in asked) || asked.field !== field) return [];
    if (asked.op === 'callers') return [own[asked.attribute] ?? null];
    // Beside 0, so that each of two fields can be the greater.
    if (asked.op === 'beside') return [1];
    return asked.op === 'is' ? [asked.value] : 'than' in asked ? [asked.than] : [];
  };

/** The values with which rights compare a field. */
const namedIn = (domain: Domain, kind: Kind, key: string, own: Attributes): readonly unknown[] =>
  readingRights(domain, kind)
    .flatMap((right) => questionsOf(domain, right))
    .filter(({ asked, at }) => keyedFact(at, asked.field).key === key)
    .flatMap(({ asked }) => namedBy(asked.field, own)(asked));
