import * as z from 'zod';
import { targetOf } from '../base/names.ts';
import { resolve } from '../conditions/expression.ts';
import { callersIn, factsIn } from '../conditions/fold.ts';
import { formShape } from '../decide/forms.ts';
import { referenceAt } from '../decide/memberships.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { CommandInfo, Domain, EventInfo, Kind, ListInfo, TimerStart } from '../registry/registry.ts';
import { eachKind, type Sentences } from './refusals.ts';

/** Refuses reactions that can never run, and reactions that would trigger each other for ever. */
export function* demandReactions(domain: Domain): Sentences {
  yield* OF_KINDS(domain);
  const circle = circleIn(Object.values(domain.kinds).flatMap((kind) => stepsOf(domain, kind)));
  if (circle !== undefined)
    yield `${circle.place} triggers itself again: ${circle.types.join(', ')}, and so on; remove one of these reactions.`;
}

const OF_KINDS = eachKind(wrongReact, wrongTimers, wrongReactions);

function* wrongReactions(kind: Kind, domain: Domain): Sentences {
  for (const [path, reactions] of Object.entries(kind.reactions)) {
    const reference = referenceAt(kind, path);
    const target = reference && domain.kinds[targetOf(reference.def)];
    if (target === undefined)
      return yield `a reaction follows ${path}, which is not one of its references: use one of them.`;
    for (const [event, { run, when }] of Object.entries(reactions)) {
      const place = `the reaction to ${target.name}.${event} by ${path}`;
      if (target.events[event] === undefined)
        yield `${place} waits for an unknown event: ${target.name} has ${listed(Object.keys(target.events))}.`;
      yield* wrongCondition(domain, kind, when, place);
      yield* wrongRun(kind, run, place, reference?.list);
    }
  }
}

/** A reaction’s step from one event to the next. */
type Step = { readonly place: string; readonly from: EventInfo; readonly to: EventInfo };

const stepsOf = (domain: Domain, kind: Kind): readonly Step[] =>
  Object.entries(kind.reactions).flatMap(([path, reactions]) => {
    const target = domain.kinds[targetOf(referenceAt(kind, path)?.def as FieldDef)];
    return Object.entries(reactions).flatMap(([event, { run }]) =>
      (kind.commands[run]?.events ?? []).map((to) => ({
        place: `${kind.name}: the reaction to ${target?.name}.${event} by ${path}`,
        from: target?.events[event] as EventInfo,
        to,
      })),
    );
  });

/** A command can run without a form; of items, on the item with the reference. */
function* wrongRun(kind: Kind, run: string, by: string, list?: ListInfo): Sentences {
  const place = `${by} runs ${run}`;
  const command = kind.commands[run];
  if (command === undefined)
    return yield `${place}, which is not one of its commands: use one of ${listed(Object.keys(kind.commands))}.`;
  if (command.list !== undefined && (list !== command.list || command.kind === 'addItem'))
    yield `${place}, which changes an item, but no reference of the ${command.list.name} selects one: follow a reference of these items.`;
  const isFilled = z.strictObject(formShape(kind, command)).safeParse({}).success;
  if (FILLING.has(command.kind) || !isFilled)
    yield `${place}, which needs a form: run a command without a form, or run this one from code.`;
}

/** Commands that change nothing without a form. */
const FILLING: ReadonlySet<CommandInfo['kind']> = new Set(['create', 'edit', 'changeItem']);

function* wrongCondition(domain: Domain, kind: Kind, condition: unknown, place: string): Sentences {
  if (condition !== undefined && callersIn(resolve(domain, kind, condition)).length > 0)
    yield `${place} has a condition on the caller, but the system itself runs the command: use fields of the ${kind.name}.`;
}

function* wrongReact({ react, events }: Kind): Sentences {
  for (const event of Object.keys(react))
    if (events[event] === undefined)
      yield `a reaction by code waits for ${event}, which is not one of its events: use one of ${listed(Object.keys(events))}.`;
}

const TIMER = /^[a-z][a-zA-Z0-9]{0,39}$/;

function* wrongTimers(kind: Kind, domain: Domain): Sentences {
  for (const { name, starts, run, pause, ...timer } of Object.values(kind.timers)) {
    const place = `the timer ${name}`;
    if (!TIMER.test(name)) yield `${place} does not match ${TIMER.source}: give it another name.`;
    yield* 'at' in starts ? wrongTime(kind, starts.at, place) : wrongWait(kind, starts, place);
    yield* wrongRun(kind, run, place);
    for (const condition of [timer.when, pause]) yield* wrongCondition(domain, kind, condition, place);
    if (pause !== undefined && factsIn(resolve(domain, kind, pause)).some(({ path }) => path.length > 0))
      yield `${place} has a \`pause\` that depends on the target of a reference: use fields of the ${kind.name} itself.`;
  }
}

type ByEvent = Extract<TimerStart, { after: unknown }>;

function* wrongWait(kind: Kind, { after, wait }: ByEvent, place: string): Sentences {
  const types = Object.values(kind.events).map(({ type }) => type);
  if (after.length === 0) yield `${place} starts after no event: name one in \`after\`, or remove the timer.`;
  for (const type of after)
    if (!types.includes(type))
      yield `${place} starts after ${type}, which is not an event: ${kind.name} has ${listed(Object.keys(kind.events))}.`;
  if (!('by' in wait)) return;
  const { values, personal } = kind.fields[wait.by] ?? {};
  if (values === undefined || personal !== undefined)
    return yield `${place} waits by ${wait.by}, which is no choice: use a choice that is not personal.`;
  for (const word of Object.keys(wait.msOf))
    if (!values.includes(word))
      yield `${place} waits for ${word}, which is no word of ${wait.by}: use ${listed(values)}.`;
}

function* wrongTime({ fields }: Kind, at: string, place: string): Sentences {
  const { kind, personal } = fields[at] ?? {};
  const times = Object.keys(fields).filter((name) => TIMES.has(fields[name]?.kind ?? 'value'));
  if (!TIMES.has(kind ?? 'value') || personal !== undefined)
    yield `${place} runs out at ${at}, which is no date or instant that stays: ${times.length === 0 ? 'declare one, not personal' : `use one that is not personal, of ${listed(times)}`}.`;
}

const TIMES: ReadonlySet<FieldDef['kind']> = new Set(['instant', 'date']);

const listed = (names: readonly string[]): string => names.join(', ');

/** An aggregate ends once, so a circle through an end terminates. */
const circleIn = (
  steps: readonly Step[],
): { readonly place: string; readonly types: readonly string[] } | undefined => {
  const left = steps.filter(({ from, to }) => from.effect !== 'ends' && to.effect !== 'ends');
  const walk = (at: EventInfo, passed: readonly EventInfo[]): readonly EventInfo[] | undefined => {
    if (passed.includes(at)) return [...passed.slice(passed.indexOf(at)), at];
    for (const { from, to } of left) {
      const found = from === at ? walk(to, [...passed, at]) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
  for (const { from, place } of left) {
    const types = walk(from, [])?.map(({ type }) => type);
    if (types !== undefined) return { place, types };
  }
  return undefined;
};
