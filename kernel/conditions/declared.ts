import type { Kind } from '../registry/registry.ts';

/** The parts of a declaration that have conditions on the aggregate, beside its rights. */
type Part = 'facts' | 'commands' | 'invariants' | 'limits' | 'timers' | 'schedules' | 'reactions';

/** Parts whose conditions nobody asks: time, or the event of another aggregate, runs their commands. */
export const WITHOUT_CALLER: readonly Part[] = ['timers', 'schedules', 'reactions'];

/** The conditions that a kind declares on itself, in these parts, as declared. */
export const conditionsIn = (kind: Kind, parts: readonly Part[]): readonly unknown[] =>
  parts.flatMap((part) => IN[part](kind)).filter((condition) => condition !== undefined);

/** The conditions of all parts that decide on something; a fact decides only where another condition names it. */
export const decidingIn = (kind: Kind): readonly unknown[] =>
  conditionsIn(kind, ['commands', 'invariants', 'limits', 'reactions', 'timers', 'schedules']);

const IN: Readonly<Record<Part, (kind: Kind) => readonly unknown[]>> = {
  facts: ({ facts }) => Object.values(facts),
  commands: ({ commands }) => Object.values(commands).map(({ when }) => when),
  invariants: ({ invariants }) => Object.values(invariants),
  limits: ({ limits }) => limits.map((limit) => limit.when),
  timers: ({ timers }) => Object.values(timers).flatMap((timer) => [timer.when, timer.pause]),
  schedules: ({ schedules }) => Object.values(schedules).map(({ when }) => when),
  reactions: ({ reactions }) =>
    Object.values(reactions).flatMap((byEvent) => Object.values(byEvent).map(({ when }) => when)),
};
