import { formTextOf, textOf } from '#kernel/declare/texts.ts';
import { oneOf, spaced } from '#kernel/registry/names.ts';
import type { CommandInfo, Domain, Kind } from '#kernel/registry/registry.ts';
import { isReadableWith } from '../rights.ts';
import { type Child, demandSource, type Filter, type Member, type Source, type Sources, sourcesOf } from '../sources.ts';
import {
  changedName,
  changeType,
  enumName,
  eventName,
  idArgument,
  listsOf,
  memberName,
  mutationName,
  orderName,
  uploadMutations,
} from './names.ts';

/** What GraphQL offers of a domain, in SDL: types, queries, mutations and subscriptions of every aggregate, each with its description. */
export const domainSdl = (domain: Domain): string => {
  const sources = sourcesOf(domain);
  const { all } = sources;
  return [
    ...all.flatMap((source) => [...enumsOf(source), ...objectsOf(domain, sources, source), ...inputsOf(source), changeOf(source)]),
    describe('What other services may name by its key.', `union _Entity = ${all.map(({ kind }) => kind.type).join(' | ')}`),
    block('Something that has happened.', 'type Change', [
      ...payloadOf(exampleIn(all)),
      ...all.map(subjectOf),
      WEBHOOK_SUBJECT,
      ...idsOf(all),
    ]),
    block(undefined, 'extend type Query', all.flatMap(queriesOf)),
    block(undefined, 'extend type Mutation', all.flatMap(mutationsOf)),
    block(undefined, 'extend type Subscription', all.flatMap(subscriptionsOf)),
  ].join('\n\n');
};

type Line = readonly [says: string, text: string];

const describe = (says: string | undefined, text: string): string => (says === undefined ? text : `${JSON.stringify(says)}\n${text}`);
const block = (says: string | undefined, head: string, lines: readonly Line[]): string =>
  lines.length === 0 ? '' : describe(says, `${head} {\n${lines.map(([each, text]) => describe(each, text)).join('\n')}\n}`);

const PAGE = 'first: Int, after: String, last: Int, before: String';
const AS_OF = 'With `at`, as they were at a time or at a cursor';
const IN_PAGES = 'in pages.';

const sentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1).replace(/\.?$/, '.')}`;

// ── What is read ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
const enumsOf = ({ kind, members, sorts }: Source): readonly string[] => [
  ...members
    .filter(({ def }) => def.values)
    .map((member) =>
      block(
        textOf(member.def) ?? `The ${member.name} of ${oneOf(kind.field)}.`,
        `enum ${enumName(kind, member)}`,
        (member.def.values ?? []).map((value): Line => [member.def.means?.[value] ?? sentence(value), value]),
      ),
    ),
  block(
    `The order of ${listsOf(kind)}.`,
    `enum ${kind.type}Sort`,
    sorts.flatMap((sort) =>
      [false, true].map((descending): Line => {
        const first = descending ? 'latest' : 'earliest';
        const only = sort.state === undefined ? `By \`${sort.name}\`, and only what has it` : `Only what is ${sort.state}`;
        const says = sort.name === 'createdAt' ? `The ${descending ? 'newest' : 'oldest'} first.` : `${only}: the ${first} first.`;
        return [says, orderName(sort, descending)];
      }),
    ),
  ),
];

const objectsOf = (domain: Domain, sources: Sources, source: Source): readonly string[] => {
  const { kind, filters } = source;
  const { type } = kind;
  return [
    ...(hasFilter(source)
      ? [
          block(
            'All of what is given must hold.',
            `input ${type}Filter`,
            filters.map((filter) => filterLine(source, filter)),
          ),
        ]
      : []),
    block(kind.says ?? sentence(oneOf(kind.field)), `type ${type} implements Node @key(fields: "id")`, [
      ['Stays the same for ever.', 'id: ID!'],
      ...source.members.flatMap((member) => [memberLine(domain, source, member), ...addressLine(member)]),
      momentLine(source, 'createdAt', 'When it was created.'),
      momentLine(source, 'updatedAt', 'When it was last changed.'),
      ['What `ifVersion` of a mutation compares with.', 'version: Int!'],
      ...source.children.flatMap((child) => childLines(sources, child)),
      ['The place that this stands for, where it was asked for as of then; null of what is as of now.', 'asOf: Cursor'],
      ['What has happened to it, as far as you may know of it, the latest first.', `history(${PAGE}): HistoryConnection!`],
    ]),
    block('An item of a page, with its place.', `type ${type}Edge`, [
      ['The place of the item, for `after` and `before`.', 'cursor: String!'],
      ['The item itself.', `node: ${type}!`],
    ]),
    block('A page of a list (GraphQL Cursor Connections Specification).', `type ${type}Connection`, [
      ['The items of the page with their places.', `edges: [${type}Edge!]!`],
      ['The items of the page.', `nodes: [${type}!]!`],
      ['What lies before and after the page.', 'pageInfo: PageInfo!'],
      ['How many there are in all pages together, which costs more than a page: ask only where you need it.', 'totalCount: Int!'],
    ]),
  ];
};

