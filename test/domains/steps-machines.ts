import { code, type JsonRecord } from './plan.ts';
import { randomCondition } from './random-conditions.ts';
import { type GrowStep, kindIn } from './steps-content.ts';
import { partIn } from './steps-rights.ts';
import { formless } from './steps-rules.ts';

/** None of them comes while a domain is checked, unless that is on such a day. */
const TIMES = ['0 0 29 2 *', '30 2 1 1 *', '59 23 31 12 *', '@yearly', '0 12 L 2 *'];
const ZONES = ['UTC', 'Europe/Berlin', 'Pacific/Apia', 'Australia/Lord_Howe'];
const NAMES = ['nightly', 'monday-reminder', 'x', 'end-of-year', 'report-2'];

export const addSchedule: GrowStep = (plan, random) => {
  const [kind, aggregate] = kindIn(plan, random);
  const { events, commands } = aggregate;
  const creations = Object.entries(commands).flatMap(([name, { emits }]) =>
    events[String(emits)]?.creates ? [name] : [],
  );
  const runs = [...formless(aggregate), ...creations];
  if (runs.length === 0) return false;
  const run = random.pick(runs);
  const [first] = events[String(commands[run]?.emits)]?.creates ?? [];
  partIn(aggregate, 'schedules')[random.pick(NAMES)] = {
    ...{ cron: random.pick(TIMES), timeZone: random.pick(ZONES), run },
    missed: random.pick<JsonRecord | string>(['skip', { catchUp: 3 }]),
    ...(first !== undefined && { form: code(`({ date }) => ({ ${first}: date })`) }),
    ...(first === undefined && random.chance(40) && { when: randomCondition(plan, kind, random) }),
  };
  return true;
};

const SENDERS = ['bank', 'stripe', 'issue-tracker', 'x', 'index', 'refused'];
const TYPES = ['happened', 'a.b_c', 'constructor', 'Ünïcode type', '__proto__x'];

/** A message about an item of some kind, or one that creates another. */
export const addSender: GrowStep = (plan, random) => {
  const name = newNameOf(SENDERS, plan.senders);
  const [kind, aggregate] = kindIn(plan, random);
  const { events, commands } = aggregate;
  const run = random.pick(Object.keys(commands));
  const [first] = events[String(commands[run]?.emits)]?.creates ?? [];
  const isFree = first === undefined;
  if (name === undefined || (isFree && !formless(aggregate).includes(run))) return false;
  plan.senders[name] = {
    as: random.pick([...plan.roles]),
    ...(random.chance(40) && { refusals: 'acknowledge' }),
    ...(random.chance(30) && { says: 'A service, "quoted".' }),
    on: {
      [random.pick(TYPES)]: {
        ...{ kind, command: run },
        given: code(isFree ? '({ id }) => ({ id })' : `(_, { id }) => ({ form: { ${first}: id } })`),
      },
    },
  };
  return true;
};

/** Another type of message of a sender. */
export const addMessage: GrowStep = (plan, random) => {
  const all = Object.values(plan.senders);
  if (all.length === 0) return false;
  const { on } = random.pick(all);
  const [kind, aggregate] = kindIn(plan, random);
  const [type, runs] = [newNameOf(TYPES, on), formless(aggregate)];
  if (type === undefined || runs.length === 0) return false;
  const given = random.chance(80) ? '({ id }) => ({ id })' : '() => undefined';
  on[type] = { kind, command: random.pick(runs), given: code(given) };
  return true;
};

const newNameOf = (names: readonly string[], taken: object): string | undefined =>
  names.find((name) => !Object.hasOwn(taken, name));

export const addReason: GrowStep = (plan, random) => {
  const [, { commands }] = kindIn(plan, random);
  random.pick(Object.values(commands)).reason = random.pick(['required', 'optional']);
  return true;
};

export const addConfirm: GrowStep = (plan, random) => {
  const [, { commands }] = kindIn(plan, random);
  random.pick(Object.values(commands)).confirm = 'person';
  return true;
};
