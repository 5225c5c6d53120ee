// Over 200 lines, because it is one table: the names of the kernel, and the messages about them.

import { capital, column, itemType, SQL_NAME_CHARACTERS_MAX, targetOf, wire } from '../base/names.ts';
import { isAbsence, REJECTIONS } from '../base/rejection.ts';
import { isUser } from '../base/users.ts';
import { declaredRefusalsOf } from '../decide/guards.ts';
import { uploadFieldsOf } from '../decide/upload-fields.ts';
import type { FieldDef } from '../declare/fields.ts';
import { mutatingCommands, mutationName, uploadMutations } from '../registry/mutations.ts';
import type { CommandKind, Domain, Kind, ListInfo, Refusal } from '../registry/registry.ts';
import { eachKind, type Sentences } from './refusals.ts';

/** Refuses names that some interface cannot represent, each with a message that names the place. */
export function* demandNames(domain: Domain): Sentences {
  const kinds = Object.values(domain.kinds);
  yield* another([...kinds.flatMap(wrongNamesIn), ...twiceAmong(kinds), ...ownersLikeOthers(kinds)]);
  yield* OF_KINDS(domain);
  yield* another(mutationsTwiceIn(kinds));
}

function* another(wrong: readonly string[]): Sentences {
  for (const each of wrong) yield `${each}: give it another name.`;
}

const OF_KINDS = eachKind(wrongEdits, wrongIds, function* (kind) {
  for (const fact of Object.keys(kind.facts)) yield* wrongCircle(kind, [fact]);
});

export const FORM = /^[a-z][a-zA-Z0-9]{0,39}$/;
const EVENT = /^[a-z][a-zA-Z0-9_]{0,39}$/;
const PLURAL = /^[a-z][a-zA-Z0-9]{0,47}$/;
/** The form of words in GraphQL enumerations and in conditions. */
const WORD = /^[a-zA-Z_][a-zA-Z0-9_]{0,39}$/;
const SCOPE = /^[a-z][a-z0-9-]{0,39}$/;
const CODE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/;

const wrongNamesIn = (kind: Kind): readonly string[] =>
  [...wrongInKind(kind), ...wrongInFields(kind), ...wrongInWords(kind), ...wrongInDeclarations(kind)].map(
    (reason) => `${kind.name}: ${reason}`,
  );

/** Why a name is none. */
type Why = (name: string, index: number, names: readonly string[]) => string | undefined;
const of = (what: string, names: readonly string[], ...whys: readonly Why[]): readonly string[] =>
  whys.flatMap((why) => names.flatMap((...each) => why(...each) ?? [])).map((reason) => `${what} ${reason}`);
const form =
  (pattern: RegExp): Why =>
  (each) =>
    pattern.test(each) ? undefined : `${each} does not match ${pattern.source}`;
const taken =
  (words: ReadonlySet<string> | readonly string[], by: string): Why =>
  (each) =>
    new Set(words).has(each) ? `${each} is ${by}` : undefined;
const twice =
  (by: string): Why =>
  (each, index, names) =>
    names.indexOf(each) < index ? `${each} ${by}` : undefined;

const RESERVED_IN_SQL: Why = (each) => (RESERVED.has(each) ? `${each} is reserved in SQL` : undefined);
const OF_EVENTS: Why = (each) =>
  PARAMETERS_OF_EVENTS.has(each) ? `${each} is a parameter of events` : undefined;
const OF_AGGREGATES: Why = (each) =>
  FIELDS_OF_THE_KERNEL.has(each) ? `${each} is a field of every aggregate` : undefined;

