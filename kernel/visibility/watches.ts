import { createHash } from 'node:crypto';
import type { Actor } from '../base/events/metadata.ts';
import { wire } from '../base/names.ts';
import { oncePer } from '../base/once-per.ts';
import { StartRefused } from '../base/start-refused.ts';
import { type QuestionAt, questionsAt } from '../conditions/facts.ts';
import type { State } from '../conditions/holds.ts';
import { askedListOf } from '../conditions/lists.ts';
import { partRightsOf } from '../conditions/parts-of.ts';
import { operationOf, type Right, rightsOf } from '../conditions/rights.ts';
import { foldDefinitionOf } from '../decide/fold-definition.ts';
import type { Domain, EventInfo, Kind, Row } from '../registry/registry.ts';
import { watchedItemsOf } from './watched-items.ts';

/**
 * The part of an aggregate’s history that decides the visibility of events: the fields and lists that rights
 * to read ask for.
 */
export type Watch = {
  /** Constant references, with their keys in events. */
  readonly fixed: readonly (readonly [field: string, key: string])[];
  /** The other fields and the lists. */
  readonly fields: ReadonlySet<string>;
  /** True if earlier events are needed, because not every event contains all of it. */
  readonly hasHistory: boolean;
  /** Keyed by type of event. */
  readonly folds: ReadonlyMap<string, Fold>;
  /** Identifies the meaning of the folds: states of another definition are discarded. */
  readonly definition: string;
};

/** The clear parts of an event: data, time and actor. */
export type Clear = { readonly data: Row; readonly at: string; readonly origin: { readonly actor: Actor } };

type Fold = {
  readonly isCreation: boolean;
  readonly isEnd: boolean;
  /** True if the event determines all watched facts, whatever came before. */
  readonly isWhole: boolean;
  /** True if the fold needs the data of the event. */
  readonly takesData: boolean;
  /** Facts that an unreadable event leaves unknown are `undefined`. */
  apply(before: State | undefined, clear: Clear | undefined): State | undefined;
};

/** By kind; kinds that no right to read asks about are not watched. */
export const watchesOf = oncePer((domain: Domain): ReadonlyMap<string, Watch> => watchAll(domain));

/** The rights to read an aggregate and its parts. */
export const readingRights = (domain: Domain, kind: Kind): readonly Right[] =>
  ['read', ...partRightsOf(kind).map(({ name }) => name)].flatMap(
    (name) => rightsOf(domain).get(operationOf(kind, name)) ?? [],
  );

/** The questions of a right, about its aggregate and those behind references. */
export const questionsOf = (domain: Domain, { kind, alternatives }: Right): readonly QuestionAt[] =>
  alternatives.flatMap((each) => questionsAt(each, { domain, kind, path: [] }));

const watchAll = (domain: Domain): ReadonlyMap<string, Watch> => {
  const parents = new Set<Kind>();
  const asked = new Map<Kind, Set<string>>();
  const of = (kind: Kind): Set<string> => {
    const fields = asked.get(kind) ?? new Set<string>();
    asked.set(kind, fields);
    return fields;
  };
  for (const kind of Object.values(domain.kinds))
    for (const { asked: question, at } of readingRights(domain, kind).flatMap((right) =>
      questionsOf(domain, right),
    )) {
      of(at.kind ?? kind).add(question.field);
      const parent = question.op === 'at' ? domain.kinds[question.kind] : undefined;
      if (parent === undefined) continue;
      of(parent);
      parents.add(parent);
    }
  return new Map(
    [...asked].map(([kind, fields]) => [
      kind.name,
      watchOf(domain, kind, { asked: fields, isParent: parents.has(kind) }),
    ]),
  );
};

type Asked = { readonly asked: ReadonlySet<string>; readonly isParent: boolean };

const watchOf = (domain: Domain, kind: Kind, { asked, isParent }: Asked): Watch => {
  const events = Object.values(kind.events);
  const changes = (name: string) =>
    events.some(
      ({ effect, values, sets }) => name in sets || (effect !== 'creates' && values.includes(name)),
    );
  const fixed = kind.identity.filter((name) => !changes(name));
  const fields = new Set([...asked].filter((name) => name !== 'id' && !fixed.includes(name)));
  const personal = [...fields].find((name) => kind.fields[name]?.personal !== undefined);
  if (personal !== undefined)
    throw new StartRefused(
      `${kind.name}: a right to read uses ${personal}, which is personal, so the visibility of events could not be decided: use another field.`,
    );
  const derived = kind.derived.find(({ name }) => fields.has(name));
  if (derived !== undefined)
    throw new StartRefused(
      `${kind.name}: a right to read uses ${derived.name}, which is derived from its ${derived.list.name}, so the visibility of events could not be decided: use another field.`,
    );
  return {
    fixed: fixed.map((name) => [name, wire(name, kind.fields[name])]),
    fields,
    hasHistory: isParent || fields.size > 0,
    folds: new Map(events.map((event) => [event.type, foldOf(domain, kind, { event, fields })])),
    definition: definitionOf(domain, kind, { fixed, fields }),
  };
};

const definitionOf = (
  domain: Domain,
  kind: Kind,
  { fixed, fields }: { readonly fixed: readonly string[]; readonly fields: ReadonlySet<string> },
): string => {
  const items = [...fields].map((name) => askedListOf(domain, kind, name)?.fields);
  return createHash('sha256')
    .update(JSON.stringify([foldDefinitionOf(kind), fixed, [...fields], items]))
    .digest('base64url');
};

/** Like the fold of an aggregate, limited to watched facts. */
const foldOf = (
  domain: Domain,
  kind: Kind,
  { event, fields }: { event: EventInfo; fields: ReadonlySet<string> },
): Fold => {
  const { effect, sets } = event;
  const items = watchedItemsOf(domain, kind, { event, lists: fields });
  const isCreation = effect === 'creates';
  const isEnd = effect === 'ends';
  const identity = event.spec.claim === true ? [] : kind.identity;
  const given = [...new Set([...identity, ...event.values])].filter((name) => fields.has(name));
  const set = Object.entries(sets).filter(([name]) => fields.has(name));
  const nothing = Object.fromEntries(
    [...fields].map((name) => [
      name,
      name in kind.lists ? [] : isCreation ? (kind.fields[name]?.initial ?? null) : null,
    ]),
  );
  const constants = Object.fromEntries(set.filter(([, value]) => value !== 'now' && value !== 'caller'));
  const others = set.filter(([, value]) => value === 'now' || value === 'caller');
  const takesData = given.length > 0 || others.length > 0 || items !== undefined;
  return {
    isCreation,
    isEnd,
    isWhole:
      isCreation ||
      isEnd ||
      (effect !== 'changes' &&
        [...fields].every((name) => given.includes(name) || set.some(([each]) => each === name))),
    takesData,
    apply(before, clear) {
      const state: Record<string, unknown> = { ...(isCreation || isEnd ? nothing : before), ...constants };
      if (!takesData) return state;
      for (const name of given) {
        const value = clear?.data[wire(name, kind.fields[name])];
        if (clear === undefined || value !== undefined) state[name] = value;
      }
      if (items !== undefined) state[items.list] = items.apply(before?.[items.list], clear?.data);
      for (const [name, value] of others)
        state[name] = clear && (value === 'now' ? clear.at : userOf(clear.origin.actor));
      return state;
    },
  };
};

const userOf = (actor: Actor): number | null =>
  actor.startsWith('user:') ? Number(actor.slice('user:'.length)) : null;
