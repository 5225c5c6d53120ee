import { createHash } from 'node:crypto';
import { type Expression, resolve } from '../conditions/expression.ts';
import type { CommandInfo, Domain, Kind, TimerInfo } from '../registry/registry.ts';
import type { Reaction } from './memberships.ts';
import { conditionOf } from './timers.ts';

/** One part of what a declaration means for what follows from events. */
export type Fact = readonly unknown[];

/**
 * Of what reactions and timers mean, whatever order or names of conditions they are written with, and of
 * nothing else: whoever changes something else begins nothing anew. Of code, only to which events it reacts.
 */
export const fingerprintOf = (
  domain: Domain,
  reactions: readonly Reaction[],
  known: readonly Fact[],
): string => {
  const kinds = Object.values(domain.kinds);
  const facts = [
    ...known,
    ...reactions.map((reaction) => reactionFact(domain, reaction)),
    ...kinds.flatMap((kind) => Object.values(kind.timers).map((timer) => timerFact(domain, kind, timer))),
    ...kinds.flatMap(({ react, events }) =>
      Object.keys(react).map((name) => ['code', events[name]?.type, events[name]?.version]),
    ),
  ];
  return createHash('sha256').update(facts.map(textOf).toSorted().join('\n')).digest('base64url');
};

const reactionFact = (domain: Domain, { kind, path, target, event, command, when }: Reaction): Fact => [
  ...['reaction', kind.name, path, target.name, event.type, event.effect === 'ends'],
  ...[commandFact(command), when === undefined ? null : inOrder(resolve(domain, kind, when))],
];

const timerFact = (domain: Domain, kind: Kind, timer: TimerInfo): Fact => {
  const { name, after, waitMs, run, pause } = timer;
  return [
    ...['timer', kind.name, name, after, waitMs, commandFact(kind.commands[run])],
    ...[
      inOrder(conditionOf(domain, kind, timer)),
      pause === undefined ? null : [inOrder(resolve(domain, kind, pause)), stateFact(kind)],
    ],
  ];
};

/** What it records. */
const commandFact = (command: CommandInfo | undefined): Fact | undefined =>
  command && [
    command.name,
    command.list?.name,
    command.events.map(({ type, version }) => `${type} ${version}`).toSorted(),
  ];

/** When a timer runs out depends on what each event makes of the state if it is paused by it. */
const stateFact = ({ fields, events }: Kind): Fact => [
  Object.entries(fields)
    .flatMap(([name, { initial }]) => (initial === undefined ? [] : [textOf([name, initial])]))
    .toSorted(),
  Object.values(events)
    .map(({ type, version, effect, sets, values }) =>
      textOf([type, version, effect, values.toSorted(), Object.entries(sets).map(textOf).toSorted()]),
    )
    .toSorted(),
];

/** As it means the same in any order. */
const inOrder = (expression: Expression): unknown => {
  if (!('of' in expression)) return expression;
  return {
    ...expression,
    of:
      'op' in expression.of
        ? inOrder(expression.of)
        : expression.of.map((each) => textOf(inOrder(each))).toSorted(),
  };
};

const textOf = (value: unknown): string => JSON.stringify(value);