const wrongInKind = ({ name, type, table, path, plural, owner, field }: Kind): readonly string[] => [
  ...of('the name', [name], form(FORM)),
  ...of(
    'the name',
    isUser({ name }) ? [] : [name],
    taken(KINDS_OF_THE_KERNEL, 'reserved for a stream of the kernel'),
  ),
  ...of('the name', [name], OF_EVENTS),
  ...of('the owner', owner === undefined ? [] : [owner], OF_EVENTS),
  ...of('the plural', [plural], form(PLURAL)),
  ...of('the table', [table], RESERVED_IN_SQL, taken(TABLES_OF_THE_KERNEL, 'a table of the kernel'), long),
  // The ingress routes all paths that begin so to the sign-in pages.
  ...of('the path', [path], (each) =>
    PATHS_OF_THE_KERNEL.has(each) || each.startsWith('sign-') ? `${each} is a path of the kernel` : undefined,
  ),
  ...of('the type of GraphQL', [type], form(/^[A-Z][a-zA-Z0-9]{0,39}$/)),
  ...of('the field of GraphQL', [field], taken(QUERIES_OF_THE_KERNEL, 'a query of the kernel')),
];

const wrongInFields = ({ name, fields, lists }: Kind): readonly string[] => {
  const all = Object.entries(fields);
  const names = Object.keys(fields);
  const wired = all.map(([field, def]) => wire(field, def));
  const searched = all.some(([, { search }]) => search !== undefined) ? ['search'] : [];
  const columns = all.map(([field, def]) => column(field, def));
  const ofItems = Object.values(lists).flatMap((list) => [
    ...Object.entries(list.fields).map(([field, def]) => column(field, def)),
    list.id.column,
  ]);
  return [
    ...of('the field', names, form(FORM), taken(searched, 'the column of the full-text search')),
    ...of('the field', [...names, ...wired], OF_AGGREGATES, taken([`${name}Id`], 'the id of the aggregate')),
    ...of('the list', Object.keys(lists), form(FORM), OF_AGGREGATES),
    ...of('the column', [...columns, ...ofItems], RESERVED_IN_SQL, long),
    ...of('the column', columns, twice('belongs to two fields')),
  ];
};

const wrongInWords = (kind: Kind): readonly string[] => [
  ...of('the word', choiceWords(kind), form(WORD), taken(WORDS_OF_THE_KERNEL, 'reserved')),
  ...of('the scope', scopesOf(kind), form(SCOPE)),
  ...of(
    'the filter',
    filtersOf(kind),
    taken(PARAMETERS, 'a parameter of every list'),
    taken(PARAMETERS_OF_AGGREGATES, 'a parameter of the groups of every list'),
    twice('belongs to two fields'),
  ),
];

const COMMANDS_OF_THE_KERNEL = ['patch', 'read', 'write', 'replace'];
const isFreeCode = (code: string): boolean =>
  CODE.test(code) && !isAbsence(code) && !Object.hasOwn(REJECTIONS, code);

const wrongInDeclarations = (kind: Kind): readonly string[] => {
  const { events, parent, limits, commands, facts, fields } = kind;
  const reserved = events.changed?.spec.subscribe && parent === undefined ? ['changed'] : [];
  return [
    ...of(
      'the event',
      Object.keys(events),
      form(EVENT),
      taken(reserved, 'reserved for the subscription to all changes of an aggregate'),
    ),
    ...of(
      'the limit',
      limits.map(({ name }) => name),
      form(FORM),
      twice('has the name of a unique field'),
    ),
    ...of(
      'the command',
      Object.keys(commands),
      form(FORM),
      taken(COMMANDS_OF_THE_KERNEL, 'a command of every aggregate'),
    ),
    ...of(
      'the fact',
      Object.keys(facts),
      taken([...Object.keys(fields), 'own', 'caller'], 'already a field or a word of conditions'),
      taken(['found'], 'reserved for the refusal of a missing aggregate'),
    ),
    ...of(
      'the refusal',
      refusalsIn(kind).map(({ code }) => code),
      (code) =>
        isFreeCode(code) ? undefined : `${code} is not a valid code or is already used by the kernel`,
    ),
    ...of('the refusal', ambiguous(kind), (code) => `${code} has two sentences`),
  ];
};

