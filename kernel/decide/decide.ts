// Over 200 lines, because it is one thing: how a command becomes events, in the order of the steps.

import { capital, targetOf, wire } from '../base/names.ts';
import { deleted, notFound, Rejection } from '../base/rejection.ts';
import type { CommandInfo, Domain, EventElsewhere, EventInfo, Kind, Row } from '../registry/registry.ts';
import { type Draft, draftOf, happen } from './draft.ts';
import {
  demandInvariants,
  draftElsewhere,
  formOf,
  isEventOf,
  lookAfter,
  metadataOf,
  onTarget,
} from './elsewhere.ts';
import type { Evolve } from './evolve.ts';
import { type Context, guardOf, invariantOf, itemGuardOf, refusalsOfNothing, rejection } from './guards.ts';
import { itemsOf } from './items.ts';
import { readerOf } from './reads.ts';
import type { AggregateState, Happened, Present } from './state.ts';

/**
 * A command: its type, its form with the fields named as in events, the id of the aggregate, and the owner.
 */
export type Command = Row & { readonly type: string };
type Decide = (command: Row, state: AggregateState, context: Context) => readonly Happened[];

/** The type as clients and other roles name it: `EditArticle`. */
export const typeOfCommand = ({ name }: Kind, command: string): string =>
  `${capital(command)}${capital(name)}`;

/**
 * The compiled decisions of an aggregate by type of command. Pure: a command and a state yield events or a
 * refusal. A command that changes nothing yields no event, so that a retry is harmless. Rights are checked
 * before.
 */
export const decisionsOf = (domain: Domain, kind: Kind, evolve: Evolve): ReadonlyMap<string, Decide> => {
  const decisions = new Map<string, Decide>();
  for (const command of Object.values(kind.commands))
    decisions.set(
      typeOfCommand(kind, command.name),
      decisionOf(domain, kind, { command, evolve, decisions }),
    );
  return decisions;
};

type Parts = {
  readonly command: CommandInfo;
  readonly evolve: Evolve;
  readonly decisions: ReadonlyMap<string, Decide>;
};

const decisionOf = (domain: Domain, kind: Kind, { command, evolve, decisions }: Parts): Decide => {
  const isCreation = command.kind === 'create';
  const identified = isCreation ? identifiedBy(domain, kind) : undefined;
  const begun = isCreation ? creationOf(kind) : presenceOf(kind, command);
  const [guardAggregate, guardItem] = [
    guardOf(domain, kind, command.when),
    itemGuardOf(domain, kind, command),
  ];
  const choose = choiceOf(domain, kind, command);
  const elsewhere = draftElsewhere(domain, kind, command);
  const invariants = Object.entries(kind.invariants).map(([name, condition]) =>
    invariantOf(domain, kind, { name, condition }),
  );
  return (form, state, context) => {
    const guard: typeof guardAggregate = (fields, given) => {
      guardAggregate(fields, given);
      guardItem(form, fields, given);
    };
    const started = begun(form, state);
    if (started === undefined) return [];
    const before = identified?.(started, context) ?? started;
    if (isCreation) guard(before.fields, context);
    const metadata = metadataOf(context);
    const events: Happened[] = [];
    let after: AggregateState = before;
    const refuseFirst = () => !isCreation && guard(before.fields, context);
    const chosen = afterState(refuseFirst, () => choose(form, before, context));
    for (const [draft, computed] of chosen.own) {
      const drafted =
        after.status === 'present'
          ? afterState(refuseFirst, () => draft.dataOf(form, after as Present, { computed, context }))
          : [];
      for (const data of drafted) {
        if (!isCreation) guard(before.fields, context);
        draft.demandUploads(before, data, form);
        const happened = happen(evolve, draft, { state: after, data, metadata });
        events.push(happened.event);
        after = happened.after;
      }
    }
    // A command that changes nothing of its own aggregate changes nothing elsewhere, so that a retry is harmless.
    const others: Happened[] =
      events.length === 0
        ? []
        : [...elsewhere({ form, fields: before.fields, chosen: chosen.elsewhere, context })];
    const isOwn = isEventOf(kind, before.fields.id);
    for (const next of command.next) {
      if (form[next] !== true) continue;
      const seen = { ...context, look: lookAfter(domain, context, others) };
      for (const event of decisions.get(typeOfCommand(kind, next))?.(form, after, seen) ?? []) {
        if (!isOwn(event)) {
          others.push(event);
          continue;
        }
        events.push(event);
        after = evolve(after, { ...event, metadata });
      }
    }
    if (events.length === 0) return [];
    if (others.length === 0) {
      if (after.status === 'present') for (const invariant of invariants) invariant(after.fields, context);
      return events;
    }
    const all = [...events, ...others];
    const ofOthers = lookAfter(domain, context, others);
    const look: typeof ofOthers = (name, id) =>
      name === kind.name && id === before.fields.id ? after : ofOthers(name, id);
    demandInvariants(domain, all, { ...context, look });
    return all;
  };
};

