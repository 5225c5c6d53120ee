// Over 200 lines, because it is one conversion: the declaration of an aggregate becomes a kind.

import type * as z from 'zod';
import { keepingOf, RETENTION } from '../base/keeping.ts';
import { byName, capital, column, kebab, singular, snake, wire } from '../base/names.ts';
import { isFull, isNot, isTaken, type RejectionCode, refusedAs } from '../base/rejection.ts';
import { StartRefused } from '../base/start-refused.ts';
import { isUser } from '../base/users.ts';
import type { AnyAggregate } from '../declare/aggregate.ts';
import { type FieldDef, integer } from '../declare/fields.ts';
import { withCommandsOfEnds, withEventsOfEnds } from './gone.ts';
import { givenBySystem, itemEffectOf, withVerbs } from './items-of.ts';
import { identityOf, withPersons } from './persons-of.ts';
import type {
  CommandInfo,
  CommandKind,
  Defs,
  Derived,
  Effect,
  EventInfo,
  Kind,
  LimitInfo,
  ListInfo,
  Refusal,
  Row,
  ScheduleInfo,
  TimerInfo,
  TimerStart,
  TimerWait,
} from './registry.ts';

export const EFFECTS: readonly Effect[] = [
  'creates',
  'changes',
  'adds',
  'updates',
  'moves',
  'removes',
  'ends',
  'sets',
];
const COMPUTING: ReadonlySet<Effect> = new Set(['creates', 'changes', 'sets']);
export const KIND_OF: Readonly<Record<Effect, CommandKind>> = {
  creates: 'create',
  changes: 'edit',
  adds: 'addItem',
  updates: 'changeItem',
  moves: 'moveItem',
  removes: 'removeItem',
  ends: 'end',
  sets: 'action',
  notes: 'action',
};

/** Derives the kind from the declaration of one aggregate. */
export const kindOf = ({ kind: name, fields: declared, declaration }: AnyAggregate): Kind => {
  const { all, persons } = withPersons(
    name,
    Object.entries(declared).map(([field, { def }]) => [field, def] as const),
  );
  const listed = all.filter(([, def]) => def.kind === 'list');
  const lists = byName(
    listed.map(([list, def]) => [list, listOf(name, list, def, settledIn(declaration, list))]),
  );
  const taken = all.map(([field]) => field);
  const derived = derivedOf({ name, lists, taken }, (declaration.derived ?? {}) as DeclaredDerived);
  const fields: Defs = byName([
    ...all.filter(([, def]) => def.kind !== 'list'),
    ...derived.map((each) => [each.name, numberOf(each)] as const),
  ]);
  const { owner, parent } = declaration as { owner?: string; parent?: string };
  const { conditions, sentences } = conditionsAndSentences(declaration, declared);
  const facts = allFacts(name, fields, conditions);
  const limits = declaredLimits({ name, fields }, (declaration.limits ?? {}) as Record<string, Row>);
  const events = eventsOf(
    { name, fields, lists, limits },
    withEventsOfEnds(name, declared, declaration.events as Record<string, Row>),
  );
  return {
    name,
    fields,
    lists,
    owner,
    parent,
    events,
    ...namesOf(name, declaration),
    label: declaration.label as string | undefined,
    says: declaration.says,
    identity: identityOf({ parent, owner, persons, fields, lists, events }),
    persons,
    derived,
    facts,
    refusals: factRefusals({ name, owner, facts }, sentences),
    commands: commandsOf(
      name,
      events,
      withCommandsOfEnds(name, declared, declaration.commands as Record<string, Row>),
    ),
    rights: declaration.rights as Record<string, Row>,
    fieldRights: (declaration.fieldRights ?? {}) as Record<string, Row>,
    reads: loggedReads(name, declaration.reads),
    invariants: declaration.invariants ?? {},
    limits,
    ...reactionsIn((declaration.reactions ?? {}) as Row),
    timers: mapped((declaration.timers ?? {}) as Record<string, Row>, (timer, spec) =>
      timerOf(name, timer, spec),
    ),
    schedules: mapped((declaration.schedules ?? {}) as Record<string, Row>, (schedule, spec) =>
      scheduleOf(`${name}: the schedule ${schedule}`, schedule, spec),
    ),
    oldestFirst: declaration.order === 'oldest',
    ...(declaration.hold !== undefined && { hold: true }),
    ...(declaration.retain !== undefined && {
      retain: keepingOf(declaration.retain.for, `${name}: \`retain\``),
    }),
  };
};

