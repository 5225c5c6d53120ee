import {
  type AggregateSketch,
  type Cell,
  commandOf,
  type FieldSketch,
  type RightsSketch,
  type StateSketch,
} from './sketch.ts';
import { COLUMNS_MAX, exampleOfField, literal, textOfField } from './text-of-field.ts';

/** The modules that the written files import. */
export type Surroundings = {
  /** Has `aggregate` and `user`. */
  readonly base: string;
  /** The functions that declare fields. */
  readonly language: string;
  /** The modules of other aggregates, by kind, with the names that they export. */
  readonly others: Readonly<Record<string, { readonly module: string; readonly exported: string }>>;
};

/** The file of a new aggregate. */
export const textOfAggregate = (
  sketch: AggregateSketch,
  { base, language, others }: Surroundings,
): string => {
  const { name, owner, says, fields, states, rights } = sketch;
  const targets = [...new Set(fields.flatMap(({ of }) => (of === undefined || of === 'user' ? [] : [of])))];
  const referred = targets.filter((of) => of !== name && others[of] !== undefined);
  const refer = (kind: string): string =>
    kind === 'user' ? 'user' : referred.includes(kind) ? (others[kind]?.exported ?? kind) : literal(kind);
  const functions = new Set([
    'ref',
    ...fields.map(({ type }) => type),
    ...(states.length > 0 ? ['states'] : []),
  ]);
  const imports = [
    [language, [...functions].toSorted()] as const,
    ...[
      [base, ['aggregate', 'user']] as const,
      ...referred.map((of) => [others[of]?.module ?? '', [others[of]?.exported ?? of]] as const),
    ].toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ];
  return [
    ...imports.map(([module, names]) => textOfImport(names, module)),
    '',
    `const content = ${bracketed(fields.map((field) => literal(field.name)))} as const;`,
    '',
    `export const ${name} = aggregate(${literal(name)}, {`,
    ...(says === undefined || says === '' ? [] : [`  says: ${literal(says)},`]),
    `  owner: ${literal(owner)},`,
    '  fields: {',
    `    ${owner}: ref(user),`,
    ...fields.map((field) => member(field.name, textOfField(field, refer))),
    ...(states.length > 0 ? [member('status', textOfStates(states))] : []),
    '  },',
    ...textOfEvents(states),
    ...textOfCommands(states),
    ...textOfRights(rights),
    '});',
    '',
  ].join('\n');
};

export const textOfImport = (names: readonly string[], module: string): string => {
  const line = `import { ${names.join(', ')} } from ${literal(module)};`;
  return line.length <= COLUMNS_MAX
    ? line
    : `import {\n${names.map((name) => `  ${name},\n`).join('')}} from ${literal(module)};`;
};

const member = (name: string, text: string): string => `    ${name}: ${text},`;

const bracketed = (items: readonly string[]): string => {
  const line = `[${items.join(', ')}]`;
  // `const content = ` and ` as const;`
  return line.length + 26 <= COLUMNS_MAX ? line : `[\n${items.map((item) => `  ${item},\n`).join('')}]`;
};

const textOfStates = (states: readonly StateSketch[]): string =>
  `states(${states.map(({ name }) => literal(name)).join(', ')})`;

const textOfEvents = (states: readonly StateSketch[]): readonly string[] => [
  '  events: {',
  '    created: { creates: content },',
  '    edited: { changes: content },',
  ...states.slice(1).map(({ name }) => `    ${name}: { sets: { status: ${literal(name)} } },`),
  '    deleted: { ends: true },',
  '  },',
];

const textOfCommands = (states: readonly StateSketch[]): readonly string[] => [
  '  commands: {',
  "    create: { emits: 'created' },",
  "    edit: { emits: 'edited' },",
  ...states
    .slice(1)
    .map((state) => `    ${commandOf(state)}: { emits: ${literal(state.name)}${whenOf(state)} },`),
  "    delete: { emits: 'deleted' },",
  '  },',
];

const whenOf = ({ from }: StateSketch): string => (from === undefined ? '' : `, when: ${literal(from)}`);

const textOfRights = ({ read, write }: RightsSketch): readonly string[] => [
  '  rights: {',
  ...textOfRow('read', read),
  ...textOfRow('write', write),
  '  },',
];

const textOfRow = (name: string, row: Readonly<Record<string, Cell>>): readonly string[] => {
  const cells = Object.entries(row)
    .filter(([, cell]) => cell === true || cell.length > 0)
    .map(([role, cell]) => `${role}: ${textOfCell(cell)}`);
  const line = cells.length === 0 ? `    ${name}: {},` : `    ${name}: { ${cells.join(', ')} },`;
  if (line.length <= COLUMNS_MAX) return [line];
  return [`    ${name}: {`, ...cells.map((cell) => `      ${cell},`), '    },'];
};

const textOfCell = (cell: Cell): string => {
  if (cell === true) return 'true';
  const [first = 'own', ...others] = cell;
  return others.length === 0 ? literal(first) : `[${cell.map(literal).join(', ')}]`;
};

/** A test of the rules of a new aggregate, for Node’s test runner. */
export const textOfTest = (
  { name, fields, states }: AggregateSketch,
  { served, list, module }: { readonly served: string; readonly list: string; readonly module: string },
): string => {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const sentences = states.slice(1).map((state) => {
    const before = pathTo(state.from ?? states[0]?.name, states);
    const given = [name, 'created', ...before.map(literal)].join(', ');
    const title = `${literal(commandOf(state))}`;
    return wrapped(
      `test('a ${state.from ?? states[0]?.name} ${words} becomes ${state.name} by ${commandOf(state)}', () =>`,
      `given(${given}).when(${title}).yields(${literal(state.name)}));`,
    );
  });
  return [
    "import { test } from 'node:test';",
    "import { rulesOf } from 'annals/testing';",
    `import { ${served} } from ${literal(list)};`,
    `import { ${name} } from ${literal(module)};`,
    '',
    `const { given } = rulesOf(${served});`,
    textOfCreated(fields),
    '',
    ...sentences,
    wrapped(
      `test('a deleted ${words} cannot be edited', () =>`,
      `given(${name}, created, 'deleted').when('edit').refuses('${words.replaceAll(' ', '_')}_deleted'));`,
    ),
    '',
  ].join('\n');
};

const wrapped = (head: string, body: string): string =>
  head.length + 1 + body.length <= COLUMNS_MAX ? `${head} ${body}` : `${head}\n  ${body}`;

const textOfCreated = (fields: readonly FieldSketch[]): string => {
  const values = fields.map((field) => `${wireOf(field)}: ${exampleOfField(field)}`);
  const line = `const created = ['created', { ${values.join(', ')} }] as const;`;
  if (line.length <= COLUMNS_MAX) return line;
  return `const created = [\n  'created',\n  {\n${values.map((value) => `    ${value},\n`).join('')}  },\n] as const;`;
};

/** Events name a reference by the id in it. */
const wireOf = ({ name, type }: FieldSketch): string => (type === 'ref' ? `${name}Id` : name);

/** The events that lead to a state, from the creation on. */
const pathTo = (state: string | undefined, states: readonly StateSketch[]): readonly string[] => {
  const found = states.slice(1).find(({ name }) => name === state);
  if (found === undefined) return [];
  return [
    ...pathTo(
      found.from,
      states.filter((each) => each !== found),
    ),
    found.name,
  ];
};
