// Over 200 lines, because it is one derivation: the GraphQL types and queries of every aggregate.

import { oneOf, spaced } from '#kernel/base/names.ts';
import { isFileField } from '#kernel/decide/accepted-files.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import { textOf } from '#kernel/declare/texts.ts';
import { filtersOf } from '#kernel/registry/event-references.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { fieldsOfView } from '#kernel/rest/views.ts';
import type { Child, Filter, Member, Source, Sources } from '../../rows/source.ts';
import { demandSource, rightsToField, sourcesOf } from '../../rows/sources.ts';
import { viewSourcesOf } from '../../views/source.ts';
import { mayBeAbsent } from '../rules/absence.ts';
import { enumName, listsOf, memberName, orderName } from '../rules/names.ts';
import { aggregateLine, aggregateTypesOf } from './sdl-aggregates.ts';
import { anyChangeOf, changeOf, subscriptionsOf } from './sdl-changes.ts';
import { itemLines, itemTypesOf } from './sdl-items.ts';
import {
  block,
  describe,
  enumsOf,
  FILE_DETAILS,
  idLine,
  type Line,
  PAGE,
  pagesOf,
  sentence,
  uploadFieldLines,
  valueType,
  withAbsence,
} from './sdl-lines.ts';
import { CHANGE_OF_ROW, viewQueriesOf, viewSubscriptionOf, viewTypesOf } from './sdl-views.ts';
import { inputsOf, mutationsOf } from './sdl-writes.ts';

/**
 * The GraphQL schema of a domain as SDL: types, queries, mutations and subscriptions of every aggregate, with
 * descriptions.
 */
export const domainSdl = (domain: Domain): string => {
  const sources = sourcesOf(domain);
  const { all } = sources;
  const views = viewSourcesOf(domain);
  return [
    ...(has(domain, isFileField) ? [FILE_DETAILS] : []),
    ...(has(domain, ({ kind }) => kind === 'date')
      ? [describe(DAY, 'scalar Date @specifiedBy(url: "https://scalars.graphql.org/andimarek/local-date")')]
      : []),
    ...all.flatMap((source) => [
      ...enumsOf({ type: source.kind.type, called: source.kind.field }, source.members),
      ordersOf(source),
      ...objectsOf(domain, sources, source),
      ...inputsOf(source),
      changeOf(source),
      ...source.items.flatMap((items) => itemTypesOf(items)),
      ...(serves(domain, 'aggregates') ? aggregateTypesOf(source) : []),
    ]),
    ...views.flatMap(viewTypesOf),
    ...(views.length === 0 ? [] : [CHANGE_OF_ROW]),
    describe(
      'Types that other services can reference by key.',
      `union _Entity = ${all.map(({ kind }) => kind.type).join(' | ')}`,
    ),
    anyChangeOf(sources),
    block(undefined, 'extend type Query', [
      ...all.flatMap(queriesOf),
      ...views.flatMap(viewQueriesOf),
      ...(serves(domain, 'aggregates') ? all.flatMap(aggregateQueriesOf) : []),
    ]),
    block(undefined, 'extend type Mutation', all.flatMap(mutationsOf)),
    ...(serves(domain, 'proof') && serves(domain, 'webhooks')
      ? [block(undefined, 'extend type Webhook', [[PROOF_OF_ITEM, 'proof: String']])]
      : []),
    block(undefined, 'extend type Subscription', [
      ...all.flatMap(subscriptionsOf),
      ...views.map(viewSubscriptionOf),
    ]),
  ].join('\n\n');
};

const DAY = 'A day without a time: the full-date of RFC 3339.';

const has = ({ kinds, views }: Domain, isIt: (def: FieldDef) => boolean): boolean =>
  [
    ...Object.values(kinds).flatMap(({ fields, lists }) => [
      fields,
      ...Object.values(lists).map((list) => list.fields),
    ]),
    ...views.map(fieldsOfView),
  ].some((defs) => Object.values(defs).some(isIt));