/**
 * The state refuses first: a full list matters only where items may be added, and code need not expect a state
 * that `when` excludes. An absent item stays absent.
 */
const afterState = <T>(guard: () => void, draft: () => T): T => {
  try {
    return draft();
  } catch (error) {
    if (!(error instanceof Rejection && error.code.endsWith('_not_found'))) guard();
    throw error;
  }
};

/**
 * The aggregate that a creation would make: its owner, its references and the form, for checks of rights and
 * guards.
 */
export const creationOf = (kind: Kind): ((form: Row, state: AggregateState) => Present) => {
  const given = Object.values(kind.events).flatMap(({ effect, content }) =>
    effect === 'creates' ? content : [],
  );
  // An upload belongs to no aggregate until the aggregate exists.
  const plain = given.filter((name) => kind.fields[name]?.kind !== 'upload');
  const said = [...new Set([...kind.identity, ...plain])].map(
    (name) => [name, wire(name, kind.fields[name])] as const,
  );
  return (form, state) => {
    if (state.status !== 'absent' || state.abandoned !== undefined) throw new Rejection('id_taken');
    const fields: Record<string, unknown> = { id: form[`${kind.name}Id`] };
    for (const [name, key] of said) fields[name] = form[key] ?? kind.fields[name]?.initial ?? null;
    return { status: 'present', fields, lostUploads: '' };
  };
};

/**
 * Resolves the owner of personal fields if a path leads to that user. References on the path never change and
 * outlast the aggregate, so no lock is needed until the events are appended.
 */
const identifiedBy = (
  domain: Domain,
  kind: Kind,
): ((started: Present, context: Context) => Present) | undefined => {
  const paths = Object.entries(kind.persons);
  if (paths.length === 0) return undefined;
  const follow = (from: Kind, fields: Row, { path: [name = '', ...further], look }: Following): unknown => {
    const def = from.fields[name];
    const target = def && domain.kinds[targetOf(def)];
    if (further.length === 0 || target === undefined) return fields[name];
    const state = look(target.name, fields[name]);
    if (state.status === 'absent') throw new Rejection(notFound(target.name));
    return follow(target, state.fields, { path: further, look });
  };
  return (started, { look }) => {
    const persons = paths.map(
      ([name, path]) => [name, follow(kind, started.fields, { path, look })] as const,
    );
    return { ...started, fields: { ...started.fields, ...Object.fromEntries(persons) } };
  };
};

type Following = { readonly path: readonly string[]; readonly look: Context['look'] };

const presenceOf = (
  kind: Kind,
  command: CommandInfo,
): ((form: Row, state: AggregateState) => Present | undefined) => {
  const required = command.form.filter(
    (name) => kind.fields[name]?.personal !== undefined && !kind.fields[name]?.optional,
  );
  return (_, state) => {
    switch (state.status) {
      case 'absent':
        throw new Rejection(notFound(kind.name));
      case 'ended':
        if (command.kind === 'end') return undefined;
        throw new Rejection(deleted(kind.name));
      case 'present':
        // Without the user’s key, personal data cannot be sealed.
        if (required.some((name) => state.fields[name] === null)) throw new Rejection('user_deleted');
        return state;
    }
  };
};