const long: Why = (name) =>
  name.length > SQL_NAME_CHARACTERS_MAX
    ? `${name} has more than ${SQL_NAME_CHARACTERS_MAX} characters`
    : undefined;

/** Only one command may edit fields by a form: `PATCH`, and `updateArticle` in GraphQL. */
function* wrongEdits({ commands }: Kind): Sentences {
  const [first, second] = Object.values(commands).filter(
    ({ kind, internal }) => kind === 'edit' && !internal,
  );
  if (first !== undefined && second !== undefined)
    yield `the commands ${first.name} and ${second.name} both edit fields with a form, but an aggregate can have only one such command: let one event change the fields of both, or let ${second.events[0]?.name} also set a field (\`sets: { doneAt: 'now' }\`), which makes ${second.name} an action with its own form.`;
}

/** GraphQL shows the id of a reference beside it, under a name that follows from that of its target. */
function* wrongIds({ fields, lists }: Kind, { kinds }: Domain): Sentences {
  const all = [
    { defs: fields, beside: { ...fields, ...lists } },
    ...Object.values(lists).map((list) => ({ defs: list.fields, beside: list.fields })),
  ];
  for (const { defs, beside } of all)
    for (const [name, def] of Object.entries(defs)) {
      const id = `${kinds[name]?.field}Id`;
      if (def.kind === 'ref' && name === targetOf(def) && Object.hasOwn(beside, id))
        yield `the field ${id} has the name of the id of ${name} in GraphQL: give it another name.`;
    }
}

/** Facts may refer to other facts, but not in a circle. */
function* wrongCircle(kind: Kind, [fact, ...before]: readonly [string, ...string[]]): Sentences {
  if (before.includes(fact))
    return yield `the fact ${fact} depends on itself, through ${[fact, ...before].toReversed().join(', ')}: define it by fields.`;
  for (const next of factsNamedIn(kind, kind.facts[fact])) yield* wrongCircle(kind, [next, fact, ...before]);
}

const factsNamedIn = (kind: Kind, condition: unknown): readonly string[] => {
  const all = [condition].flat();
  return all.flatMap((each) => {
    if (typeof each === 'string') return Object.hasOwn(kind.facts, each) ? [each] : [];
    if (typeof each !== 'object' || each === null) return [];
    return Object.keys(each).filter(
      (name) => !Object.hasOwn(kind.fields, name) && Object.hasOwn(kind.facts, name),
    );
  });
};

/** The kernel declares the refusal of a taken e-mail address of users. */
const refusalsIn = (kind: Kind): readonly Refusal[] =>
  declaredRefusalsOf(kind).filter(({ code }) => !isUser(kind) || code !== 'email_taken');

/** Codes that have two sentences: documentation could show only one. */
const ambiguous = (kind: Kind): readonly string[] => {
  const sentences = new Map<string, string | undefined>();
  return refusalsIn(kind).flatMap(({ code, says }) => {
    const first = sentences.has(code) ? sentences.get(code) : says;
    sentences.set(code, first);
    return first === says ? [] : [code];
  });
};

/** The words of choices and states; of users, the roles. */
const choiceWords = ({ fields }: Kind): readonly string[] =>
  Object.values(fields).flatMap(({ values }) => values ?? []);

const scopesOf = ({ rights }: Kind): readonly string[] =>
  Object.values(rights).flatMap(({ scope }) => (typeof scope === 'string' ? [scope] : []));

const filtersOf = ({ fields }: Kind): readonly string[] =>
  Object.entries(fields).flatMap(([name, { filter }]) =>
    filter === undefined ? [] : [filter === true ? name : filter],
  );