/** Of what stands under something else, all of it is listed there. */
const hasFilter = ({ parent, filters }: Source): boolean => parent === undefined && filters.length > 0;

const filterLine = ({ kind }: Source, { name, by, def }: Filter): Line => {
  const lists = listsOf(kind);
  switch (by) {
    case 'words':
      return ['Words that must be there; “in quotes” as they stand, -without, this or that.', `${name}: String`];
    case 'id':
      return [`Only ${lists} whose ${name} has this id.`, `${name}: ID`];
    case 'element':
      return [`Only ${lists} with this ${name}.`, `${name}: String`];
    case 'value':
      return [`Only ${lists} of this ${name}.`, `${name}: ${def?.values ? enumName(kind, { name, def }) : (def?.graphql ?? 'String')}`];
  }
};

const valueType = (kind: Kind, member: Pick<Member, 'name' | 'def' | 'target'>): string =>
  member.target ? member.target.type : member.def.values ? enumName(kind, member) : member.def.graphql;

const memberLine = (domain: Domain, source: Source, member: Member): Line => {
  const { name, def, guard, target } = member;
  const isNullable = def.optional || guard !== undefined || (target !== undefined && !isReadableWith(domain, source.kind, member));
  const says = textOf(def) ?? sentence(spaced(name));
  return [withGuard(says, guard), `${memberName(member)}: ${valueType(source.kind, member)}${isNullable ? '' : '!'}`];
};

const withGuard = (says: string, guard: unknown): string => (guard === undefined ? says : `${says} Null for those who may not read it.`);

const momentLine = ({ guards }: Source, name: string, says: string): Line => {
  const guard = guards.get(name);
  return [withGuard(says, guard), `${name}: DateTime${guard === undefined ? '!' : ''}`];
};

const addressLine = ({ name, def }: Member): readonly Line[] =>
  def.publicFile
    ? [
        [
          `An address of \`${name}\` that needs no token, for where none can be sent, such as in \`<img>\`. Null without a picture, and of what was.`,
          `${name}Address: SignedAddress`,
        ],
      ]
    : [];

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

const queriesOf = (source: Source): readonly Line[] => {
  const { kind, parent, filters } = source;
  const lists = listsOf(kind);
  const asOf = filters.some(({ by }) => by === 'words') ? `${AS_OF}: by creation, and without words to look for.` : `${AS_OF}.`;
  const one = `One ${kind.field} by id; null where there is none that you may read.`;
  const filtered = hasFilter(source) ? `, filter: ${kind.type}Filter, ${orderArgument(source)}` : '';
  return [
    [
      `${one} With \`at\`, as it was at a time, at a cursor or in a version (\`v3\`), and so is all that is asked of it.`,
      `${kind.field}(id: ID!, at: String): ${kind.type}`,
    ],
    ...(parent === undefined
      ? [
          [
            `The ${lists} that you may read, the ${source.isNewestFirst ? 'latest' : 'earliest'} first. ${asOf}`,
            `${lists}(limit: Int = 10${filtered}, at: String): [${kind.type}!]!`,
          ] as const,
          [`The ${lists} that you may read, ${IN_PAGES} ${asOf}`, connectionOf(source, ', at: String')] as const,
        ]
      : []),
  ];
};

// ── What is changed ──────────────────────────────────────────────────────────────────────────────────────────────────────────
const commandsOf = ({ kind }: Source, wanted: CommandInfo['kind']): readonly CommandInfo[] =>
  Object.values(kind.commands).filter((command) => command.kind === wanted && !command.internal);

const inputsOf = (source: Source): readonly string[] => {
  const { kind, owner } = source;
  return [
    ...commandsOf(source, 'create').map((command) =>
      block(`A new ${kind.field}.`, `input ${kind.type}Input`, [
        ...command.form.map((name) => inputLine(source, name, 'new')),
        ...command.next.map((next): Line => [sentence(`${kind.commands[next]?.says ?? next} at once`), `${next}: Boolean! = false`]),
        ...(owner ? [[`For administrators: the ${owner.name}, where that is somebody else.`, `${owner.name}: ID`] as const] : []),
      ]),
    ),
    ...commandsOf(source, 'edit')
      .filter(({ form }) => form.length > 1)
      .map(({ form }) =>
        block(
          'What is absent stays; null removes.',
          `input ${kind.type}Changes`,
          form.map((name) => inputLine(source, name, 'changed')),
        ),
      ),
  ];
};

const memberOf = ({ kind, members }: Source, name: string): Member => {
  const member = members.find((each) => each.name === name);
  if (!member) throw new RangeError(`${kind.name} has no field ${name}`);
  return member;
};

const inputLine = (source: Source, name: string, as: 'new' | 'changed'): Line => {
  const member = memberOf(source, name);
  return [formTextOf(member.def) ?? sentence(name), inputOf(source, member, as)];
};

