import { spaced, targetOf, wire } from '#kernel/base/names.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { isUser } from '#kernel/base/users.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { findBy } from '#kernel/decide/guards.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { CommandInfo, Domain, Kind, Row } from '#kernel/registry/registry.ts';
import { type Caller, isInReach, mayAlways } from '#shared/policy.ts';
import { isDamage } from '#shared/visibility/damage.ts';
import { streamOf } from '../handling/target.ts';
import type { States } from '../states.ts';
import type { ReadReferences } from './read-references.ts';

/**
 * Refuses references to an aggregate that does not exist, or that the caller may not read: both are refused
 * alike. The target may end before the events are appended, so reads never rely on it. Commands of the system
 * itself may refer to an ended aggregate, which may have ended since their cause.
 */
export type DemandReferences = {
  /**
   * The references that the caller sends. Before the decision, whose conditions must not reveal anything of a
   * target that the caller may not read.
   */
  inForm(sent: SentForm, caller: Caller): Promise<void>;
  /** The owner whom the caller names for a new aggregate. Nobody owns anything after their end. */
  ofOwner(kind: Kind, ownerId: number, caller: Caller): Promise<void>;
  /** Other references, which the declaration itself sets: their targets must only have existed. */
  inEvents(events: readonly Event[], decided: Pick<SentForm, 'form' | 'fields'>): Promise<void>;
  /** Aggregates that a command changes beside its own: callers change none that they may not read. */
  ofOthers(others: readonly Named[], caller: Caller): Promise<void>;
};

type SentForm = {
  readonly kind: Kind;
  readonly command: CommandInfo;
  readonly form: Row;
  /** The fields before the command; a reference that stays the same is not checked. */
  readonly fields: Row;
};
type Event = { readonly type: string; readonly data: Row };

/** A field with a reference, its key in forms and events, and its target. */
type Reference = { readonly name: string; readonly key: string; readonly target: Kind };
/** A target with the key by which a refusal names it. */
export type Named = { readonly key: string; readonly target: Kind; readonly id: number };

type Dependencies = {
  readonly domain: Domain;
  readonly states: States;
  readonly readReferences: ReadReferences;
};

export const createDemandReferences = (dependencies: Dependencies): DemandReferences => {
  const { domain } = dependencies;
  const ofKind = new Map(
    Object.values(domain.kinds).map((kind) => [kind, referencesIn(domain, kind.fields)]),
  );
  const ofLists = new Map(
    Object.values(domain.kinds)
      .flatMap(({ lists }) => Object.values(lists))
      .map((list) => [list, referencesIn(domain, { ...list.fields, [list.key ?? '']: list.id.def })]),
  );
  const byType = new Map(
    Object.values(domain.kinds).flatMap((kind) =>
      Object.values(kind.events).map(
        ({ type, list }) =>
          [type, (list === undefined ? ofKind.get(kind) : ofLists.get(list)) ?? []] as const,
      ),
    ),
  );
  return {
    async inForm(sent, caller) {
      const { kind, command, form } = sent;
      const references = (command.list === undefined ? ofKind.get(kind) : ofLists.get(command.list)) ?? [];
      if (references.length === 0) return;
      const named = references.filter(isChangedBy(sent)).flatMap(namedIn(form));
      await demandEach(named, caller, (each) => isTarget(dependencies, each, caller));
    },
    async ofOwner(kind, id, caller) {
      const named = (ofKind.get(kind) ?? [])
        .filter(({ name }) => name === kind.owner)
        .map(({ key, target }) => ({ key, target, id }));
      await demandEach(named, caller, async (each) =>
        caller.kind === 'system'
          ? (await stateOf(dependencies, each)).status === 'present'
          : isTarget(dependencies, each, caller),
      );
    },
    async ofOthers(others, caller) {
      await demandEach(others, caller, (each) => isTarget(dependencies, each, caller));
    },
    async inEvents(events, { form, fields }) {
      const set = events.flatMap(({ type, data }) =>
        (byType.get(type) ?? [])
          .filter(({ name, key }) => data[key] !== fields[name] && data[key] !== form[key])
          .flatMap(namedIn(data)),
      );
      await demandEach(
        set,
        SYSTEM,
        async (named) => (await stateOf(dependencies, named)).status !== 'absent',
      );
    },
  };
};

