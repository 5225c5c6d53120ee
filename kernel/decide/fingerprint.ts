import { createHash } from 'node:crypto';
import { type Expression, resolve } from '../conditions/expression.ts';
import type { CommandInfo, Domain, Kind, TimerInfo } from '../registry/registry.ts';
import type { Reaction } from './memberships.ts';
import { type DeclaredSchedule, schedulesOf } from './schedules.ts';
import { conditionOf, followsFields } from './timers.ts';

/** One part of what a declaration means for reactions and timers. */
export type Fact = readonly unknown[];

/**
 * Fingerprint of the meaning of reactions and timers, whatever the order or names of conditions. Changing
 * anything else does not restart them. For reactions in code, it covers only the events that trigger them.
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
    ...schedulesOf(domain).map((declared) => scheduleFact(domain, declared)),
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
  const { name, run, pause } = timer;
  return [
    ...['timer', kind.name, name, ...startFact(timer), commandFact(kind.commands[run])],
    inOrder(conditionOf(domain, kind, timer)),
    ...(pause === undefined ? [null] : [[inOrder(resolve(domain, kind, pause)), stateFact(kind)]]),
    ...(followsFields(timer) ? [stateFact(kind)] : []),
  ];
};

const scheduleFact = (domain: Domain, { kind, schedule }: DeclaredSchedule): Fact => {
  const { name, cron, timeZone, run, when, form, caughtUpMax } = schedule;
  return [
    ...['schedule', kind.name, name, cron, timeZone, caughtUpMax, form !== undefined],
    ...[commandFact(kind.commands[run]), when === undefined ? null : inOrder(resolve(domain, kind, when))],
  ];
};

/** The words of a choice and the events have no order. */
const startFact = ({ starts }: TimerInfo): Fact => {
  if ('at' in starts)
    return ['at', starts.at, starts.beforeMs, ...(starts.keep === undefined ? [] : [starts.keep])];
  const { after, wait } = starts;
  const [only = '', ...others] = after.toSorted();
  const events = others.length === 0 ? only : [only, ...others];
  return [events, 'ms' in wait ? wait.ms : [wait.by, Object.entries(wait.msOf).map(textOf).toSorted()]];
};

/** The events that a command records. */
const commandFact = (command: CommandInfo | undefined): Fact | undefined =>
  command && [
    command.name,
    command.list?.name,
    command.events.map(({ type, version }) => `${type} ${version}`).toSorted(),
  ];

/** The due time of a timer that can be paused, or follows a field, depends on the state after each event. */
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

/** Sorts alternatives and conjunctions, whose order has no meaning. */
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