const loggedReads = (aggregate: string, declared: AnyAggregate['declaration']['reads']): Kind['reads'] => {
  if (declared === undefined) return undefined;
  const { log, ifUnwritable = 'refuse' } = declared === 'logged' ? { log: 'all' as const } : declared;
  if (log !== 'all' && !Array.isArray(log))
    throw new StartRefused(
      `${aggregate}: \`reads\` is ${typeof declared === 'string' ? declared : JSON.stringify(declared)}: write 'logged', or name what to record, as in \`{ log: 'all' }\`.`,
    );
  return { only: log === 'all' ? undefined : log, ifUnwritable };
};

type Names = Pick<Kind, 'type' | 'plural' | 'table' | 'path' | 'field'>;

const namesOf = (name: string, { names }: AnyAggregate['declaration']): Names => {
  const type = names?.graphql ?? capital(name);
  const plural = names?.plural ?? `${name}s`;
  return {
    type,
    plural,
    table: snake(plural),
    path: kebab(plural),
    field: type.charAt(0).toLowerCase() + type.slice(1),
  };
};

/** Code reacts to events of the aggregate itself, data to those of the targets of its references. */
const reactionsIn = (declared: Row): Pick<Kind, 'reactions' | 'react'> => {
  const [coded, others] = [true, false].map((isCode) =>
    Object.entries(declared).filter(([, each]) => (typeof each === 'function') === isCode),
  );
  return {
    reactions: Object.fromEntries(others ?? []) as Kind['reactions'],
    react: Object.fromEntries(coded ?? []) as Kind['react'],
  };
};

const NUMBER: FieldDef = { ...integer(1, Number.MAX_SAFE_INTEGER).def, graphql: 'Int' };

type DeclaredDerived = Readonly<Record<string, { readonly sum?: string; readonly count?: string }>>;

const derivedOf = (
  { name: aggregate, lists, taken }: Pick<Kind, 'name' | 'lists'> & { readonly taken: readonly string[] },
  declared: DeclaredDerived,
): readonly Derived[] =>
  Object.entries(declared).map(([name, { sum, count }]) => {
    const [listed = '', field] = (sum ?? count ?? '').split('.');
    const list = lists[listed];
    const def = field === undefined ? undefined : list?.fields[field];
    if (taken.includes(name))
      throw new StartRefused(
        `${aggregate}: ${name} is derived from a list, but has the name of a field: give it another name.`,
      );
    if (
      list === undefined ||
      (field !== undefined && (def?.kind !== 'integer' || def.personal !== undefined))
    )
      throw new StartRefused(
        `${aggregate}: ${name} must count the items of a list, or sum a number of its items that is not personal: name that list or number.`,
      );
    return { name, list, field };
  });

const numberOf = ({ list, field }: Derived): FieldDef => {
  const summed = field === undefined ? undefined : (list.fields[field]?.recorded as z.ZodNumber | undefined);
  const { minValue, maxValue } = summed ?? { minValue: 0, maxValue: 1 };
  const [min, max] = [Math.min(0, (minValue ?? 0) * list.max), Math.max(0, (maxValue ?? 0) * list.max)];
  const { def } = integer(Math.max(min, Number.MIN_SAFE_INTEGER), Math.min(max, Number.MAX_SAFE_INTEGER));
  return { ...def, initial: 0 };
};

const KEY_CHARACTERS_MAX = 60;

/** Keys in paths and cursors are short, and never `.` or `..`. */
const ofPaths = (def: FieldDef): FieldDef => {
  if (def.kind !== 'text') return def;
  const short = (schema: FieldDef['recorded']) =>
    schema.refine((text) => String(text).length <= KEY_CHARACTERS_MAX && !/^\.{1,2}$/.test(String(text)), {
      error: `Must have at most ${KEY_CHARACTERS_MAX} characters, and not be “.” or “..”.`,
    });
  return { ...def, recorded: short(def.recorded), demanded: short(def.demanded) };
};

