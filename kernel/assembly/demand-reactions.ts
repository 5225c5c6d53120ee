import * as z from 'zod';
import { targetOf } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import { resolve } from '../conditions/expression.ts';
import { callersIn, factsIn } from '../conditions/fold.ts';
import { formShape } from '../decide/forms.ts';
import { referenceAt } from '../decide/memberships.ts';
import type { FieldDef } from '../declare/fields.ts';
import type {
  CommandInfo,
  Domain,
  EventInfo,
  Kind,
  ListInfo,
  TimerInfo,
  TimerStart,
  TimerWait,
} from '../registry/registry.ts';

/** Refuses reactions that can never run, and reactions that would trigger each other for ever. */
export const demandReactions = (domain: Domain): void => {
  const kinds = Object.values(domain.kinds);
  for (const kind of kinds) {
    demandReact(kind);
    for (const timer of Object.values(kind.timers)) demandTimer(domain, kind, timer);
  }
  const circle = circleIn(kinds.flatMap((kind) => stepsOf(domain, kind)));
  if (circle !== undefined)
    throw new StartRefused(
      `${circle.place} triggers itself again: ${circle.types.join(', ')}, and so on; remove one of these reactions.`,
    );
};

/** A reaction’s step from one event to the next. */
type Step = { readonly place: string; readonly from: EventInfo; readonly to: EventInfo };

const stepsOf = (domain: Domain, kind: Kind): readonly Step[] =>
  Object.entries(kind.reactions).flatMap(([path, reactions]) => {
    const reference = referenceAt(kind, path);
    const target = reference && domain.kinds[targetOf(reference.def)];
    if (target === undefined)
      throw new StartRefused(
        `${kind.name}: a reaction follows ${path}, which is not one of its references: use one of them.`,
      );
    return Object.entries(reactions).flatMap(([event, { run, when }]) => {
      const place = `${kind.name}: the reaction to ${target.name}.${event} by ${path}`;
      const from = target.events[event];
      if (from === undefined)
        throw new StartRefused(
          `${place} waits for an unknown event: ${target.name} has ${listed(Object.keys(target.events))}.`,
        );
      demandAskable(domain, kind, when, place);
      return demandRunnable(kind, kind.commands[run], {
        place: `${place} runs ${run}`,
        list: reference?.list,
      }).events.map((to) => ({
        place,
        from,
        to,
      }));
    });
  });

type Placed = {
  readonly place: string;
  /** The list with the reference, so that the command can target that item. */
  readonly list?: ListInfo | undefined;
};

/** Checks that a command can run without a form. */
const demandRunnable = (
  kind: Kind,
  command: CommandInfo | undefined,
  { place, list }: Placed,
): CommandInfo => {
  if (command === undefined)
    throw new StartRefused(
      `${place}, which is not one of its commands: use one of ${listed(Object.keys(kind.commands))}.`,
    );
  const isFilled = z.strictObject(formShape(kind, command)).safeParse({}).success;
  if (command.list !== undefined && (list !== command.list || command.kind === 'addItem'))
    throw new StartRefused(
      `${place}, which changes an item, but no reference of the ${command.list.name} selects one: follow a reference of these items.`,
    );
  if (FILLING.has(command.kind) || !isFilled)
    throw new StartRefused(
      `${place}, which needs a form: run a command without a form, or run this one from code with \`react\`.`,
    );
  return command;
};

/** Commands that change nothing without a form. */
const FILLING: ReadonlySet<CommandInfo['kind']> = new Set(['create', 'edit', 'changeItem']);

const demandAskable = (domain: Domain, kind: Kind, condition: unknown, place: string): void => {
  if (condition === undefined || callersIn(resolve(domain, kind, condition)).length === 0) return;
  throw new StartRefused(
    `${place} has a condition on the caller, but the system itself runs the command: use fields of the ${kind.name}.`,
  );
};

const demandReact = ({ name, react, events }: Kind): void => {
  const unknown = Object.keys(react).find((event) => events[event] === undefined);
  if (unknown !== undefined)
    throw new StartRefused(
      `${name}: react waits for ${unknown}, which is not one of its events: use one of ${listed(Object.keys(events))}.`,
    );
};

const TIMER = /^[a-z][a-zA-Z0-9]{0,39}$/;

const demandTimer = (domain: Domain, kind: Kind, { name, starts, run, pause, ...timer }: TimerInfo): void => {
  const place = `${kind.name}: the timer ${name}`;
  if (!TIMER.test(name))
    throw new StartRefused(`${place} does not match ${TIMER.source}: give it another name.`);
  demandStart(kind, starts, place);
  demandRunnable(kind, kind.commands[run], { place: `${place} runs ${run}` });
  for (const condition of [timer.while, pause]) demandAskable(domain, kind, condition, place);
  if (pause !== undefined && factsIn(resolve(domain, kind, pause)).some(({ path }) => path.length > 0))
    throw new StartRefused(
      `${place} has a \`pause\` that depends on the target of a reference: use fields of the ${kind.name} itself.`,
    );
};

const demandStart = (kind: Kind, starts: TimerStart, place: string): void => {
  if ('at' in starts) demandTime(kind, starts.at, place);
  else demandWait(kind, starts, place);
};

const demandWait = (
  kind: Kind,
  { after, wait }: Extract<TimerStart, { after: unknown }>,
  place: string,
): void => {
  const types = Object.values(kind.events).map(({ type }) => type);
  const unknown = after.find((type) => !types.includes(type));
  if (after.length === 0)
    throw new StartRefused(`${place} starts after no event: name one in \`after\`, or remove the timer.`);
  if (unknown !== undefined)
    throw new StartRefused(
      `${place} starts after ${unknown}, which is not an event: ${kind.name} has ${listed(Object.keys(kind.events))}.`,
    );
  if ('by' in wait) demandWords(kind, wait, place);
};

const demandTime = ({ fields }: Kind, at: string, place: string): void => {
  const { kind, personal } = fields[at] ?? {};
  if ((kind === 'instant' || kind === 'date') && personal === undefined) return;
  const times = Object.keys(fields).filter((name) => TIMES.has(fields[name]?.kind ?? 'value'));
  throw new StartRefused(
    `${place} runs out at ${at}, which is no date or instant that stays: ${times.length === 0 ? 'declare one, not personal' : `use one that is not personal, of ${listed(times)}`}.`,
  );
};

const TIMES: ReadonlySet<FieldDef['kind']> = new Set(['instant', 'date']);

const demandWords = (
  { fields }: Kind,
  { by, msOf }: Extract<TimerWait, { by: string }>,
  place: string,
): void => {
  const { values, personal } = fields[by] ?? {};
  if (values === undefined || personal !== undefined)
    throw new StartRefused(`${place} waits by ${by}, which is no choice: use a choice that is not personal.`);
  const strange = Object.keys(msOf).find((word) => !values.includes(word));
  if (strange !== undefined)
    throw new StartRefused(
      `${place} waits for ${strange}, which is no word of ${by}: use ${listed(values)}.`,
    );
};

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
