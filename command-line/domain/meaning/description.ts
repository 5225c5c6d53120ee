import { isObjectType } from 'graphql';
import * as z from 'zod';
import { column, targetOf, wire } from '#kernel/base/names.ts';
import { conditionWords } from '#kernel/conditions/words.ts';
import { eventsElsewhereOf } from '#kernel/decide/elsewhere.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { Domain, EventInfo, Kind, ViewInfo } from '#kernel/registry/registry.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { policyOf } from '#shared/policy.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { queriesOf } from '../../../query/graphql/schema/domain-sdl.ts';
import { schemaOf } from '../../../query/graphql/schema/schema.ts';
import { subscriptionsOf } from '../../../query/graphql/schema/sdl-changes.ts';
import { mutationsOf } from '../../../query/graphql/schema/sdl-writes.ts';
import { demandSource, sourcesOf } from '../../../query/rows/sources.ts';
import { operationsTo, tableLines } from './description-parts.ts';
import { describeView } from './description-views.ts';
import { personalFieldsOf, rightSentencesOf } from './rights.ts';
import { describeSchedules } from './schedules.ts';
import { describeTimers } from './timers.ts';

export type DomainDescription = ReturnType<typeof describeDomain>;
export type AggregateDescription = ReturnType<typeof describeAggregate>;

/** Everything that follows from a declaration, for all aggregates and views or for one; needs no database. */
export const describeDomain = (domain: Domain, only?: Kind | ViewInfo) => ({
  domain: domain.name,
  roles: domain.roles,
  signUp: domain.signUp,
  scopes: policyOf(domain).scopes,
  aggregates: Object.values(domain.kinds)
    .filter((kind) => only === undefined || kind === only)
    .map((kind) => describeAggregate(domain, kind)),
  views: domain.views
    .filter((view) => only === undefined || view === only)
    .map((view) => describeView(domain, view)),
  senders: only === undefined ? describeSenders(domain) : [],
});

/** The services whose messages become commands, if the inbox is served. */
const describeSenders = ({ senders = [] }: Domain) =>
  senders.map(({ name, says, role, signature, operation, on }) => ({
    ...{ name, says, role, scheme: signature.scheme, path: operation.path },
    setting: signature.scheme === 'jws' ? signature.keys : signature.secrets,
    messages: Object.entries(on).map(([type, { kind, command }]) => ({ type, kind, command })),
  }));

const describeAggregate = (domain: Domain, kind: Kind) => ({
  name: kind.name,
  says: kind.says,
  streams: `${kind.name}-<id>`,
  owner: kind.owner,
  parent: kind.parent,
  fields: fieldsOf(kind),
  operations: operationsTo(domain, kind),
  graphql: graphqlOf(domain, kind),
  events: Object.values(kind.events).map((event) => describeEvent(domain, event)),
  rights: rightSentencesOf(domain, kind),
  tables: tablesFor(domain, kind),
  reactions: describeReactions(domain, kind),
  limits: describeLimits(domain, kind),
  also: describeAlso(domain, kind),
  confirms: Object.values(kind.commands).flatMap(({ name, confirm }) => (confirm === true ? [name] : [])),
  timers: describeTimers(domain, kind),
  schedules: describeSchedules(domain, kind),
  personal: personalOf(domain, kind),
});

/** The events that commands append to other aggregates, in the same append. */
export const describeAlso = (domain: Domain, kind: Kind) =>
  Object.values(kind.commands).flatMap((command) =>
    Object.keys(command.also).map((reference) => ({
      command: command.name,
      reference,
      events: eventsElsewhereOf(domain, kind, {
        also: { [reference]: command.also[reference] ?? [] },
      }).map(([, { type }]) => type),
    })),
  );

export const describeLimits = (domain: Domain, kind: Kind) =>
  kind.limits.map(({ name, max, per, when, refusal }) => ({
    name,
    max,
    per,
    ...(when !== undefined && { while: conditionWords(domain, kind, when) }),
    refusal: refusal.code,
  }));

