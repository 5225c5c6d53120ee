import { oneOf } from '#kernel/registry/names.ts';
import type { Source } from '../sources.ts';
import { changedName, changeType, eventName } from './names.ts';
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
  ['Where to go on: as `after` it leads to what comes next.', 'cursor: Cursor!'],
  [`Such as \`${type}\`.`, 'type: String!'],
  ['When it happened.', 'at: DateTime!'],
];

export const changeOf = (source: Source): string => {
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
const WEBHOOK_SUBJECT: Line = [
  'As it is now, where it has happened to a webhook that is there and for you to manage.',
  'webhook: Webhook',
];

const idsOf = (all: readonly Source[]): readonly Line[] => [
  [
    `The id of the ${all.map(({ kind }) => kind.name).join(', ')} or webhook that it has happened to; null for what has happened to none of them.`,
    'subjectId: ID',
  ],
];

export const subscriptionsOf = ({ kind, parent }: Source): readonly Line[] => {
  const type = changeType(kind);
  const under = parent ? `${kind.parent}Id: ID!, ` : '';
  const changed: readonly Line[] = parent
    ? []
    : [
        [
          `Anything has happened to ${oneOf(kind.name)} itself.`,
          `${changedName(kind)}(id: ID!, after: Cursor): ${type}!`,
        ],
      ];
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
export const anyChangeOf = (all: readonly Source[]): string =>
  block('Something that has happened.', 'type Change', [
    ...payloadOf(exampleIn(all)),
    ...all.map(subjectOf),
    WEBHOOK_SUBJECT,
    ...idsOf(all),
  ]);
