import { wire } from '../base/names.ts';
import { nearest } from '../base/nearest.ts';
import { resolve } from '../conditions/expression.ts';
import { callersIn } from '../conditions/fold.ts';
import { typeOfCommand } from '../decide/decide.ts';
import { commandSchema } from '../decide/forms.ts';
import { scheduledTime, schedulesOf, timesOf } from '../decide/schedules.ts';
import type { CommandInfo, Domain, Kind, Row, ScheduleInfo } from '../registry/registry.ts';
import { eachKind, type Sentences } from './refusals.ts';

/** Refuses schedules that never run, and those whose command could not be sent. */
export function* demandSchedules(domain: Domain): Sentences {
  const names = schedulesOf(domain).map(({ schedule }) => schedule.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    yield `two aggregates have a schedule ${twice}, which names the actor in histories: give one another name.`;
  yield* OF_KINDS(domain);
}

/** Part of the name of an actor. */
const NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const NAME_MAX = 60;

function* wrongSchedules(kind: Kind, domain: Domain): Sentences {
  for (const schedule of Object.values(kind.schedules)) {
    const place = `the schedule ${schedule.name}`;
    if (!NAME.test(schedule.name) || schedule.name.length > NAME_MAX)
      yield `${place} does not match ${NAME.source} with at most ${NAME_MAX} characters: name it like nightly-report.`;
    const times = yield* timesIn(schedule, place);
    const { when } = schedule;
    if (when !== undefined && callersIn(resolve(domain, kind, when)).length > 0)
      yield `${place} has a condition on the caller, but the system itself runs the command: use fields of the ${kind.name}.`;
    yield* wrongCommand(kind, schedule, { place, times });
  }
}

const OF_KINDS = eachKind(wrongSchedules);

/**
 * A form may count from any day, and be refused before it. These years are constant: a start must not be refused only
 * because time has passed.
 */
const YEARS_TRIED = [1970, 2026, 2030, 2040, 2070];

/** Refuses an invalid time zone or expression; returns some times at which it runs. */
function* timesIn({ cron, timeZone }: ScheduleInfo, place: string): Generator<string, readonly number[]> {
  if (!isTimeZone(timeZone)) {
    const similar = nearest(timeZone, Intl.supportedValuesOf('timeZone'));
    yield `${place} has the time zone “${timeZone}”, which is not in the IANA list: use ${similar ?? 'Europe/Berlin'}, for example.`;
    return [];
  }
  if (/\?/.test(cron) || !(cron.startsWith('@') || cron.trim().split(/\s+/).length === 5)) {
    yield `${place} has the cron expression “${cron}”: use five fields, for the minute, hour, day of the month, month and day of the week.`;
    return [];
  }
  try {
    const { next } = timesOf({ cron, timeZone });
    const times = YEARS_TRIED.flatMap((year) => next(Date.UTC(year)) ?? []);
    if (times.length > 0) return times;
    yield `${place} has the cron expression “${cron}”, which is never true: change its day or its month.`;
  } catch (error) {
    yield `${place} has the cron expression “${cron}”, which is invalid (${reasonOf(error)}): use five fields, like 30 2 * * *.`;
  }
  return [];
}

const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/^Cron\w+: /, '').replace(/\.$/, '');

/** An offset such as `+02:00` knows no daylight saving. */
const isTimeZone = (timeZone: string): boolean => {
  if (!/^[A-Za-z]/.test(timeZone)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
};

type Tried = { readonly place: string; readonly times: readonly number[] };

function* wrongCommand(kind: Kind, schedule: ScheduleInfo, { place, times }: Tried): Sentences {
  const { run, form, when } = schedule;
  const command = kind.commands[run];
  if (command === undefined)
    return yield `${place} runs ${run}, which is not one of its commands: use one of ${Object.keys(kind.commands).join(', ')}.`;
  if (command.list !== undefined)
    return yield `${place} runs ${run}, which changes an item of ${command.list.name}: use a command of the ${kind.name} itself.`;
  if (command.kind === 'create' && when !== undefined)
    yield `${place} creates the ${kind.name}, so that \`when\` selects nothing: leave it out.`;
  if (command.kind === 'edit' && form === undefined)
    yield `${place} runs ${run}, which changes nothing without a form: declare its \`form\`.`;
  const wrong = times.map((timeMs) => wrongForm(kind, { schedule, command, timeMs }));
  const [sentence] = wrong;
  if (sentence !== undefined && !wrong.includes(undefined)) yield `${place} ${sentence}`;
}

type Formed = {
  readonly schedule: ScheduleInfo;
  readonly command: CommandInfo;
  readonly timeMs: number;
};

/** The end of a sentence that refuses the form of a time. */
const wrongForm = (kind: Kind, { schedule, command, timeMs }: Formed): string | undefined => {
  const { run, form, timeZone } = schedule;
  const id = command.kind === 'create' ? {} : { [`${kind.name}Id`]: 1 };
  let values: unknown;
  try {
    values = form?.(scheduledTime(timeZone, timeMs)) ?? {};
  } catch (error) {
    return `has a \`form\` that fails (${reasonOf(error)}): return the values from at, date and time.`;
  }
  const parsed = commandSchema(kind, command).safeParse({
    type: typeOfCommand(kind, run),
    ...id,
    ...(values as object),
  });
  const [issue] = parsed.error?.issues ?? [];
  if (issue !== undefined)
    return `runs ${run} with a form that it refuses (${issue.path.join('.') || 'form'}: ${issue.message}): let \`form\` return valid values.`;
  if (command.kind !== 'create' || kind.owner === undefined) return undefined;
  const owner = wire(kind.owner, kind.fields[kind.owner]);
  return (parsed.data as Row)[owner] === undefined
    ? `creates the ${kind.name} without an owner, but the system itself runs the command: let \`form\` return ${owner}, or create an aggregate without an owner.`
    : undefined;
};
