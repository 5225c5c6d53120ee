// Over 200 lines, because it is one table: the sections of the page.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { argv } from 'node:process';
import { secretSettings, settingsTable } from '#process/settings.ts';
import { readSources } from '../test/published-sources.ts';
import { withPicture } from '../test/rooms.ts';
import { withGraphqlTables } from './reference/graphql-tables.ts';
import { type Entry, readTypes, type Types } from './reference/read-types.ts';

/**
 * `npm run reference` writes docs/declaration.md from the types in `kernel/declare` and their comments,
 * docs/settings.md from the table of settings, the tables of limits and costs in docs/graphql.md, and the
 * picture of the rooms in docs/architecture.md. `test/reference.test.ts` fails if a page is outdated or an
 * option has no comment, and `test/boundaries.test.ts` if the picture is.
 */
const DECLARATION = new URL('../docs/declaration.md', import.meta.url);
const SETTINGS = new URL('../docs/settings.md', import.meta.url);
const GRAPHQL = new URL('../docs/graphql.md', import.meta.url);
const ARCHITECTURE = new URL('../docs/architecture.md', import.meta.url);
const TYPES = new URL('../kernel/declare/', import.meta.url);
/** Files whose options no author of a domain writes. */
const KERNELS_OWN: ReadonlySet<string> = new Set(['texts.ts', 'values.ts', 'webhook.ts']);

type Part = { readonly file: string } & (
  | { readonly members: string }
  | { readonly methods: string }
  | { readonly alternatives: string }
  | { readonly functions: true }
);
type Section = { readonly title: string; readonly text: string; readonly parts: readonly Part[] };