/** The methods that only fields of items may have, by property of the definition. */
const ONLY_OF_FIELDS = {
  optional: 'optional',
  initial: 'default',
  filter: 'filter',
  sort: 'sort',
  search: 'search',
  unique: 'unique',
  personal: 'personal',
} as const;

/** The fields that select the items of a right; every event of an item contains them. */
const settledIn = ({ fieldRights = {} }: AnyAggregate['declaration'], list: string): readonly string[] =>
  Object.values(fieldRights).flatMap(({ items = {} }) =>
    Object.keys((items as Record<string, Row>)[list] ?? {}),
  );

const listOf = (aggregate: string, name: string, def: FieldDef, settled: readonly string[]): ListInfo => {
  for (const [each, method] of Object.entries(ONLY_OF_FIELDS))
    if (def[each as keyof typeof ONLY_OF_FIELDS] !== undefined)
      throw new StartRefused(
        `${aggregate}: the list ${name} cannot be ${method}() as a whole: declare this for the fields of its items.`,
      );
  const { item = {}, key, max = 0, ordered = false, one = singular(name) } = def;
  const all = Object.entries(item).map(([field, { def: each }]) => [field, each] as const);
  const keyed = all
    .filter(([field]) => field === key)
    .map(([field, each]) => [field, ofPaths(each)] as const)[0];
  return {
    name,
    one,
    table: `${snake(aggregate)}_${snake(name)}`,
    fields: byName(all.filter(([field]) => field !== key)),
    key,
    id: keyed
      ? { name: wire(...keyed), column: column(...keyed), def: keyed[1] }
      : { name: `${one}Id`, column: 'id', def: NUMBER },
    max,
    isOrdered: ordered,
    settled,
  };
};

type Sentences = Readonly<Record<string, string>>;

/** The code derives from the name. */
const refusalsOf = (declared: Sentences, codeOf: (name: string) => RejectionCode): Record<string, Refusal> =>
  byName(Object.entries(declared).map(([name, says]) => [name, { code: codeOf(name), says }]));

const factRefusals = (
  { name, owner, facts }: Pick<Kind, 'name' | 'owner' | 'facts'>,
  sentences: Sentences,
): Record<string, Refusal> => {
  const known = new Set([...Object.keys(facts), ...(owner === undefined ? [] : ['own'])]);
  const unknown = Object.keys(sentences).find((fact) => !known.has(fact));
  if (unknown !== undefined)
    throw new StartRefused(
      `${name}: the fact ${unknown} has a sentence and no condition, and is no word of a choice: declare its condition in \`when\`.`,
    );
  return refusalsOf(sentences, (fact) => isNot(name, fact));
};

type SaidFact = { readonly when?: unknown; readonly says: string };

/** The declared facts and their sentences. A word of a choice may have a sentence without a condition. */
const conditionsAndSentences = (
  { facts = {} }: AnyAggregate['declaration'],
  fields: object,
): { readonly conditions: Row; readonly sentences: Sentences } => {
  const all = Object.entries(facts as Row);
  // With a field of this name, the same object is a condition.
  const isSaid = (fact: unknown): fact is SaidFact =>
    typeof fact === 'object' &&
    fact !== null &&
    typeof (fact as Row).says === 'string' &&
    !Object.hasOwn(fields, 'says');
  return {
    conditions: byName(
      all.flatMap(([name, fact]) => {
        if (!isSaid(fact)) return [[name, fact]];
        return fact.when === undefined ? [] : [[name, fact.when]];
      }),
    ),
    sentences: byName(all.flatMap(([name, fact]) => (isSaid(fact) ? [[name, fact.says]] : []))),
  };
};

const mapped = <T>(specs: Record<string, Row>, of: (name: string, spec: Row) => T): Record<string, T> =>
  byName(Object.entries(specs).map(([name, spec]) => [name, of(name, spec)]));

