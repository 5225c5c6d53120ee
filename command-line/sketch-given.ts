import type { Domain } from '#kernel/registry/registry.ts';
import { isRoleOfKernel } from '#kernel/registry/roles.ts';
import type { AggregateSketch, FieldSketch, RightsSketch } from '../develop/declaration/sketch.ts';
import type { Given } from './arguments/command.ts';
import { UsageError } from './arguments/usage-error.ts';
import { fieldGiven } from './field-given.ts';
import type { Terminal } from './terminal.ts';

/** Options that describe an aggregate; without any, it is that of the template. */
export const SKETCH_OPTIONS = {
  field: {
    type: 'string',
    multiple: true,
    placeholder: '<name>:<type>[:<options>]',
    description: 'A field, such as total:integer:max=1000,optional; can be repeated.',
  },
  states: {
    type: 'string',
    placeholder: '<states>',
    description: 'Its states, the first one first: draft,sent,paid.',
  },
  owner: {
    type: 'string',
    placeholder: '<name>',
    description: 'The reference to the user who owns one (author by default).',
  },
  read: {
    type: 'string',
    placeholder: '<roles>',
    description: 'The roles that read all of them, or anyone. Their owners read their own.',
  },
} as const;

const OWNER = 'author';
const FIELDS_MAX = 50;

/** The aggregate that the options describe; undefined if they describe none. */
export const sketchGiven = (name: string, given: Given): AggregateSketch | undefined => {
  const fields = given.values.get('field') ?? [];
  const [states, owner, read] = ['states', 'owner', 'read'].map((option) => given.values.get(option)?.[0]);
  if (fields.length + [states, owner, read].filter((each) => each !== undefined).length === 0)
    return undefined;
  return sketchOf(name, {
    fields: (fields.length > 0 ? fields : ['title:line']).map(fieldGiven),
    states: wordsIn(states ?? ''),
    owner: owner ?? OWNER,
    readers: wordsIn(read ?? ''),
  });
};

/** The aggregate that the answers of a user describe. */
export const sketchAsked = async (
  name: string,
  { domain, ask, complain }: Pick<Terminal, 'domain' | 'complain'> & { readonly ask: Ask },
): Promise<AggregateSketch> => {
  const fields: FieldSketch[] = [];
  while (fields.length < FIELDS_MAX) {
    const answer = await ask(
      fields.length === 0
        ? 'Its first field, as name:type or name:type:options?'
        : 'Another field? An empty line ends them.',
      fields.length === 0 ? 'title:line' : '',
    );
    if (answer === '') break;
    try {
      fields.push(fieldGiven(answer));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      complain(`${error.message}.`);
    }
  }
  const states = wordsIn(await ask('Its states, the first one first, or none?', 'none')).filter(
    (word) => word !== 'none',
  );
  const owner = await ask('The name of the reference to its owner?', OWNER);
  const roles = ['anyone', 'signedIn', ...rolesOf(domain)].join(', ');
  const readers = wordsIn(await ask(`Who reads all of them (${roles}), beside the owner?`, 'nobody')).filter(
    (word) => word !== 'nobody',
  );
  return sketchOf(name, { fields, states, owner, readers });
};

export type Ask = (question: string, suggested: string) => Promise<string>;

const rolesOf = (domain: Pick<Domain, 'roles' | 'auditors'>): readonly string[] =>
  domain.roles.filter((role) => role !== 'anonymous' && !isRoleOfKernel(domain, role));

type Answers = {
  readonly fields: readonly FieldSketch[];
  readonly states: readonly string[];
  readonly owner: string;
  readonly readers: readonly string[];
};

const sketchOf = (name: string, { fields, states, owner, readers }: Answers): AggregateSketch => ({
  name,
  owner,
  fields,
  states: states.map((state) => ({ name: state })),
  rights: rightsOf(readers),
});

/** Those who are signed in write their own, and read them. */
const rightsOf = (readers: readonly string[]): RightsSketch => ({
  read: {
    ...Object.fromEntries(readers.map((role) => [role, true as const])),
    ...(readers.some((role) => role === 'anyone' || role === 'signedIn') ? {} : { signedIn: ['own'] }),
  },
  write: { signedIn: ['own'] },
});

const wordsIn = (text: string): readonly string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);