const SYSTEM = { kind: 'system', name: 'reference' } as const;

const referencesIn = (
  domain: Domain,
  fields: Readonly<Record<string, FieldDef | undefined>>,
): readonly Reference[] =>
  Object.entries(fields).flatMap(([name, def]) => {
    const target = def?.kind === 'ref' ? domain.kinds[targetOf(def)] : undefined;
    return target === undefined ? [] : [{ name, key: wire(name, def), target }];
  });

/**
 * Whether the form names another target than before; one of a new item does. Creations check their owner and
 * parent themselves.
 */
const isChangedBy = ({
  kind: { owner, parent },
  command: { kind: does, list, form: names, itemForm },
  form,
  fields,
}: SentForm): ((reference: Reference) => boolean) => {
  if (list === undefined) {
    const known = does === 'create' ? [owner, parent] : [];
    return ({ name, key }) => names.includes(name) && !known.includes(name) && form[key] !== fields[name];
  }
  if (does !== 'addItem' && itemForm.length === 0) return () => false;
  const items = (fields[list.name] ?? []) as readonly Row[];
  const known = items.find(({ id }) => id === form[list.id.name]);
  // Only a new item is named by a key that refers to nothing yet.
  return ({ name, key }) =>
    name === list.key
      ? does === 'addItem' && known === undefined
      : itemForm.includes(name) && form[key] !== known?.[name];
};

const namedIn =
  (values: Row) =>
  ({ key, target }: Reference): readonly Named[] => {
    const id = values[key];
    return typeof id === 'number' ? [{ key, target, id }] : [];
  };

/** Each target is read once, and the first missing one is named. */
const demandEach = async (
  all: readonly Named[],
  caller: Caller,
  isThere: (named: Named) => Promise<boolean>,
): Promise<void> => {
  const byTarget = [...Map.groupBy(all, ({ target, id }) => streamOf(target, id)).values()].flatMap(
    ([first]) => first ?? [],
  );
  const answers = await Promise.all(byTarget.map(isThere));
  const missing = byTarget.find((_, index) => !answers[index]);
  if (missing === undefined) return;
  const { key, target } = missing;
  const isPublic = mayAlways(caller, operationOf(target, 'read'));
  const detail = `There is no such ${spaced(target.name)}${isPublic ? '' : ' that you may read'}.`;
  throw new Rejection('invalid_command', { errors: [{ pointer: `/${key}`, detail }] });
};

const stateOf = async ({ domain, states }: Dependencies, { target, id }: Named): Promise<AggregateState> =>
  (await states.load<AggregateState, never>(deciderOf(domain, target), streamOf(target, id))).state;

const isTarget = async (dependencies: Dependencies, named: Named, caller: Caller): Promise<boolean> => {
  const { target } = named;
  const right = operationOf(target, 'read');
  try {
    const state = await stateOf(dependencies, named);
    if (caller.kind === 'system') return state.status !== 'absent';
    if (state.status !== 'present') return false;
    // Everybody may name themselves.
    if (caller.kind === 'user' && isUser(target) && named.id === caller.userId) return true;
    const { fields } = state;
    const { look } = await dependencies.readReferences(target, fields);
    return isInReach(caller, right, { fields, find: findBy(look) });
  } catch (error) {
    // Callers who may not read every target must not learn that this one exists and is damaged.
    if (isDamage(error) && !(error instanceof TypeError) && !mayAlways(caller, right)) return false;
    throw error;
  }
};