/** A unique field is a limit of one. */
const declaredLimits = (
  { name: aggregate, fields }: Pick<Kind, 'name' | 'fields'>,
  declared: Record<string, Row>,
): readonly LimitInfo[] => [
  ...Object.keys(fields).flatMap((field): readonly LimitInfo[] => {
    if (!fields[field]?.unique) return [];
    // Claims of users’ e-mail addresses are older than those of other values, and keep their names.
    const isAddress = isUser({ name: aggregate }) && field === 'email';
    const refusal = { code: isAddress ? ('email_taken' as const) : isTaken(aggregate, field) };
    return [
      {
        name: field,
        per: [field],
        max: 1,
        when: undefined,
        refusal,
        fence: isAddress ? 'email_abandoned' : FENCE,
      },
    ];
  }),
  ...Object.entries(declared).map(([name, { max, per, when, says }]): LimitInfo => {
    const refusal = { code: isFull(aggregate, name), says: says as string };
    return {
      name,
      per: ([per].flat() as (string | undefined)[]).filter((each) => each !== undefined),
      max: max as number,
      when,
      refusal,
      fence: FENCE,
    };
  }),
];

/**
 * An author who removes the last limit declares this event as `{ hidden: true }`, because it stays in the
 * log.
 */
const FENCE = 'claim_abandoned';
const ABANDONED =
  'A reservation for the next version of the stream, such as the use of an e-mail address, was released; this version makes a late use impossible.';

/** An abandoned claim is an event too. */
type Named = Pick<Kind, 'name' | 'fields' | 'lists' | 'limits'>;

const eventsOf = (aggregate: Named, declared: Record<string, Row>): Kind['events'] => {
  const { name, limits } = aggregate;
  const fences = [...new Set([...limits.map(({ fence }) => fence), ...(FENCE in declared ? [FENCE] : [])])];
  const [taken] = fences.filter(
    (fence) =>
      declared[fence] !== undefined &&
      !(declared[fence].hidden === true && effectOf(declared[fence]) === 'notes'),
  );
  if (taken !== undefined)
    throw new StartRefused(
      `${name}: the event ${taken} is reserved for the release of claims: give yours another name.`,
    );
  const claims = Object.fromEntries(
    fences.map((fence) => [fence, { hidden: true, claim: true, says: ABANDONED }]),
  );
  // A reference is in forms although the end of its target sets it to null.
  const siblings = Object.values(declared).filter(({ gone }) => gone !== true);
  return mapped({ ...declared, ...claims }, (each, spec) => eventOf({ ...aggregate, siblings }, each, spec));
};

const eventOf = (
  { name: aggregate, fields, lists, siblings }: Named & { readonly siblings: readonly Row[] },
  name: string,
  spec: Row,
): EventInfo => {
  const computed = (spec.computes ?? []) as readonly string[];
  const said = effectOf(spec);
  const given = spec[said];
  const list = typeof given === 'string' ? lists[given] : undefined;
  // Another parent is a change of the reference to it.
  const moved = said === 'moves' && list === undefined ? String(given) : undefined;
  const effect = moved === undefined ? said : 'changes';
  const content: readonly string[] = moved !== undefined ? [moved] : Array.isArray(given) ? given : [];
  const upcasts = (spec.upcasts ?? []) as readonly EventInfo['upcast'][number][];
  const computes = list === undefined ? computed : [];
  if (computes.length > 0 && !COMPUTING.has(effect))
    throw new StartRefused(
      `${aggregate}: the event ${name} has \`${effect}\`, which cannot compute values: remove \`computes\`.`,
    );
  return {
    name,
    type: `${aggregate}.${name}`,
    effect,
    spec,
    list,
    item: list && itemEffectOf(list, spec, siblings),
    content,
    computes,
    values: [...content, ...computes],
    carries: (spec.carries ?? []) as readonly string[],
    former: moved === undefined ? undefined : `former${capital(wire(moved, fields[moved]))}`,
    sets: ((list === undefined ? spec.sets : spec.also) ?? {}) as Row,
    says: spec.says as string | undefined,
    example: spec.example as Row | undefined,
    version: upcasts.length + 1,
    upcast: Object.fromEntries(upcasts.map((upcast, index) => [index + 1, upcast])),
    hidden: spec.hidden === true,
  };
};

/** An event with only `computes` sets the computed fields. */
const effectOf = (spec: Row): Effect =>
  EFFECTS.find((each) => each in spec) ??
  (((spec.computes ?? []) as readonly string[]).length > 0 ? 'sets' : 'notes');