/** The filters of webhooks. */
export const filterSdl = (domain: Domain): string =>
  [...filtersOf(domain)]
    .map(([name, { kind, others }]) => {
      const what =
        kind === undefined
          ? `${others} of the user with this id`
          : `the ${spaced(kind)} with this id and of its ${others}`;
      return describe(`Only events of ${what}.`, `${name}: ID`);
    })
    .join('\n');

const AS_OF = 'With `at`, their state at a time or at a cursor';
const IN_PAGES = 'in pages.';

const ordersOf = ({ kind, sorts }: Source): string =>
  block(
    `The order of ${listsOf(kind)}.`,
    `enum ${kind.type}Sort`,
    sorts.flatMap((sort) =>
      [false, true].map((descending): Line => {
        const first = descending ? 'latest' : 'earliest';
        const only =
          sort.state === undefined
            ? `By \`${sort.name}\`, only those that have it`
            : `Only those in the state ${sort.state}`;
        const says =
          sort.name === 'createdAt'
            ? `The ${descending ? 'newest' : 'oldest'} first.`
            : `${only}: the ${first} first.`;
        return [says, orderName(sort, descending)];
      }),
    ),
  );

const objectsOf = (domain: Domain, sources: Sources, source: Source): readonly string[] => {
  const { kind, filters } = source;
  const { type } = kind;
  return [
    ...(hasFilter(source)
      ? [
          block(
            'All conditions must hold.',
            `input ${type}Filter`,
            filters.map((filter) => filterLine(source, filter)),
          ),
        ]
      : []),
    block(kind.says ?? sentence(oneOf(kind.field)), `type ${type} implements Node @key(fields: "id")`, [
      ['Never changes.', 'id: ID!'],
      ...source.members.flatMap((member) => [
        memberLine(domain, source, member),
        ...(mayBeAbsent(domain, source, member)
          ? [idLine(member, member.def.optional || member.guard !== undefined)]
          : []),
        ...uploadFieldLines(member),
      ]),
      momentLine(source, 'createdAt', 'When it was created.'),
      momentLine(source, 'updatedAt', 'When it was last changed.'),
      versionLine(source),
      ...source.children.flatMap((child) => childLines(sources, child)),
      ...(serves(domain, 'aggregates')
        ? source.children.map(({ kind: child }) => {
            const listed = demandSource(sources, child.name);
            return aggregateLine(listed, filterOf(listed));
          })
        : []),
      ...source.items.flatMap(itemLines),
      ['Cursor of the requested point in time; null for current data.', 'asOf: Cursor'],
      ['Its history, as far as you may read it, the latest first.', `history(${PAGE}): HistoryConnection!`],
      ...(hasProof(domain, source) ? [[PROOF_OF_ITEM, 'proof: String'] as const] : []),
      ...(hasReaders(source) ? [[READERS_OF_ITEM, `readers(${PAGE}): ReadLogConnection`] as const] : []),
    ]),
    ...pagesOf(type),
  ];
};

export const PROOF_OF_ITEM =
  'The file that proves all of its events, as `GET …/proof`; for administrators. Null with an error if it is too long for GraphQL.';

const READERS_OF_ITEM =
  'Its readers, the latest first, as `GET …/readers`. Null with an error for those without the right, and with `at`.';

const hasProof = (domain: Domain, source: Source): boolean =>
  serves(domain, 'proof') && isFree(source, 'proof');

const hasReaders = (source: Source): boolean => source.kind.reads !== undefined && isFree(source, 'readers');

/** Fields of the domain come first. */
const isFree = ({ kind, members, children }: Source, name: string): boolean =>
  ![
    ...members.map(memberName),
    ...members.map((member) => member.name),
    ...Object.keys(kind.lists),
    ...children.map((child) => listsOf(child.kind)),
  ].includes(name);

/** Children have no filters, because their parent lists all of them. */
const hasFilter = ({ parent, filters }: Source): boolean => parent === undefined && filters.length > 0;