const SECTIONS: readonly Section[] = [
  {
    title: 'Domain',
    text: '`domain({ … })` comes first, and returns `aggregate`, `view` and `user`, which declare aggregates and views; `assemble(base, [one, two], [views])` makes a domain of them, with [senders](inbox.md) as a fourth list.',
    parts: [{ file: 'domain.ts', members: 'Options' }],
  },
  {
    title: 'Aggregate',
    text: '`aggregate(name, { … })`. The parts are explained below.',
    parts: [{ file: 'aggregate.ts', members: 'Declaration' }],
  },
  {
    title: 'Types of fields',
    text: 'From `#kernel/declare/fields.ts`. Every aggregate has `id`, `createdAt` and `updatedAt` besides.',
    parts: [{ file: 'fields.ts', functions: true }],
  },
  {
    title: 'Options of fields',
    text: "They follow the type, in any order: `line(200).optional().search('A')`.",
    parts: ['Field', 'Choice'].map((methods) => ({ file: 'fields.ts', methods })),
  },
  {
    title: 'Options of references',
    text: 'The second argument of `ref`.',
    parts: [{ file: 'fields.ts', members: 'RefOptions' }],
  },
  {
    title: 'Options of files',
    text: 'The argument of `file`. [Files](files.md) says what follows from them.',
    parts: [{ file: 'fields.ts', members: 'FileOptions' }],
  },
  {
    title: 'Options of lists',
    text: 'The second argument of `list`.',
    parts: [{ file: 'fields.ts', members: 'ListOptions' }],
  },
  {
    title: 'Derived numbers',
    text: "`derived: { total: { sum: 'items.amount' } }`. They change in the same transaction as the items, and are read like fields.",
    parts: [{ file: 'aggregate.ts', members: 'Derived' }],
  },
  {
    title: 'Effects of events',
    text: "`events: { drafted: { creates: ['title'] } }`. An event without any, `{}`, changes nothing; it is recorded and delivered.",
    parts: [{ file: 'aggregate.ts', members: 'Effect' }],
  },
  {
    title: 'Options of events',
    text: 'Beside the effect.',
    parts: ['Always', 'Common'].map((members) => ({ file: 'aggregate.ts', members })),
  },
  {
    title: 'Events of items',
    text: "`events: { replied: { adds: 'messages', sets: { author: 'caller', sentAt: 'now' } } }`: instead of an effect on the aggregate, one on an item of a list. [Lists](lists.md) says how its form and its path follow.",
    parts: ['ItemEffect', 'ItemOptions'].map((members) => ({ file: 'aggregate.ts', members })),
  },
  {
    title: 'Commands',
    text: "`commands: { publish: { emits: 'published' } }`. The form, the path and the method of a command follow from the effect of its event.",
    parts: [{ file: 'aggregate.ts', members: 'CommandSpec' }],
  },
  {
    title: 'Decisions',
    text: "The argument of a command’s `decide`. The function returns the events that happen: `['approved', ['converted', { rate: 2 }]]`, or `[]`.",
    parts: [{ file: 'aggregate.ts', members: 'Given' }],
  },
  {
    title: 'Conditions',
    text: 'Used in rights, `when`, facts, invariants, reactions and timers. [Conditions](conditions.md) defines each exactly.',
    parts: [{ file: 'conditions.ts', alternatives: 'Condition' }],
  },
  {
    title: 'Conditions on fields',
    text: 'In `{ field: … }`.',
    parts: [
      { file: 'conditions.ts', alternatives: 'ValueMatch' },
      { file: 'conditions.ts', members: 'CallersMatch' },
      { file: 'conditions.ts', members: 'ListMatch' },
      { file: 'conditions.ts', alternatives: 'RefMatch' },
    ],
  },
  {
    title: 'Rights',
    text: '`rights: { read: { … }, write: { … }, publish: { … } }`: one row for reading, and one for each command.',
    parts: [{ file: 'aggregate.ts', members: 'RightsOf' }],
  },
  {
    title: 'Rows of rights',
    text: "`{ anyone: 'published', author: ['published', 'own'] }`. Nobody who is not named may; administrators may, unless `admin` is named. Rows of `fieldRights` also name the fields and items.",
    parts: ['Row', 'FieldRight'].map((members) => ({ file: 'aggregate.ts', members })),
  },
  {
    title: 'Logged reads',
    text: "`reads: 'logged'`, or an object; the [log of reads](read-log.md) says what follows.",
    parts: [{ file: 'aggregate.ts', members: 'LoggedReads' }],
  },
  {
    title: 'Limits',
    text: "`limits: { open: { max: 3, per: 'borrower', when: 'open', says: 'You have three books already.' } }`; [Limits](limits.md) says how they are kept.",
    parts: [{ file: 'aggregate.ts', members: 'Limit' }],
  },
  {
    title: 'Reactions',
    text: "`reactions: { author: { deleted: { run: 'delete' } } }`; [Reactions and timers](reactions.md) says what holds of them.",
    parts: [{ file: 'aggregate.ts', members: 'Reaction' }],
  },
  {
    title: 'Reactions by code',
    text: "`reactions: { approved: ({ state, run }) => run(team, 'book', { id: state.team, form: { spent: state.amount } }) }`. The function gets `state` and `now` as a decision does: right after the event, and its time. It also gets:",
    parts: [{ file: 'aggregate.ts', members: 'Occurred' }],
  },
  {
    title: 'Timers',
    text: "`timers: { remind: { after: 'asked', wait: '3 days', run: 'remind' } }`, or `{ at: 'dueAt', before: '1 day', run: 'warn' }`.",
    parts: ['TimerByEvent', 'TimerByField', 'TimerCommand'].map((members) => ({
      file: 'aggregate.ts',
      members,
    })),
  },
  {
    title: 'Schedules',
    text: "`schedules: { 'nightly-report': { cron: '30 2 * * *', timeZone: 'Europe/Berlin', run: 'open', missed: 'skip' } }`; [Schedules](schedules.md) says what holds of them.",
    parts: [{ file: 'aggregate.ts', members: 'Schedule' }],
  },
  {
    title: 'Holds',
    text: '`hold: { right: { counsel: true } }`, or in `user` of the domain; [Holds](retention.md#holds) says what they refuse.',
    parts: [{ file: 'aggregate.ts', members: 'Hold' }],
  },
  {
    title: 'Retention',
    text: "`retain: { for: '10 years', after: 'closed', run: 'delete' }`; [Retention](retention.md#retention) says what holds of it.",
    parts: [{ file: 'aggregate.ts', members: 'Retain' }],
  },
  {
    title: 'Views',
    text: '`view(name, { … })`: numbers and latest values by a key, over the events of several aggregates; [Views](views.md) says how they are kept.',
    parts: [{ file: 'view.ts', members: 'ViewDeclaration' }],
  },
  {
    title: 'Values of views',
    text: 'From `#kernel/declare/view.ts`.',
    parts: [{ file: 'view.ts', functions: true }],
  },
  {
    title: 'Sources of views',
    text: "`from: { request: { by: { team: 'team' }, on: { submitted: { gives: { waiting: 1 } } } } }`: one for each aggregate that a view is made `of`.",
    parts: [{ file: 'view.ts', members: 'Source' }],
  },
  {
    title: 'Shares in views',
    text: 'The effect of an event on the share of its aggregate in a view. The end of an aggregate ends its shares by itself. An event that changes a field of `by` moves the share to the new key.',
    parts: [{ file: 'view.ts', alternatives: 'ShareSpec' }],
  },
];

