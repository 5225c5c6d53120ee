import type { StreamName } from '../base/brands.ts';
import { streamName } from '../base/events/streams.ts';
import type { JsonObject } from '../base/json.ts';
import { targetOf, wire } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { CommandInfo, Domain, EventInfo, Kind, ListInfo } from '../registry/registry.ts';
import { recordedKindsOf } from '../webhook/managed-kinds.ts';

/**
 * An aggregate that ends with the target of a constant reference. Its events hold the ids in clear, so no decryption
 * is needed: neither a lost key nor a damaged event keeps it alive. Unlike other reactions, it needs no task, and
 * waits neither for a rebuild after a changed declaration nor for the process that works by the latest one.
 */
export type Membership = {
  /** The kind that ends with its parent. */
  readonly kind: string;
  readonly parentKind: string;
  readonly parentEnd: string;
  /** The key of the parent’s id in events. */
  readonly parentKey: string;
  /** The types of events after which it ends with its parent. */
  readonly joins: ReadonlySet<string>;
  /** The types of events after which it may no longer. */
  readonly changes: ReadonlySet<string>;
  /** The type of its end, and the ids that this event contains. */
  readonly end: string;
  readonly ids: readonly string[];
  /** Fields whose last values the end carries. */
  readonly carries: readonly string[];
};

/**
 * Derived from reactions: those whose command only ends the aggregate when a reference’s target has ended, and
 * whose reference never changes.
 * Includes the webhooks of a user, also those from a time when webhooks were served.
 */
export const membershipsOf = (domain: Domain): readonly Membership[] =>
  recordedKindsOf(domain).flatMap((kind) =>
    reactionsOf(domain, kind).flatMap((reaction) => membershipOf(reaction) ?? []),
  );

/** Identifies the meaning of a membership: children are known from the event on after which it was declared. */
export const membershipText = ({ kind, parentKind, parentEnd, parentKey, joins, end }: Membership): string =>
  [kind, parentKind, parentEnd, parentKey, [...joins].toSorted().join(','), end].join(' ');

export type Belonging = { readonly parent: StreamName; readonly child: StreamName };

/** The parent and child in an event of the child; undefined if the event lacks their ids. */
export const belongingIn = (
  { kind, parentKind, parentKey }: Membership,
  data: JsonObject | undefined,
): Belonging | undefined => {
  const [parentId, childId] = [data?.[parentKey], data?.[`${kind}Id`]];
  if (!isId(parentId) || !isId(childId)) return undefined;
  return { parent: streamName(parentKind, parentId), child: streamName(kind, childId) };
};

const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

/** A reference of an aggregate, or of the items of one of its lists: `items.article`. */
export type Reference = {
  readonly def: FieldDef;
  readonly field: string;
  readonly list: ListInfo | undefined;
};

/** Undefined if there is no such reference. */
export const referenceAt = ({ fields, lists }: Kind, path: string): Reference | undefined => {
  const [first = '', ...rest] = path.split('.');
  const list = rest.length === 0 ? undefined : lists[first];
  const field = list === undefined ? path : rest.join('.');
  const def = list === undefined ? fields[path] : field === list.key ? list.id.def : list.fields[field];
  return def?.kind === 'ref' ? { def, field, list } : undefined;
};

/** The command that an aggregate runs when an event happens to the target of one of its references. */
export type Reaction = {
  readonly kind: Kind;
  readonly path: string;
  readonly reference: Reference;
  readonly target: Kind;
  readonly event: EventInfo;
  readonly command: CommandInfo;
  readonly when: unknown;
};

export const reactionsIn = (domain: Domain): readonly Reaction[] =>
  Object.values(domain.kinds).flatMap((kind) => reactionsOf(domain, kind));

