import { oneOf } from '#kernel/base/names.ts';
import type { Source, Sources } from '../../rows/source.ts';
import { changedName, changeType, eventName } from '../rules/names.ts';
import { block, type Line, sentence } from './sdl-lines.ts';

/** An example of an event: one with a subscription, or a change. */
const exampleOf = ({ kind }: Source): string => {
  const events = Object.values(kind.events);
  const example =
    events.find(({ spec }) => spec.subscribe) ??
    events.find(({ effect }) => effect === 'changes') ??
    events[0];
  return example?.type ?? kind.name;
};

const exampleIn = (all: readonly Source[]): string =>
  all.map(exampleOf).find((type) => !type.startsWith('user.')) ?? 'user.updated';

const payloadOf = (type: string): readonly Line[] => [
  ['The cursor of the event: send it as `after` to continue after it.', 'cursor: Cursor!'],
  [`The type of the event, such as \`${type}\`.`, 'type: String!'],
  ['When it happened.', 'at: DateTime!'],
  [
    'When an import recorded the event, whose time and actor are what its file claims; null for all other events.',
    'importedAt: DateTime',
  ],
  ['Why, as the actor said; null unless the command records a reason.', 'reason: String'],
  ['The signature of the person who signed the command; null unless it is signed.', 'signature: Signature'],
];

export const changeOf = (source: Source): string => {
  const { kind } = source;
  return block(`An event of ${oneOf(kind.name)}.`, `type ${changeType(kind)}`, [
    ...payloadOf(exampleOf(source)),
    [`The id of the ${kind.name}, also if it was deleted.`, 'subjectId: ID!'],
    ['Its current state; null if it was deleted, or if you may not read it.', `${kind.name}: ${kind.type}`],
  ]);
};

const subjectOf = ({ kind }: Source): Line => [
  `For an event of ${oneOf(kind.name)}: its current state; null if it was deleted, or if you may not read it.`,
  `${kind.name}: ${kind.type}`,
];
const managedSubjectOf = ({ kind }: Source): Line => [
  `For an event of ${oneOf(kind.name)}: its current state; null if it was deleted, or if you may not manage it.`,
  `${kind.name}: ${kind.type}`,
];

const idsOf = (all: readonly Source[]): readonly Line[] => [
  [`The id of the ${anyOf(all)} of the event; null for other events.`, 'subjectId: ID'],
];

const anyOf = (all: readonly Source[]): string =>
  all
    .map(({ kind }) => kind.name)
    .join(', ')
    .replace(/, (\w+)$/, ' or $1');

export const subscriptionsOf = ({ kind, parent }: Source): readonly Line[] => {
  const type = changeType(kind);
  const under = parent ? `${kind.parent}Id: ID!, ` : '';
  const changed: readonly Line[] = parent
    ? []
    : [[`Every event of one ${kind.name}.`, `${changedName(kind)}(id: ID!, after: Cursor): ${type}!`]];
  const subscribable = Object.values(kind.events).filter(({ spec }) => spec.subscribe);
  return [
    ...changed,
    ...subscribable.map(
      (event): Line => [
        event.says ?? sentence(event.type),
        `${eventName(kind, event)}(${under}after: Cursor): ${type}!`,
      ],
    ),
  ];
};

/** The payload for events of all aggregates. */
export const anyChangeOf = ({ all, managed }: Sources): string =>
  block('An event.', 'type Change', [
    ...payloadOf(exampleIn(all)),
    ...all.map(subjectOf),
    ...managed.map(managedSubjectOf),
    ...idsOf([...all, ...managed]),
  ]);