/** Types of values that every author knows. */
const PLAIN = /^(?:string|number|boolean|true|null|'[^']*')(?: \| (?:null|'[^']*'))*$/;
/** Type parameters, by what an author writes in their place; the comment explains other types. */
const WORDS: Readonly<Record<string, string>> = {
  Cond: 'a condition',
  'boolean | Cond': '`true`, `false`, or a condition',
  'readonly Content[]': 'fields',
  'readonly Carried[]': 'fields',
  Listed: 'a list',
  Sets: 'values by fields',
  Count: 'a list',
  Sum: 'a number of a list, as `items.amount`',
  Plain: 'an event, or events',
  'readonly FieldName[]': 'fields',
  'readonly string[]': 'names',
  O: 'a reference',
  P: 'a reference',
  Parent: 'a reference',
  Reference: 'a reference',
  Role: 'a role',
  "readonly (Keys<F, D>['any'] | 'createdAt' | 'updatedAt')[]": 'fields and lists',
  'ItemsOf<F>': 'conditions on items by lists',
  'readonly (keyof F & string)[]': 'fields',
  'readonly [Role, ...Role[]]': 'names',
  F: 'fields by names',
  'keyof F & string': 'a field',
  "Keys<F, unknown>['label']": 'a field',
  'keyof E & string': 'an event',
  'keyof C & string': 'a command',
  Wait: 'as `3 days`',
  'Wait | WaitByWord<F>': 'as `3 days`, or by words',
  'KeysOf<F, Field<string | null>>': 'a field',
};
/** Names that stand for any of a kind, and forms of conditions. */
const NAMES: Readonly<Record<string, string>> = {
  "[Role | 'admin']": 'a role, or `admin`',
  '[keyof C]': 'a command',
  Fact: "`'published'`, `'own'`",
  'Match<Fact, F, D, S>': '`{ a: …, b: … }`',
  'readonly (Fact | Match<Fact, F, D, S>)[]': '`[…, …]`',
  '(T | readonly T[])': '`value`, `[one, two]`',
  Other: "`{ field: 'startsAt' }`",
  '{ readonly not: T | readonly T[] | Other }': '`{ not: value }`, `{ not: [one, two] }`',
  'Order<T, Other>': '`{ min: 3 }`, `{ max: 5 }`',
  '(A extends Asked<infer Target> ? ConditionOn<Target, S> : ByName<A>)': 'a condition',
  '{ readonly gives: Given | null }': "`{ gives: { approved: 'total' } }`",
  '{ readonly changes: Changed; readonly adds?: Added }': "`{ changes: { approved: 'total' } }`",
  '{ readonly changes?: Changed; readonly adds: Added }': '`{ adds: { reminders: 1 } }`',
};

export const readDeclarations = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(TYPES)
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !KERNELS_OWN.has(name))
      .map((name) => [name, readFileSync(new URL(name, TYPES), 'utf8')]),
  );

/** Returns the page; throws if an option has no comment, or no place on the page. */
export const referenceOf = (sources: Readonly<Record<string, string>>): string => {
  using types = readTypes(sources);
  const sections = onceEach(
    SECTIONS.map((section) => ({
      ...section,
      entries: distinct(section.parts.flatMap((part) => entriesOf(types, part))),
    })),
  );
  const missing = sections.flatMap(({ title, entries }) =>
    entries.flatMap(({ name, says }) =>
      says === ''
        ? [`${name} of “${title}” has no comment in kernel/declare: add one that says what it is for.`]
        : [],
    ),
  );
  const homeless = Object.keys(sources).flatMap((file) => homelessIn(types, file));
  if (missing.length + homeless.length > 0) throw new Error([...missing, ...homeless].join('\n'));
  return `${HEAD}${sections.map(({ title, text, entries, again }) => `\n## ${title}\n\n${text}${againText(again)}\n\n${tableOf(entries)}\n`).join('')}`;
};

