import { commandTo } from './command-to.ts';

/** An aggregate as questions or a page describe it, before its file is written. */
export type AggregateSketch = {
  readonly name: string;
  /** The reference to the user who owns it. */
  readonly owner: string;
  readonly says?: string | undefined;
  readonly fields: readonly FieldSketch[];
  /** The first one is the initial state; without any, there is no status. */
  readonly states: readonly StateSketch[];
  readonly rights: RightsSketch;
};

export type FieldType = keyof typeof FIELD_TYPES;

export type FieldSketch = {
  readonly name: string;
  readonly type: FieldType;
  /** Of an integer. */
  readonly min?: number | undefined;
  /** Of an integer, or the characters of a text. */
  readonly max?: number | undefined;
  /** Of a choice. */
  readonly words?: readonly string[] | undefined;
  /** The kind that a reference leads to. */
  readonly of?: string | undefined;
  readonly initial?: string | number | boolean | undefined;
  readonly says?: string | undefined;
  readonly options?: readonly FieldOption[] | undefined;
};

export type FieldOption = 'optional' | 'filter' | 'sort' | 'search' | 'unique' | 'personal';

export type StateSketch = {
  readonly name: string;
  /** The command that leads to it; by default made from the name. */
  readonly by?: string | undefined;
  /** The state in which that command is allowed; any, unless it is given. */
  readonly from?: string | undefined;
};

/** States, `own`, or everything. */
export type Cell = true | readonly string[];
export type RightsSketch = {
  readonly read: Readonly<Record<string, Cell>>;
  readonly write: Readonly<Record<string, Cell>>;
};

type TypeFacts = {
  readonly title: string;
  readonly takes: readonly (keyof FieldSketch)[];
  readonly options: readonly FieldOption[];
  readonly max?: number;
};

/** The types that a sketch offers, with the options that each can have. */
export const FIELD_TYPES = {
  line: {
    title: 'One line of text',
    takes: ['max'],
    options: ['optional', 'unique', 'filter', 'search', 'personal'],
    max: 200,
  },
  prose: {
    title: 'Text of several lines',
    takes: ['max'],
    options: ['optional', 'search', 'personal'],
    max: 2_000,
  },
  markdown: {
    title: 'Markdown',
    takes: ['max'],
    options: ['optional', 'search', 'personal'],
    max: 10_000,
  },
  integer: {
    title: 'A whole number',
    takes: ['min', 'max', 'initial'],
    options: ['optional', 'filter'],
    max: 1_000_000,
  },
  flag: { title: 'Yes or no', takes: ['initial'], options: ['optional', 'filter'] },
  choice: { title: 'One of some words', takes: ['words', 'initial'], options: ['optional', 'filter'] },
  date: { title: 'A day', takes: [], options: ['optional', 'filter'] },
  instant: { title: 'A point in time', takes: [], options: ['optional', 'sort'] },
  ref: { title: 'A reference', takes: ['of'], options: ['optional', 'filter'] },
} as const satisfies Readonly<Record<string, TypeFacts>>;

export const isFieldType = (type: string): type is FieldType => Object.hasOwn(FIELD_TYPES, type);

export const factsOfType = (type: FieldType): TypeFacts => FIELD_TYPES[type];

/** The commands and events that every written aggregate has. */
const OWN = { create: 'created', edit: 'edited', delete: 'deleted' } as const;

const NAME = /^[a-z][a-zA-Z0-9]{0,39}$/;
const ROLE = /^[a-z]\w{0,99}$/i;

/** Why a sketch cannot be written, in one sentence. The kernel refuses the rest once it is. */
export const whyNoAggregateOf = (sketch: AggregateSketch): string | undefined => {
  const { fields, owner, states, rights } = sketch;
  const names = fields.map(({ name }) => name);
  const words = states.map(({ name }) => name);
  if (fields.length === 0) return 'An aggregate needs at least one field: add one, such as title.';
  if (!NAME.test(owner)) return `${JSON.stringify(owner)} cannot be the name of the owner: ${HOW_TO_NAME}.`;
  for (const field of fields) {
    const why = whyNoField(field);
    if (why !== undefined) return why;
  }
  const twice = twiceIn([owner, ...names, ...(states.length > 0 ? ['status'] : [])]);
  if (twice !== undefined) return `There are two fields ${twice}: give each a name of its own.`;
  return whyNoStates(sketch) ?? whyNoRights(rights, words);
};