const fieldsOf = ({ fields, lists, derived }: Kind) => [
  ...Object.entries(fields).map(([name, { kind, optional, initial, values, personal, ...def }]) => ({
    name,
    kind,
    ...(kind === 'ref' && { target: targetOf({ kind, ...def } as FieldDef) }),
    ...(values !== undefined && { values }),
    ...(optional && { optional }),
    ...(initial !== undefined && { initial }),
    ...(personal !== undefined && { personal: true }),
    ...(derived.some((each) => each.name === name) && { derived: true }),
  })),
  ...Object.values(lists).map(({ name, fields: ofItems, id, max }) => ({
    name,
    kind: 'list',
    max,
    id: id.name,
    items: Object.keys(ofItems),
  })),
];

const graphqlOf = (domain: Domain, kind: Kind) => {
  const source = demandSource(sourcesOf(domain), kind.name);
  const type = schemaOf(domain).getType(kind.type);
  const textsOf = (lines: readonly (readonly [string, string])[]) => lines.map(([, text]) => text);
  return {
    type: kind.type,
    fields: isObjectType(type)
      ? Object.values(type.getFields()).map(({ name, type: of }) => `${name}: ${of}`)
      : [],
    queries: textsOf(queriesOf(source)),
    mutations: textsOf(mutationsOf(source)),
    subscriptions: textsOf(subscriptionsOf(source)),
  };
};

const describeEvent = (
  domain: Domain,
  { type, version, effect, list, item, sets, upcast, hidden, says }: EventInfo,
) => {
  const { schema, personal } = catalogueOf(domain).find(type) ?? {};
  const { properties = {}, required = [] } = schema === undefined ? {} : z.toJSONSchema(schema);
  return {
    type,
    version,
    ...(hidden && { hidden }),
    says,
    effect,
    ...(list !== undefined && { list: list.name }),
    ...(Object.keys(sets).length > 0 && { sets }),
    ...(Object.keys(item?.sets ?? {}).length > 0 && { setsOfItem: item?.sets }),
    data: Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`)),
    ...(Object.keys(upcast).length > 0 && { upcastsFrom: Object.keys(upcast).map(Number) }),
    ...(personal && { sealed: personal.fields, keyOf: personal.subject }),
  };
};

const tablesFor = (domain: Domain, { name }: Kind) =>
  tablesOf(domain)
    .ofStreams.filter((table) => table.kind === name && !('share' in table))
    .map(tableLines);

export const describeReactions = (
  domain: Domain,
  kind: Kind,
): readonly { readonly to: string; readonly runs: string; readonly if?: string }[] => [
  ...Object.entries(kind.reactions).flatMap(([reference, byEvent]) =>
    Object.entries(byEvent).map(([event, { run, when }]) => ({
      to: `${reference} ${event}`,
      runs: run,
      ...(when !== undefined && { if: conditionWords(domain, kind, when) }),
    })),
  ),
  ...Object.keys(kind.react).map((event) => ({ to: event, runs: 'code' })),
];

/** Each personal field, with all places that store it. */
const personalOf = (domain: Domain, kind: Kind) => {
  const catalogue = catalogueOf(domain);
  return personalFieldsOf(kind).map((path) => {
    const [list, field] = path.includes('.') ? path.split('.') : [undefined, path];
    const { fields, table } = (list === undefined ? kind : kind.lists[list]) ?? kind;
    const def = fields[field ?? ''];
    const holding = Object.values(kind.events).flatMap((event) => {
      const sealed = event.list?.name === list ? catalogue.find(event.type)?.personal : undefined;
      return sealed?.fields.includes(wire(field ?? '', def))
        ? [{ type: event.type, keyOf: sealed.subject }]
        : [];
    });
    return {
      field: path,
      keyOf: holding[0]?.keyOf,
      events: holding.map(({ type }) => type),
      columns: [column(field ?? '', def), ...(def?.search === undefined ? [] : ['search'])].map(
        (each) => `${table}.${each}`,
      ),
      ...(def?.personal?.erased !== undefined && { erased: def.personal.erased }),
    };
  });
};
