import { createHash } from 'node:crypto';
import type { Actor } from '#shared/events/metadata.ts';
import { StartRefused } from '#shared/process/start-refused.ts';
import { questionsIn } from '../conditions/facts.ts';
import type { State } from '../conditions/holds.ts';
import { askedListOf } from '../conditions/lists.ts';
import { partRightsOf } from '../conditions/parts-of.ts';
import { operationOf, type Right, rightsOf } from '../conditions/rights.ts';
import { foldDefinitionOf } from '../decide/fold-definition.ts';
import { wire } from '../registry/names.ts';
import type { Domain, EventInfo, Kind, Row } from '../registry/registry.ts';
import { watchedItemsOf } from './watched-items.ts';

/**
 * What must be known of one kind of aggregate, and since when, to say who may know of an event: what rights
 * to read ask for.
 */
export type Watch = {
  /** The references that never change, and how events name them. */
  readonly fixed: readonly (readonly [field: string, key: string])[];
  /** The other fields, and lists. */
  readonly fields: ReadonlySet<string>;
  /** Whether it takes a look back: not if every event tells all of it. */
  readonly hasHistory: boolean;
  /** By the types of events. */
  readonly folds: ReadonlyMap<string, Fold>;
  /** What they come to: whatever was made by another definition is of no use. */
  readonly definition: string;
};

/** What an event holds in clear, when it happened, and by whom. */
export type Clear = { readonly data: Row; readonly at: string; readonly origin: { readonly actor: Actor } };

type Fold = {
  readonly isCreation: boolean;
  readonly isEnd: boolean;
  /** Whether all that is watched is known after it, whatever was before. */
  readonly isWhole: boolean;
  /** Whether it takes what the event holds. */
  readonly takesData: boolean;
  /** What cannot be known, because the event is damaged, is `undefined`. */
  apply(before: State | undefined, clear: Clear | undefined): State | undefined;
};

const compiled = new WeakMap<Domain, ReadonlyMap<string, Watch>>();

/** By kind; one that no right to read asks anything of is not watched. Made once for a domain. */
export const watchesOf = (domain: Domain): ReadonlyMap<string, Watch> => {
  const watches = compiled.get(domain) ?? watchAll(domain);
  compiled.set(domain, watches);
  return watches;
};

/** The rights by which somebody reads an aggregate, or a part of it. */
export const readingRights = (domain: Domain, kind: Kind): readonly Right[] =>
  ['read', ...partRightsOf(kind).map(({ name }) => name)].flatMap(
    (name) => rightsOf(domain).get(operationOf(kind, name)) ?? [],
  );

/** What a right asks, of its aggregate and of those that references lead to. */
export const questionsOf = (domain: Domain, { kind, alternatives }: Right) =>
  alternatives.flatMap((each) => questionsIn(each, { domain, kind, path: [] }));

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
      `${kind.name}: a right to read asks for ${personal}, which is personal, so that nobody could say who may know of events: ask for another field.`,
    );
  const derived = kind.derived.find(({ name }) => fields.has(name));
  if (derived !== undefined)
    throw new StartRefused(
      `${kind.name}: a right to read asks for ${derived.name}, which follows from its ${derived.list.name}, so that nobody could say who may know of events: ask for another field.`,
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

/** The same as the fold of an aggregate, of what is watched. */
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