const inputOf = ({ kind }: Source, member: Member, as: 'new' | 'changed' | 'whole'): string => {
  const { def, target } = member;
  const type = target ? 'ID' : valueType(kind, member);
  const name = memberName(member);
  if (as === 'changed') return `${name}: ${type}`;
  if (as === 'whole') return `${name}: ${type}!`;
  if (Array.isArray(def.initial)) return `${name}: ${type}! = ${JSON.stringify(def.initial)}`;
  if (def.initial !== undefined) return `${name}: ${type} = ${def.values ? String(def.initial) : JSON.stringify(def.initial)}`;
  return `${name}: ${type}${def.optional ? '' : '!'}`;
};

const saysOf = ({ kind }: Source, { name, says }: CommandInfo): string => says ?? `${name} ${oneOf(kind.field)}`;

const mutationsOf = (source: Source): readonly Line[] => [
  ...Object.values(source.kind.commands)
    .filter(({ internal }) => !internal)
    .map((command) => mutationLine(source, command)),
  ...uploadLines(source),
];

const mutationLine = (source: Source, command: CommandInfo): Line => {
  const { kind, parent } = source;
  const name = mutationName(kind, command);
  const says = sentence(saysOf(source, command));
  const flat = () => command.form.map((field) => `, ${inputOf(source, memberOf(source, field), 'whole')}`).join('');
  switch (command.kind) {
    case 'create':
      return [says, `${name}(${parent ? `${idArgument(parent)}: ID!, ` : ''}input: ${kind.type}Input!): ${kind.type}!`];
    case 'end':
      return [`${says.slice(0, -1)}; answers with the id.`, `${name}(id: ID!, ifVersion: Int): ID!`];
    case 'edit': {
      const changes = command.form.length > 1 ? `, changes: ${kind.type}Changes!` : flat();
      return [says, `${name}(id: ID!${changes}, ifVersion: Int): ${kind.type}!`];
    }
    default:
      return [says, `${name}(id: ID!${flat()}, ifVersion: Int): ${kind.type}!`];
  }
};

const PICTURE =
  'The file is a picture (PNG, JPEG, WebP, GIF, AVIF) of at most 10 MiB; a part without a type has that of its bytes. Repeating it does no harm, so that it takes no idempotency key.';

const uploadLines = ({ kind, members }: Source): readonly Line[] =>
  members
    .filter(({ def }) => def.publicFile)
    .flatMap(({ name }): readonly Line[] => {
      const { set, remove } = uploadMutations(kind, name);
      return [
        [PICTURE, `${set}(id: ID!, file: Upload!, ifVersion: Int): ${kind.type}!`],
        ['Takes the picture away.', `${remove}(id: ID!, ifVersion: Int): ${kind.type}!`],
      ];
    });

// ── What happens ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
/** One that can be subscribed to, or a change. */
const exampleOf = ({ kind }: Source): string => {
  const events = Object.values(kind.events);
  const example = events.find(({ spec }) => spec.subscribe) ?? events.find(({ effect }) => effect === 'changes') ?? events[0];
  return example?.type ?? kind.name;
};

const exampleIn = (all: readonly Source[]): string => all.map(exampleOf).find((type) => !type.startsWith('user.')) ?? 'user.updated';

const payloadOf = (type: string): readonly Line[] => [
  ['Where to go on: as `after` it leads to what comes next.', 'cursor: Cursor!'],
  [`Such as \`${type}\`.`, 'type: String!'],
  ['When it happened.', 'at: DateTime!'],
];

const changeOf = (source: Source): string => {
  const { kind } = source;
  return block(`Something that has happened to ${oneOf(kind.name)}.`, `type ${changeType(kind)}`, [
    ...payloadOf(exampleOf(source)),
    [`The id of the ${kind.name}, whether or not it is still there.`, 'subjectId: ID!'],
    ['As it is now; null where it is gone, or is not for you to read.', `${kind.name}: ${kind.type}`],
  ]);
};

const subjectOf = ({ kind }: Source): Line => [
  `As it is now, where it has happened to ${oneOf(kind.name)} that is there and for you to read.`,
  `${kind.name}: ${kind.type}`,
];
const WEBHOOK_SUBJECT: Line = ['As it is now, where it has happened to a webhook that is there and for you to manage.', 'webhook: Webhook'];

const idsOf = (all: readonly Source[]): readonly Line[] => [
  [
    `The id of the ${all.map(({ kind }) => kind.name).join(', ')} or webhook that it has happened to; null for what has happened to none of them.`,
    'subjectId: ID',
  ],
];

const subscriptionsOf = ({ kind, parent }: Source): readonly Line[] => {
  const type = changeType(kind);
  const under = parent ? `${kind.parent}Id: ID!, ` : '';
  const changed: readonly Line[] = parent
    ? []
    : [[`Anything has happened to ${oneOf(kind.name)} itself.`, `${changedName(kind)}(id: ID!, after: Cursor): ${type}!`]];
  const told = Object.values(kind.events).filter(({ spec }) => spec.subscribe);
  return [
    ...changed,
    ...told.map((event): Line => [event.says ?? sentence(event.type), `${eventName(kind, event)}(${under}after: Cursor): ${type}!`]),
  ];
};