/** Names that several kinds share although they must be unique. */
const twiceAmong = (kinds: readonly Kind[]): readonly string[] => {
  const among = (
    what: string,
    of: (kind: Kind) => readonly string[],
    known: readonly string[] = [],
  ): readonly string[] => {
    const owners = new Map(known.map((name) => [name, 'the kernel']));
    return kinds.flatMap((kind) =>
      of(kind).flatMap((name) => {
        const first = owners.get(name);
        owners.set(name, first ?? kind.name);
        return first === undefined ? [] : [`${kind.name}: ${what} ${name} already belongs to ${first}`];
      }),
    );
  };
  return [
    ...among('the table', ({ table, lists }) => [table, ...Object.values(lists).map((list) => list.table)]),
    ...among('the path', ({ path }) => [path]),
    ...among('the command', ({ name, commands }) =>
      [...Object.keys(commands), 'patch'].map((each) => `${capital(each)}${capital(name)}`),
    ),
    ...among('the type of GraphQL', typesOf, TYPES_OF_THE_KERNEL),
  ];
};

const mutationsOf = (kind: Kind): readonly Mutation[] => [
  ...mutatingCommands(kind).map((command) => ({
    kind,
    mutation: mutationName(kind, command),
    from: `the command ${command.name}`,
    isFixed: command.list === undefined ? FIXED.has(command.kind) : command.verb === undefined,
  })),
  ...uploadFieldsOf(kind).flatMap((upload) =>
    Object.values(uploadMutations(kind, upload)).map((mutation) => ({
      ...{ kind, mutation, from: `the file ${upload.name}`, isFixed: true },
    })),
  ),
];

type Mutation = {
  readonly kind: Kind;
  readonly mutation: string;
  readonly from: string;
  /** Another name of the command would not change it. */
  readonly isFixed: boolean;
};
const FIXED: ReadonlySet<CommandKind> = new Set(['create', 'edit']);

const mutationsTwiceIn = (kinds: readonly Kind[]): readonly string[] => {
  const all = kinds.flatMap(mutationsOf);
  return all.flatMap((each, index) => {
    const first = all.slice(0, index).find(({ mutation }) => mutation === each.mutation);
    if (first === undefined) return [];
    const [renamed, other] = each.isFixed && !first.isFixed ? [first, each] : [each, first];
    const of = other.kind === renamed.kind ? '' : ` of ${other.kind.name}`;
    return [
      `${renamed.kind.name}: ${renamed.from} has the mutation ${each.mutation} in GraphQL, as ${other.from}${of} has`,
    ];
  });
};

/** Events and webhooks are filtered by parents, users and owners, each by its name. */
const ownersLikeOthers = (kinds: readonly Kind[]): readonly string[] => {
  const others = new Set([
    'user',
    ...kinds.map(({ parent, fields }) => (parent === undefined ? '' : targetOf(fields[parent] as FieldDef))),
  ]);
  return kinds.flatMap(({ name, owner }) =>
    owner !== undefined && others.has(owner)
      ? [`${name}: the owner ${owner} has the name of an aggregate by which events are filtered`]
      : [],
  );
};

/** The types of GraphQL that a kind has. */
export const typesOf = ({ name, type, fields, lists }: Kind): readonly string[] => [
  ...['', 'Edge', 'Connection', 'Sort', 'Filter', 'Input', 'Changes'].map((ending) => `${type}${ending}`),
  ...AGGREGATE_ENDINGS.map((ending) => `${type}Aggregate${ending}`),
  `${capital(name)}Change`,
  ...Object.entries(fields).flatMap(([field, { values, enumName }]) =>
    values === undefined ? [] : [enumName ?? `${type}${capital(field)}`],
  ),
  // A separate message reports two lists with the same name for an item.
  ...[...new Map(Object.values(lists).map((list) => [list.one, list])).values()].flatMap((list) =>
    typesOfItems(itemType({ type }, list), list),
  ),
];

const AGGREGATE_ENDINGS = ['', ...'Group GroupBy Having Key Measure Sort Sum Avg Min Max'.split(' ')];

