import { capital } from '../base/names.ts';
import { REASON_CHARACTERS_MAX } from '../base/reason.ts';
import { StartRefused } from '../base/start-refused.ts';
import { typeOfCommand } from '../decide/decide.ts';
import type { AnyAggregate } from '../declare/aggregate.ts';
import { declarerOf, declareUntyped } from '../declare/declare.ts';
import { type Field, instant, integer, line, prose, ref, states } from '../declare/fields.ts';
import type { Confirmed, Kind, Row } from '../registry/registry.ts';

/** The commands of agents that wait for a person are aggregates themselves, in the language of any other. */
const NAME = 'agentRequest';

const INPUT_CHARACTERS_MAX = 100_000;
const PATH_CHARACTERS_MAX = 200;
const VERSION_MAX = 2 ** 31 - 1;
/** Of one agent on behalf of one user. */
const OPEN_MAX = 20;

const FIELDS = {
  askedBy: ref('user').says('The user for whom the agent acts.'),
  agent: line(200).filter().says('The client of the agent, as in events.').example('web>claims-bot'),
  command: line(100).filter().says('The command that the agent sends.').example('ApproveClaim'),
  target: line(PATH_CHARACTERS_MAX)
    .says('The path of the item, or of the list to which one is added.')
    .example('/claims/8001'),
  targetVersion: integer(0, VERSION_MAX)
    .optional()
    .says(
      'The version of the item that the agent has seen. If it has another by now, a person approves that one by naming it.',
    ),
  input: prose(INPUT_CHARACTERS_MAX)
    .optional()
    .personal({ of: 'person' })
    .says('The whole command as JSON; null if the person to whom its content belongs was deleted.')
    .example('{"type":"ApproveClaim","claimId":8001}'),
  reason: line(REASON_CHARACTERS_MAX)
    .optional()
    .says('Why, as the agent says; null unless the command records a reason.'),
  person: ref('user').says('The user to whom the personal data of the command belongs.'),
  status: states({
    open: 'It waits for a person.',
    approved: 'A person has approved it, and the command was executed.',
    declined: 'A person has declined it.',
    expired: 'Nobody has decided in time.',
  }).filter(),
  expiresAt: instant().says('When it expires unless a person has decided.'),
  decidedBy: ref('user').optional().says('The person who approved or declined it.'),
  decidedAt: instant().optional(),
  result: line(PATH_CHARACTERS_MAX)
    .optional()
    .says('The path of the item that the command has changed or created.')
    .example('/claims/8001'),
} satisfies Readonly<Record<string, Field<unknown>>>;

const ASKED = ['agent', 'command', 'target', 'targetVersion', 'input', 'reason', 'person', 'expiresAt'];

/** The aggregate of requests, if a command has `confirm`; a kind of which none has it any more keeps its reference. */
export const agentRequestsFor = (
  user: AnyAggregate,
  aggregates: readonly AnyAggregate[],
): readonly AnyAggregate[] => {
  const confirming = aggregates.filter(({ declaration }) =>
    Object.values(declaration.commands as Readonly<Record<string, Row>>).some(
      ({ confirm }) => confirm !== undefined,
    ),
  );
  if (confirming.length === 0) return [];
  if (aggregates.some(({ kind }) => kind === NAME))
    throw new StartRefused(
      `${NAME}: the name is reserved for the requests of agents, because a command of ${confirming[0]?.kind} has \`confirm\`: give yours another name.`,
    );
  const references = Object.fromEntries(
    confirming.map(({ kind }) => [referenceTo(kind), ref(kind).optional().filter()]),
  );
  return [declareUntyped(NAME, declarationWith(references), declarerOf(user))];
};

const declarationWith = (references: Readonly<Record<string, Field<unknown>>>) => ({
  says: 'A command of an agent that waits until a person with the right to it approves or declines it.',
  owner: 'askedBy',
  label: 'command',
  fields: { ...FIELDS, ...references },
  events: {
    asked: {
      says: 'An agent asked for a command that a person must approve.',
      creates: [...ASKED, ...Object.keys(references)],
      subscribe: true,
    },
    approved: {
      says: 'A person approved the request of an agent. The events of its command were recorded with this one.',
      changes: ['targetVersion'],
      computes: ['result'],
      sets: { status: 'approved', decidedBy: 'caller', decidedAt: 'now' },
      subscribe: true,
    },
    declined: {
      says: 'A person declined the request of an agent.',
      sets: { status: 'declined', decidedBy: 'caller', decidedAt: 'now' },
      subscribe: true,
    },
    expired: {
      says: 'Nobody decided about the request of an agent in time.',
      sets: { status: 'expired', decidedAt: 'now' },
      subscribe: true,
    },
    ended: { says: 'The request of an agent ended with the user whom it is about.', ends: true },
  },
  facts: { open: { says: 'The request was decided before, or has expired.' } },
  limits: {
    open: {
      max: OPEN_MAX,
      per: ['askedBy', 'agent'],
      when: 'open',
      says: `The agent has ${OPEN_MAX} requests that wait for a person: wait until some are decided.`,
    },
  },
  commands: {
    ask: { emits: 'asked', internal: true },
    approve: {
      says: 'Approve the request of an agent, and execute its command',
      emits: 'approved',
      when: 'open',
      decide: () => [['approved', { result: null }]],
    },
    decline: { says: 'Decline the request of an agent', emits: 'declined', when: 'open' },
    expire: { emits: 'expired', when: 'open', internal: true },
    end: { emits: 'ended', internal: true },
  },
  // The rights to the commands that are asked for come with `confirms`.
  rights: {
    read: { signedIn: 'own' },
    approve: { scope: 'confirm' },
    decline: { scope: 'confirm', signedIn: 'own' },
  },
  reactions: { askedBy: { deleted: { run: 'end' } }, person: { deleted: { run: 'end' } } },
  timers: { expire: { at: 'expiresAt', run: 'expire', when: 'open' } },
});

const TAKEN: ReadonlySet<string> = new Set([...Object.keys(FIELDS), ...(FIELDS.status.def.values ?? [])]);

/** A kind may have the name of a field of requests. */
const referenceTo = (kind: string): string => (TAKEN.has(kind) ? `asked${capital(kind)}` : kind);

/** The kind of requests, with the commands that are asked for. */
export const withConfirmed = (kind: Kind, kinds: readonly Kind[]): Kind => {
  if (
    kind.name !== NAME ||
    kinds.every(({ commands }) => Object.values(commands).every(({ confirm }) => confirm === undefined))
  )
    return kind;
  const confirms = kinds.flatMap((each) =>
    Object.values(each.commands).flatMap((command): readonly Confirmed[] =>
      command.confirm
        ? [
            {
              type: typeOfCommand(each, command.name),
              kind: each.name,
              command: command.name,
              reference: command.kind === 'create' ? undefined : referenceTo(each.name),
              signed: command.signed,
            },
          ]
        : [],
    ),
  );
  return {
    ...kind,
    confirms,
    reads: readsOf(kinds.filter(({ name }) => confirms.some((each) => each.kind === name))),
  };
};

/** A request shows what its command does to an aggregate, so its reads are logged with those of that. */
const readsOf = (kinds: readonly Kind[]): Kind['reads'] => {
  const logged = kinds.flatMap(({ reads }) => reads ?? []);
  if (logged.length === 0) return undefined;
  const isStrict = logged.some(({ ifUnwritable }) => ifUnwritable === 'refuse');
  return { only: undefined, ifUnwritable: isStrict ? 'refuse' : 'serve' };
};