const whyNoStates = ({ states }: AggregateSketch): string | undefined => {
  const words = states.map(({ name }) => name);
  const wrong = words.find((word) => !NAME.test(word));
  if (wrong !== undefined) return `${JSON.stringify(wrong)} cannot be the name of a state: ${HOW_TO_NAME}.`;
  if (words.length === 1) return 'One state alone says nothing: name at least two, or none.';
  const twice = twiceIn(words);
  if (twice !== undefined) return `There are two states ${twice}: give each a name of its own.`;
  const events = twiceIn([...Object.values(OWN), ...words.slice(1)]);
  if (events !== undefined)
    return `Every aggregate has an event ${events}, which a state of this name would have too: give the state another name.`;
  const commands = twiceIn([...Object.keys(OWN), ...states.slice(1).map(commandOf)]);
  if (commands !== undefined)
    return `Two commands would be called ${commands}: give the command of one state another name.`;
  const command = states
    .slice(1)
    .map(commandOf)
    .find((each) => !NAME.test(each));
  if (command !== undefined)
    return `${JSON.stringify(command)} cannot be the name of a command: ${HOW_TO_NAME}.`;
  const from = states.find((state) => state.from !== undefined && !words.includes(state.from))?.from;
  return from === undefined ? undefined : `There is no state ${from}: name one of ${words.join(', ')}.`;
};

const whyNoRights = (rights: RightsSketch, words: readonly string[]): string | undefined => {
  const role = Object.values(rights)
    .flatMap((row) => Object.keys(row))
    .find((each) => !ROLE.test(each));
  if (role !== undefined) return `${JSON.stringify(role)} cannot be the name of a role: use one word.`;
  const cells = Object.values(rights).flatMap((row) => Object.values(row));
  const stray = cells.flatMap((cell) => (cell === true ? [] : cell)).find((word) => !isReach(word, words));
  return stray === undefined
    ? undefined
    : `The rights name ${stray}, which is no state: use ${['own', ...words].join(', ')}.`;
};

const isReach = (word: string, words: readonly string[]): boolean => word === 'own' || words.includes(word);

/** Why a field cannot be written, in one sentence. */
export const whyNoField = ({ name, type, ...field }: FieldSketch): string | undefined => {
  if (!NAME.test(name)) return `${JSON.stringify(name)} cannot be the name of a field: ${HOW_TO_NAME}.`;
  if (!isFieldType(type))
    return `There is no type ${JSON.stringify(type)} of fields: use ${Object.keys(FIELD_TYPES).join(', ')}.`;
  const { options, takes } = factsOfType(type);
  const option = field.options?.find((each) => !options.includes(each));
  if (option !== undefined)
    return `${name} is of the type ${type}, which cannot be ${option}: ${options.length === 0 ? 'it has no options' : `it can be ${options.join(', ')}`}.`;
  const given = (['min', 'max', 'words', 'of', 'initial'] as const).find(
    (each) => field[each] !== undefined && !takes.includes(each),
  );
  if (given !== undefined) return `${name} is of the type ${type}, which has no ${given}: leave it out.`;
  return whyNoValues({ name, type, ...field });
};

const whyNoValues = ({ name, type, ...field }: FieldSketch): string | undefined => {
  const { min = 0, max = 1, words = [] } = field;
  if (![min, max].every(Number.isSafeInteger)) return `The limits of ${name} are no whole numbers.`;
  if (type === 'choice') {
    if (words.length < 2) return `${name} needs at least two words to choose from.`;
    const wrong = words.find((word) => !NAME.test(word));
    if (wrong !== undefined)
      return `${JSON.stringify(wrong)} of ${name} cannot be a word to choose: ${HOW_TO_NAME}.`;
    if (field.initial !== undefined && !words.includes(String(field.initial)))
      return `The default of ${name} is none of its words: use ${words.join(', ')}.`;
  }
  if (type === 'ref' && !NAME.test(field.of ?? '')) return `${name} is a reference: say to which aggregate.`;
  if (type === 'integer' && field.initial !== undefined && !Number.isSafeInteger(field.initial))
    return `The default of ${name} is no whole number.`;
  if (type === 'flag' && field.initial !== undefined && typeof field.initial !== 'boolean')
    return `The default of ${name} is neither true nor false.`;
  return undefined;
};

const HOW_TO_NAME = 'use one word of letters and digits that begins with a lower-case letter, such as dueOn';

const twiceIn = (names: readonly string[]): string | undefined =>
  names.find((name, index) => names.indexOf(name) < index);

export const commandOf = ({ name, by }: StateSketch): string => by ?? commandTo(name);