type Described = Section & { readonly entries: readonly Entry[] };

/** A word that means the same in several sections has a row in the first; the others only name it. */
const onceEach = (
  sections: readonly Described[],
): readonly (Described & { readonly again: readonly string[] })[] => {
  const known = new Set<string>();
  return sections.map((section) => {
    const isKnown = (entry: Entry): boolean => entry.says !== '' && known.has(meaningOf(entry));
    const again = section.entries.filter(isKnown).map(({ name }) => name);
    const entries = section.entries.filter((entry) => !isKnown(entry));
    for (const entry of entries) known.add(meaningOf(entry));
    return { ...section, entries, again };
  });
};

const meaningOf = ({ name, says }: Entry): string => `${name.split('(')[0]} ${says}`;

const againText = (again: readonly string[]): string =>
  again.length === 0 ? '' : ` Also, as above: ${again.map(code).join(', ')}.`;

/** An option that a narrower type declares again, or inherits, is listed once. */
const distinct = (entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(
    ({ name, value, says }, index) =>
      entries.findIndex((other) => other.name === name && (other.value === value || other.says === says)) ===
      index,
  );

const HEAD = `# Declarations

Everything that can be written in the declaration of a domain; [Declare a domain](domain.md) and [Grow a domain](grow-domain.md) lead here. This page is made of the types in \`kernel/declare/\` and their comments by \`npm run reference\`: do not edit it.
`;

const entriesOf = (types: Types, part: Part): readonly Entry[] => {
  if ('functions' in part) return types.functionsIn(part.file);
  if ('methods' in part) return types.methodsOf(part.file, part.methods);
  if ('alternatives' in part) return types.alternativesOf(part.file, part.alternatives);
  return types.membersOf(part.file, part.members);
};

/** Exported functions that have no row and are mentioned in no text. */
const homelessIn = (types: Types, file: string): readonly string[] =>
  types.functionsIn(file).flatMap(({ name: call }) => {
    const [name = ''] = call.split('(');
    const isShown = SECTIONS.some(
      ({ text, parts }) =>
        text.includes(`${name}(`) || parts.some((part) => part.file === file && 'functions' in part),
    );
    const way = 'give it a section in scripts/write-reference.ts, or say @internal in its comment';
    return isShown ? [] : [`kernel/declare/${file} exports ${name}: ${way}.`];
  });

const tableOf = (entries: readonly Entry[]): string => {
  const values = entries.map(({ value }) => WORDS[value] ?? (PLAIN.test(value) ? code(value) : ''));
  const hasValues = values.some((value) => value !== '');
  const rows = entries.map(({ name, says }, index) => [
    NAMES[name] ?? code(name),
    ...(hasValues ? [values[index] ?? ''] : []),
    says,
  ]);
  const head = hasValues ? '| Name | Value | |\n|---|---|---|' : '| Written | |\n|---|---|';
  return [
    head,
    ...rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`),
  ].join('\n');
};

const code = (text: string): string => `\`${text}\``;

export const settingsPage = (): string => `# Settings

All settings are environment variables. Each has a default, except where production requires a value. A wrong value stops the start with one sentence that says what is expected.
These settings hold secrets, and can also be read from a file (\`MASTER_KEY_FILE=/run/secrets/master_key\`): ${secretSettings().map(code).join(', ')}.
\`npm run annals -- settings\` prints this table. \`npm run reference\` writes this page: do not edit it.

${settingsTable()}
`;

if (argv[1] === import.meta.filename) {
  writeFileSync(DECLARATION, referenceOf(readDeclarations()));
  writeFileSync(SETTINGS, settingsPage());
  writeFileSync(GRAPHQL, withGraphqlTables(readFileSync(GRAPHQL, 'utf8')));
  writeFileSync(ARCHITECTURE, withPicture(readFileSync(ARCHITECTURE, 'utf8'), readSources()));
}