/** An event with the values that the decision computed for it. */
type Own = readonly [Draft, Row];
type Chosen = { readonly own: readonly Own[]; readonly elsewhere: readonly EventElsewhere[] };

/** The events of a command: the one that it emits, or those that its own function chooses. */
const choiceOf = (
  domain: Domain,
  kind: Kind,
  command: CommandInfo,
): ((form: Row, before: Present, context: Context) => Chosen) => {
  const drafts = new Map(
    command.events.map((event) => [event.name, draftFor(kind, command, event)] as const),
  );
  const all: Chosen = {
    own: [...drafts.values()].slice(0, 1).map((draft): Own => [draft, {}]),
    elsewhere: [],
  };
  const beginnings = beginningsOf(command);
  const { decide } = command;
  if (decide === undefined) return () => all;
  const read = readerOf(domain, kind, command);
  const refuse = refusing(kind, command);
  const { list } = command;
  const itemFor = (form: Row, fields: Row): Row | null =>
    (list && itemsOf(fields, list).find(({ id }) => id === form[list.id.name])) ?? null;
  return (form, { fields }, { callerId, at, look }) => {
    const item = itemFor(form, fields);
    // The draft of the first event says that there is no such item.
    if (list !== undefined && command.kind !== 'addItem' && item === null) return all;
    const decided = decide({
      ...{ state: fields, form, refuse, on: onTarget, callerId, now: at, reads: read(fields, form, look) },
      ...(list !== undefined && { item }),
    });
    const own = decided.filter(isOwn).map((each): Own => {
      const [name, computed] = typeof each === 'string' ? [each, {}] : each;
      const draft = drafts.get(name);
      if (draft === undefined)
        throw new Error(`${kind.name}: ${command.name} decided on ${name}, which is not in its \`emits\``);
      return [draft, computed];
    });
    if (beginnings !== undefined && !own.some(([{ type }]) => beginnings.has(type))) {
      for (const refusal of refusalsOfNothing(kind, command))
        if (decided.length === 0) throw rejection(refusal);
      throw new Error(
        `${kind.name}: ${command.name} decided on events, but on none of ${[...beginnings].join(', ')}, so there is no id`,
      );
    }
    return { own, elsewhere: decided.filter((each): each is EventElsewhere => !isOwn(each)) };
  };
};

/** A command of the aggregate has no item: its decision names that of each event, with the values of the event. */
const draftFor = (kind: Kind, { list }: CommandInfo, event: EventInfo): Draft => {
  const draft = draftOf(kind, event);
  if (list !== undefined || event.list === undefined) return draft;
  const named = formOf(kind, event);
  return { ...draft, dataOf: (_, state, given) => draft.dataOf(named(given.computed), state, given) };
};

/** The events of which one must happen, because the response has the id of what it begins. */
const beginningsOf = ({ kind, events }: CommandInfo): ReadonlySet<string> | undefined => {
  const effect = kind === 'create' ? 'creates' : kind === 'addItem' ? 'adds' : undefined;
  if (effect === undefined) return undefined;
  return new Set(events.flatMap((event) => (event.effect === effect ? [event.type] : [])));
};

type Decided = ReturnType<NonNullable<CommandInfo['decide']>>[number];
type OwnDecided = Exclude<Decided, EventElsewhere>;
const isOwn = (decided: Decided): decided is OwnDecided =>
  typeof decided === 'string' || Array.isArray(decided);

/** Throws, so that a refusal counts even if the decision does not return it. */
const refusing =
  (kind: Kind, { name, refuses }: CommandInfo) =>
  (each: string): never => {
    const refusal = refuses[each];
    if (refusal !== undefined) throw rejection(refusal);
    throw new Error(`${kind.name}: ${name} refused ${each}, which is not in its \`refuses\``);
  };