const commandsOf = (name: string, events: Kind['events'], declared: Record<string, Row>): Kind['commands'] =>
  withVerbs(mapped(declared, (command, spec) => commandOf(name, events, command, spec)));

/** Empty if it names none, which the assembly refuses. */
const meaningIn = (signed: unknown): string => {
  const { meaning } = (signed ?? {}) as { readonly meaning?: unknown };
  return typeof meaning === 'string' ? meaning : '';
};

const commandOf = (aggregate: string, events: Kind['events'], name: string, spec: Row): CommandInfo => {
  const emitted = [spec.emits]
    .flat()
    .map((event) => events[String(event)])
    .filter((event) => event !== undefined);
  const [first] = emitted;
  if (!first)
    throw new StartRefused(
      `${aggregate}: the command ${name} emits no declared event: use one of ${Object.keys(events).join(', ')}.`,
    );
  const computing = emitted.find(({ computes, item }) => computes.length + (item?.computes.length ?? 0) > 0);
  if (computing !== undefined && spec.decide === undefined)
    throw new StartRefused(
      `${aggregate}: the command ${name} emits ${computing.name}, which computes values, but the command does not decide them: give it a \`decide\`.`,
    );
  if (spec.refuses !== undefined && spec.decide === undefined)
    throw new StartRefused(
      `${aggregate}: the command ${name} declares refusals, but nothing decides on them: give it a \`decide\`.`,
    );
  const also = (spec.also ?? {}) as CommandInfo['also'];
  if (Object.keys(also).length > 0 && spec.decide === undefined)
    throw new StartRefused(
      `${aggregate}: the command ${name} also changes the target of ${Object.keys(also)[0]}, but nothing decides on it: give it a \`decide\`.`,
    );
  // A change that also sets a state is an action with a form, such as rejecting with a reason; so is a move.
  const isAction =
    first.effect === 'changes' && (Object.keys(first.sets).length > 0 || first.former !== undefined);
  const isActionOnItem = first.effect === 'updates' && givenBySystem(first.spec).length > 0;
  return {
    name,
    kind: isAction ? 'action' : isActionOnItem ? 'actOnItem' : KIND_OF[first.effect],
    events: emitted,
    list: first.list,
    verb: undefined,
    form: first.content,
    itemForm: first.item?.content ?? [],
    requires: (spec.requires ?? []) as readonly string[],
    next: (spec.next ?? []) as readonly string[],
    internal: spec.internal === true,
    reason: spec.reason as CommandInfo['reason'],
    confirm: spec.confirm === undefined ? undefined : spec.confirm === 'person',
    signed: spec.signed === undefined ? undefined : meaningIn(spec.signed),
    says: spec.says as string | undefined,
    when: spec.when,
    whenItem: spec.whenItem,
    reads: [...new Set([...((spec.reads ?? []) as readonly string[]), ...Object.keys(also)])],
    also,
    refuses: refusalsOf((spec.refuses ?? {}) as Sentences, (each) => refusedAs(aggregate, each)),
    decide: spec.decide as CommandInfo['decide'],
  };
};

/** Only the kernel writes `keep`, for `retain`. */
const timerOf = (aggregate: string, name: string, spec: Row): TimerInfo => {
  const place = `${aggregate}: the timer ${name}`;
  const words = [...(spec.at === undefined ? ['after', 'wait', 'pause'] : ['at', 'before']), 'run', 'when'];
  const isKept = name === RETENTION && spec.keep !== undefined;
  const strange = Object.keys(spec).find(
    (word) => spec[word] !== undefined && !words.includes(word) && !(isKept && word === 'keep'),
  );
  if (strange !== undefined)
    throw new StartRefused(
      `${place} has \`${strange}\`, which has no meaning there: use ${words.join(', ')}.`,
    );
  return {
    name,
    starts: startOf(aggregate, spec, place),
    run: String(spec.run),
    when: spec.when,
    pause: spec.pause,
  };
};

const WORDS_OF_SCHEDULES = ['cron', 'timeZone', 'run', 'when', 'form', 'missed'];
const CAUGHT_UP_MAX = 100;