const typesOfItems = (type: string, { key, id, fields }: ListInfo): readonly string[] => [
  ...['', 'Edge', 'Connection', 'Sort', 'Filter', 'Input', 'Changes'].map((ending) => `${type}${ending}`),
  ...Object.entries({ ...(key !== undefined && { [key]: id.def }), ...fields }).flatMap(
    ([field, { values, enumName }]) => (values === undefined ? [] : [enumName ?? `${type}${capital(field)}`]),
  ),
];

const KINDS_OF_THE_KERNEL = new Set(
  'webhook email limit administrators command session grant client account invitation'.split(' '),
);
const TABLES_OF_THE_KERNEL = new Set(
  'webhooks departed digest parked removed view_stream view_removed view_readers'.split(' '),
);
const PATHS_OF_THE_KERNEL = new Set([
  ...'account api audit clients console deliveries docs event-types events graphql inbox mcp me oauth operations schemas uploads webhooks'.split(
    ' ',
  ),
  ...'authorize consent device introspect jwks livez metrics par readyz register revoke token userinfo'.split(
    ' ',
  ),
]);
const WORDS_OF_THE_KERNEL = new Set('true false null now caller own'.split(' '));
const QUERIES_OF_THE_KERNEL = new Set('auditStatus cursor eventTypes me node webhook'.split(' '));
export const FIELDS_OF_THE_KERNEL = new Set(
  'id version createdAt updatedAt deletedAt links asOf history personal seal type ctid xmin xmax cmin cmax tableoid'.split(
    ' ',
  ),
);
const PARAMETERS_OF_EVENTS = new Set('actor after limit since subject types until'.split(' '));
export const PARAMETERS = new Set('after at before limit q sort'.split(' '));
const PARAMETERS_OF_AGGREGATES = new Set('groupBy having measures'.split(' '));

/** True if the kernel uses this table, path or GraphQL query. */
export const isOfTheKernel = ({
  table,
  path,
  name,
}: {
  readonly table: string;
  readonly path: string;
  readonly name: string;
}): boolean =>
  TABLES_OF_THE_KERNEL.has(table) ||
  PATHS_OF_THE_KERNEL.has(path) ||
  path.startsWith('sign-') ||
  QUERIES_OF_THE_KERNEL.has(name);

/** A test compares this list with the recorded schema. */
export const TYPES_OF_THE_KERNEL = [
  'AuditStatus Boolean Change Cursor DateTime EventType FieldChange Float HistoryConnection HistoryEntry HistoryEntryEdge',
  'FileDetails HttpHeader ID Int JSON Mutation Node PageInfo Query ReadLogConnection ReadLogEdge ReadLogEntry Signature SignedAddress String Subscription Upload',
  'Delivery DeliveryAnswer DeliveryAttempt DeliveryAttemptConnection DeliveryAttemptEdge DeliveryConnection',
  'DeliveryEdge DeliveryFilter DeliverySearch DeliverySearchState DeliveryState Replay ReplayConnection ReplayEdge ReplayState',
  'Webhook WebhookBacklog WebhookChanges WebhookConnection WebhookDisabledReason WebhookEdge WebhookFailure WebhookFormat',
  'WebhookHeader WebhookHealth WebhookInput WebhookListFilter WebhookPayload WebhookRequest WebhookSort',
  'WebhookWithSecret WebhookWithheld',
].flatMap((line) => line.split(' '));

/**
 * Words that PostgreSQL does not accept as names of tables or columns without quotes. A test compares them
 * with the server.
 */
export const RESERVED: ReadonlySet<string> = new Set(
  [
    'all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column',
    'concurrently constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp',
    'current_user default deferrable desc distinct do else end except false fetch for foreign freeze from full grant group having',
    'ilike in initially inner intersect into is isnull join lateral leading left like limit localtime localtimestamp natural not',
    'notnull null offset on only or order outer overlaps placing primary references returning right select session_user similar',
    'some symmetric system_user table tablesample then to trailing true union unique user using variadic verbose when where window with',
  ].flatMap((line) => line.split(' ')),
);