const reactionsOf = (domain: Domain, kind: Kind): readonly Reaction[] =>
  Object.entries(kind.reactions).flatMap(([path, reactions]) =>
    Object.entries(reactions).flatMap(([name, { run, when }]) => {
      const reference = referenceAt(kind, path);
      const target = reference && domain.kinds[targetOf(reference.def)];
      const [event, command] = [target?.events[name], kind.commands[run]];
      if (reference === undefined || target === undefined || event === undefined || command === undefined)
        return [];
      return [{ kind, path, reference, target, event, command, when }];
    }),
  );

/**
 * For a reaction that only ends an aggregate with its parent or owner, in certain states: clear types and ids
 * suffice.
 */
export const membershipOf = (reaction: Reaction): Membership | undefined => {
  const { kind, path: field, target, event, command, when } = reaction;
  // A decision must see a hold, and for how long the aggregate must be kept.
  if (kind.hold || kind.retain) return undefined;
  const [end, states] = [endOf(kind, command), statesOf(kind, when)];
  if (end === undefined || states === undefined || !endsWithTarget(reaction) || isMoving(reaction))
    return undefined;
  const isMember = memberAfter(kind, states);
  const events = Object.values(kind.events);
  return {
    kind: kind.name,
    parentKind: target.name,
    parentEnd: event.type,
    parentKey: wire(field, kind.fields[field]),
    joins: new Set(events.filter((each) => isMember(each) === true).map(({ type }) => type)),
    changes: new Set(events.filter((each) => isMember(each) !== undefined).map(({ type }) => type)),
    end: end.type,
    ids: [`${kind.name}Id`, ...kind.identity.map((name) => wire(name, kind.fields[name]))],
    carries: end.carries.filter((name) => !kind.identity.includes(name)),
  };
};

/** Whether the aggregate ends with its parent or owner, also if that was imported. */
export const endsWithTarget = ({ kind, path, event, command, when }: Reaction): boolean =>
  event.effect === 'ends' &&
  kind.identity.includes(path) &&
  endOf(kind, command) !== undefined &&
  statesOf(kind, when) !== undefined;

const isMoving = ({ kind, path }: Reaction): boolean => path === kind.parent && isMovable(kind);

/** Whether the aggregate can move below another parent. */
export const isMovable = ({ events }: Pick<Kind, 'events'>): boolean =>
  Object.values(events).some(({ former }) => former !== undefined);

/** The event of a command that only ends the aggregate. */
const endOf = (kind: Kind, command: CommandInfo): EventInfo | undefined => {
  const [end, ...others] = command.events;
  if (end?.effect !== 'ends' || others.length > 0) return undefined;
  const personal = end.carries.find((name) => kind.fields[name]?.personal !== undefined);
  // After erasure of the person’s key nothing could be recorded, and the aggregate would never end.
  if (personal !== undefined)
    throw new StartRefused(
      `${kind.name}: ${end.name} carries ${personal}, which is personal; a reaction cannot record it: remove it from the event.`,
    );
  return end;
};

/** True if the aggregate ends with its parent after an event; undefined if the event does not change that. */
const memberAfter = (kind: Kind, { field, words }: States): ((event: EventInfo) => boolean | undefined) => {
  return ({ effect, sets }) => {
    if (effect === 'ends') return false;
    const word =
      field === undefined
        ? undefined
        : (sets[field] ?? (effect === 'creates' ? kind.fields[field]?.initial : undefined));
    if (field === undefined) return effect === 'creates' ? true : undefined;
    return word === undefined ? undefined : words.includes(word);
  };
};

type States = { readonly field: string | undefined; readonly words: readonly unknown[] };

/**
 * The states in which the aggregate ends; undefined if the condition depends on more than types of events.
 */
const statesOf = (kind: Kind, when: unknown): States | undefined => {
  if (when === undefined) return { field: undefined, words: [] };
  const words = [when].flat();
  const field = Object.keys(kind.fields).find(
    (name) =>
      kind.fields[name]?.kind === 'states' &&
      words.every((word) => kind.fields[name]?.values?.includes(String(word))),
  );
  return field === undefined ? undefined : { field, words };
};
