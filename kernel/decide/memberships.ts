import { targetOf, wire } from '../registry/names.ts';
import type { CommandInfo, Domain, EventInfo, Kind } from '../registry/registry.ts';

/** What ends with what it refers to. Events name the ids in clear, so that nothing has to be opened to know it. */
export type Membership = {
  /** The kind that ends. */
  readonly kind: string;
  readonly parentKind: string;
  /** The type of the parent's end. */
  readonly parentEnd: string;
  /** As events name the id of the parent. */
  readonly parentKey: string;
  /** The types after which it ends with its parent. */
  readonly joins: ReadonlySet<string>;
  /** Those after which it may not any more. */
  readonly changes: ReadonlySet<string>;
  /** The type of its end, and the ids that this holds. */
  readonly end: string;
  readonly ids: readonly string[];
  /** Fields that its end holds as they are then. */
  readonly carries: readonly string[];
};

/** The kernel's own: the webhooks of a user. */
const WEBHOOKS: Membership = {
  kind: 'webhook',
  parentKind: 'user',
  parentEnd: 'user.deleted',
  parentKey: 'ownerId',
  joins: new Set(['webhook.registered']),
  changes: new Set(['webhook.registered', 'webhook.deleted']),
  end: 'webhook.deleted',
  ids: ['webhookId', 'ownerId'],
  carries: [],
};

/** From the reactions of the domain: what runs a command that ends it when something that it refers to has ended. */
export const membershipsOf = (domain: Domain): readonly Membership[] => [
  ...Object.values(domain.kinds).flatMap((kind) =>
    Object.entries(kind.reactions).flatMap(([field, reactions]) =>
      Object.entries(reactions).map(([event, { run, when }]) => membershipOf(domain, kind, { field, event, run, when })),
    ),
  ),
  WEBHOOKS,
];

type Reaction = { readonly field: string; readonly event: string; readonly run: string; readonly when: unknown };

const membershipOf = (domain: Domain, kind: Kind, { field, event, run, when }: Reaction): Membership => {
  const def = kind.fields[field];
  const target = def && domain.kinds[targetOf(def)];
  const end = endOf(kind, kind.commands[run]);
  if (target === undefined || target.events[event]?.effect !== 'ends' || end === undefined)
    throw new Error(
      `${kind.name}: with what ${field} leads to it can only end, once that has ended; other reactions are not supported yet`,
    );
  // Every event names these, so that nothing has to be looked up.
  if (!kind.identity.includes(field)) throw new Error(`${kind.name}: ${field} is neither its parent nor its owner, with which it can end`);
  const isMember = memberAfter(kind, when);
  const events = Object.values(kind.events);
  return {
    kind: kind.name,
    parentKind: target.name,
    parentEnd: `${target.name}.${event}`,
    parentKey: wire(field, def),
    joins: new Set(events.filter((each) => isMember(each) === true).map(({ type }) => type)),
    changes: new Set(events.filter((each) => isMember(each) !== undefined).map(({ type }) => type)),
    end: end.type,
    ids: [`${kind.name}Id`, ...kind.identity.map((name) => wire(name, kind.fields[name]))],
    carries: end.carries.filter((name) => !kind.identity.includes(name)),
  };
};

/** Of a command that does nothing but end it. */
const endOf = (kind: Kind, command: CommandInfo | undefined): EventInfo | undefined => {
  const [end, ...others] = command?.events ?? [];
  if (end?.effect !== 'ends' || others.length > 0) return undefined;
  const personal = end.carries.find((name) => kind.fields[name]?.personal !== undefined);
  // Nothing could be recorded of somebody whose key is gone, and it would never end.
  if (personal !== undefined)
    throw new Error(`${kind.name}: ${end.name} carries ${personal}, which is personal; a reaction cannot record it`);
  return end;
};

/** Whether it ends with its parent once an event has happened to it; nothing where the event leaves that as it was. */
const memberAfter = (kind: Kind, when: unknown): ((event: EventInfo) => boolean | undefined) => {
  const { field, words } = statesOf(kind, when);
  return ({ effect, sets }) => {
    if (effect === 'ends') return false;
    const word = field === undefined ? undefined : (sets[field] ?? (effect === 'creates' ? kind.fields[field]?.initial : undefined));
    if (field === undefined) return effect === 'creates' ? true : undefined;
    return word === undefined ? undefined : words.includes(word);
  };
};

/** The states in which it ends: what else a condition asks cannot be told from the types of events. */
const statesOf = (kind: Kind, when: unknown): { readonly field: string | undefined; readonly words: readonly unknown[] } => {
  if (when === undefined) return { field: undefined, words: [] };
  const words = [when].flat();
  const field = Object.keys(kind.fields).find(
    (name) => kind.fields[name]?.kind === 'states' && words.every((word) => kind.fields[name]?.values?.includes(String(word))),
  );
  if (field === undefined) throw new Error(`${kind.name}: a reaction can depend on the states of one field alone`);
  return { field, words };
};