const scheduleOf = (place: string, name: string, spec: Row): ScheduleInfo => {
  const strange = Object.keys(spec).find((word) => !WORDS_OF_SCHEDULES.includes(word));
  if (strange !== undefined)
    throw new StartRefused(
      `${place} has \`${strange}\`, which has no meaning there: use ${WORDS_OF_SCHEDULES.join(', ')}.`,
    );
  const { cron, timeZone, run, when, form, missed } = spec;
  const caughtUpMax = missed === 'skip' ? 0 : (missed as Row | undefined)?.catchUp;
  if (
    !Number.isInteger(caughtUpMax) ||
    (missed !== 'skip' && Number(caughtUpMax) < 1) ||
    Number(caughtUpMax) > CAUGHT_UP_MAX
  )
    throw new StartRefused(
      `${place} has no valid \`missed\`: use 'skip', or { catchUp: 7 } with a number from 1 to ${CAUGHT_UP_MAX}.`,
    );
  if (form !== undefined && typeof form !== 'function')
    throw new StartRefused(
      `${place} has a \`form\` that is no function: use ({ at, date, time }) => ({ … }).`,
    );
  return {
    ...{ name, cron: String(cron), timeZone: String(timeZone), run: String(run), when },
    form: form as ScheduleInfo['form'],
    caughtUpMax: Number(caughtUpMax),
  };
};

const startOf = (aggregate: string, { after, wait, at, before, keep }: Row, place: string): TimerStart => {
  if (keep !== undefined) return { at: String(at), beforeMs: 0, keep: keepingOf(keep, place) };
  if (at !== undefined)
    return { at: String(at), beforeMs: before === undefined ? 0 : waitOf(String(before), place) };
  const events = Array.isArray(after) ? (after as readonly unknown[]) : [after];
  return { after: events.map((event) => `${aggregate}.${String(event)}`), wait: timerWaitOf(wait, place) };
};

const timerWaitOf = (wait: unknown, place: string): TimerWait => {
  if (typeof wait !== 'object' || wait === null) return { ms: waitOf(String(wait), place) };
  const [[by, waits] = ['', {}], ...others] = Object.entries(wait);
  if (others.length > 0)
    throw new StartRefused(`${place} waits by ${by} and ${others[0]?.[0]}: let it wait by one field.`);
  const words = Object.entries(waits as Readonly<Record<string, string>>);
  return { by, msOf: byName(words.map(([word, each]) => [word, waitOf(each, place)])) };
};

const UNITS_MS: Readonly<Record<string, number>> = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};
const WAIT_MAX_MS = 3_650 * 86_400_000;

export const waitOf = (wait: string, place: string): number => {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?) (second|minute|hour|day|week)s?$/.exec(wait) ?? [];
  const waitMs = Number(number) * (UNITS_MS[unit] ?? Number.NaN);
  if (waitMs > 0 && waitMs <= WAIT_MAX_MS) return Math.ceil(waitMs);
  throw new StartRefused(
    `${place} waits for “${wait}”: use a number of seconds, minutes, hours, days or weeks, up to ten years.`,
  );
};

/**
 * Each word of a choice is a fact. A declared fact may not replace it, because that would change the meaning
 * of rights.
 */
const allFacts = (aggregate: string, fields: Defs, declared: Row): Row => {
  const words = factsOfWords(aggregate, fields);
  const taken = Object.keys(declared).find((fact) => Object.hasOwn(words, fact));
  if (taken === undefined) return byName(Object.entries({ ...words, ...declared }));
  const [field] = Object.keys(words[taken] as Row);
  throw new StartRefused(
    `${aggregate}: the fact ${taken} is already a word of ${field}, and each word is a fact: give it another name.`,
  );
};

const factsOfWords = (aggregate: string, fields: Defs): Row => {
  const facts: Record<string, unknown> = {};
  for (const [field, { values = [] }] of Object.entries(fields))
    for (const value of values) {
      if (Object.hasOwn(facts, value))
        throw new StartRefused(
          `${aggregate}: two fields have the word ${value}, so it cannot be a fact: give one of the words another name.`,
        );
      facts[value] = { [field]: value };
    }
  return facts;
};