const filterLine = ({ kind, members }: Source, { name, by, def }: Filter): Line => {
  const lists = listsOf(kind);
  const field = members.find((member) => member.def === def)?.name ?? name;
  switch (by) {
    case 'words':
      return [
        'Search words: all must occur. “A phrase” in quotes, -without, this or that.',
        `${name}: String`,
      ];
    case 'id':
      return [`Only ${lists} whose ${name} has this id.`, `${name}: ID`];
    case 'element':
      return [`Only ${lists} with this ${name}.`, `${name}: String`];
    case 'value':
      return [
        `Only ${lists} with this ${name}.`,
        `${name}: ${def?.values ? enumName(kind, { name: field, def }) : (def?.graphql ?? 'String')}`,
      ];
  }
};

const memberLine = (domain: Domain, source: Source, member: Member): Line => {
  const { name, def, guard } = member;
  const isAbsent = mayBeAbsent(domain, source, member);
  const isNullable = def.optional || guard !== undefined || isAbsent;
  const says = textOf(def) ?? sentence(spaced(name));
  return [
    withGuard(isAbsent ? withAbsence(says) : says, guard),
    `${memberName(member)}: ${valueType(source.kind, member)}${isNullable ? '' : '!'}`,
  ];
};

const withGuard = (says: string, guard: unknown): string =>
  guard === undefined ? says : `${says} Null for those who may not read it.`;

const momentLine = (source: Source, name: string, says: string): Line => {
  const [guard] = rightsToField(source, name);
  return [withGuard(says, guard), `${name}: DateTime${guard === undefined ? '!' : ''}`];
};

const versionLine = (source: Source): Line => {
  const [guard] = rightsToField(source, 'version');
  const says = 'The version, to send as `ifVersion` of a mutation.';
  return guard === undefined
    ? [says, 'version: Int!']
    : [`${says} Null for those who may not read all of it.`, 'version: Int'];
};

const childLines = (sources: Sources, { kind }: Child): readonly Line[] => {
  const source = demandSource(sources, kind.name);
  const lists = listsOf(kind);
  const order = source.isNewestFirst ? 'latest' : 'earliest';
  return [
    [`The ${lists} that you may read, the ${order} first.`, `${lists}(limit: Int = 10): [${kind.type}!]!`],
    [`The ${lists} that you may read, ${IN_PAGES}`, connectionOf(source, '')],
  ];
};

const orderArgument = ({ kind, isNewestFirst }: Source): string =>
  `sort: ${kind.type}Sort = ${orderName({ name: 'createdAt' }, isNewestFirst)}`;

const connectionOf = (source: Source, more: string): string => {
  const { kind } = source;
  const filter = hasFilter(source) ? `filter: ${kind.type}Filter, ` : '';
  return `${listsOf(kind)}Connection(${PAGE}, ${filter}${orderArgument(source)}${more}): ${kind.type}Connection!`;
};

const filterOf = (source: Source): readonly string[] =>
  hasFilter(source) ? [`filter: ${source.kind.type}Filter`] : [];

const aggregateQueriesOf = (source: Source): readonly Line[] =>
  source.parent === undefined ? [aggregateLine(source, [...filterOf(source), 'at: String'])] : [];

export const queriesOf = (source: Source): readonly Line[] => {
  const { kind, parent, filters } = source;
  const lists = listsOf(kind);
  const asOf = filters.some(({ by }) => by === 'words')
    ? `${AS_OF}: in the order of creation, and without search words.`
    : `${AS_OF}.`;
  const one = `One ${kind.field} by id; null if it does not exist or you may not read it.`;
  const filtered = hasFilter(source) ? `, filter: ${kind.type}Filter, ${orderArgument(source)}` : '';
  return [
    [
      `${one} With \`at\`, its state at a time, at a cursor or in a version (\`v3\`); nested fields are from the same point in time.`,
      `${kind.field}(id: ID!, at: String): ${kind.type}`,
    ],
    ...(parent === undefined
      ? [
          [
            `The ${lists} that you may read, the ${source.isNewestFirst ? 'latest' : 'earliest'} first. ${asOf}`,
            `${lists}(limit: Int = 10${filtered}, at: String): [${kind.type}!]!`,
          ] as const,
          [
            `The ${lists} that you may read, ${IN_PAGES} ${asOf}`,
            connectionOf(source, ', at: String'),
          ] as const,
        ]
      : []),
  ];
};
