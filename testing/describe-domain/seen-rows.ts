import { kebab, targetOf, wire } from '#kernel/base/names.ts';
import { isUser } from '#kernel/base/users.ts';
import type { Domain, Kind, Row } from '#kernel/registry/registry.ts';
import { type Asking, mayAs, partsOf, UnknownCondition } from './declared.ts';
import { mayReadIfKnown } from './if-known.ts';
import type { Actor, Made, Stage } from './stage.ts';

/** The present aggregates, as those read them who may read most, by kind and id. */
export type SeenRows = {
  /** Reads it again. */
  look(kind: Kind, id: number): Promise<Row | undefined>;
  find(kind: string, id: unknown): Row | undefined;
  /** The same as another, without reading it: it was made alike. */
  take(kind: Kind, id: number, like: number): void;
};

/** A representation in the terms of conditions: references as ids, under the names of fields. */
export const stateOf = (kind: Kind, item: Row): Row => {
  const fields = Object.entries(kind.fields).map(([name, def]) => {
    const value = item[name] ?? item[wire(name, def)] ?? null;
    return [
      name,
      def.kind === 'ref' && typeof value === 'object' && value !== null ? (value as Row).id : value,
    ] as const;
  });
  return { id: item.id, ...Object.fromEntries(fields) };
};

export const openSeenRows = (stage: Reading): SeenRows => {
  const known = new Map<string, Row | undefined>();
  const seenRows: SeenRows = {
    find: (kind, id) => known.get(`${kind} ${String(id)}`),
    take(kind, id, like) {
      const state = known.get(`${kind.name} ${like}`);
      known.set(`${kind.name} ${id}`, state && { ...state, id });
    },
    async look(kind, id) {
      const item = await wholeOf(stage, kind, id);
      const state = item && { ...stateOf(kind, item), ...(await itemsOf(stage, kind, id)) };
      known.set(`${kind.name} ${id}`, state);
      if (state) await lookBehind(stage.domain, seenRows, kind, state);
      return state;
    },
  };
  return seenRows;
};

/** Administrators read all parts, unless a right names them. */
export const isWholeToAdministrators = ({ fieldRights }: Kind): boolean =>
  !Object.values(fieldRights).some((row) => Object.hasOwn(row, 'admin'));

type Reading = Pick<Stage, 'domain' | 'read' | 'readAny' | 'actors'>;

/** Parts that administrators may not read are added from what others see of it. */
export const wholeOf = async (
  { read, readAny, actors }: Reading,
  kind: Kind,
  id: number,
  at = '',
): Promise<Row | undefined> => {
  const path = `/${kind.path}/${id}${at}`;
  const { status, body } = await readAny(path);
  if (status !== 200) return undefined;
  if (isWholeToAdministrators(kind)) return body;
  const others = await Promise.all(actors.map((actor) => read(path, actor)));
  const shown = others.flatMap((other) => (other.status === 200 ? [other.body] : []));
  return Object.fromEntries(
    [body, ...shown].flatMap((each) => Object.entries(each).filter(([, value]) => value !== null)),
  );
};

const itemsOf = async ({ readAny }: Pick<Stage, 'readAny'>, kind: Kind, id: number): Promise<Row> => {
  const lists = Object.values(kind.lists).map(async (list) => {
    const { body } = await readAny<readonly Row[]>(`/${kind.path}/${id}/${kebab(list.name)}?limit=100`);
    const one = {
      ...kind,
      fields: { ...list.fields, ...(list.key !== undefined && { [list.key]: list.id.def }) },
    };
    return [list.name, body.map((item) => stateOf(one, item))] as const;
  });
  return Object.fromEntries(await Promise.all(lists));
};

/** Rights may look up referenced aggregates. */
const lookBehind = async (domain: Domain, seenRows: SeenRows, kind: Kind, state: Row): Promise<void> => {
  for (const [name, def] of Object.entries(kind.fields)) {
    const target = def.kind === 'ref' ? domain.kinds[targetOf(def)] : undefined;
    const id = state[name];
    if (target && typeof id === 'number' && !isUser(target)) await seenRows.look(target, id);
  }
};

export const askingAs = (
  { domain, actors }: Stage,
  seenRows: Pick<SeenRows, 'find'>,
  { role, userId, isPerson }: Actor,
): Asking => ({
  domain,
  role,
  callerId: userId,
  isPerson,
  find(kind, id) {
    if (kind !== 'user') return seenRows.find(kind, id);
    const person = actors.find((each) => each.userId !== null && each.userId === id);
    return person && { id: person.userId, role: person.role, name: person.key };
  },
});

/** Only a person who has signed in releases a hold. */
export const isForPersons = ({ hold }: Kind, name: string): boolean =>
  hold === true && name === 'releaseHold';

/**
 * Whether somebody may, by the declaration; undefined if it has conditions that this suite cannot evaluate.
 */
export const mayBy = (
  asking: Asking,
  { situation: { kind }, id }: Made,
  name: string,
): boolean | undefined => {
  const state = asking.find(kind.name, id);
  if (isForPersons(kind, name) && asking.isPerson === false) return false;
  try {
    return state !== undefined && mayAs(asking, kind, name, state);
  } catch (error) {
    if (error instanceof UnknownCondition) return undefined;
    throw error;
  }
};

/** An actor who may do it with the fixture: an administrator if that suffices. */
export const giverOf = async (stage: Stage, made: Made, name: string): Promise<Actor> => {
  const seenRows = openSeenRows(stage);
  const { kind } = made.situation;
  const state = await seenRows.look(kind, made.id);
  const all = [stage.admin, ...(made.owner ? [made.owner] : []), ...stage.actors];
  const candidates = all.filter((actor) => mayBy(askingAs(stage, seenRows, actor), made, name) !== false);
  // Parts are written by those who may read them.
  const seesAll = (actor: Actor): boolean =>
    partsOf(kind).every(
      ({ name: part }) =>
        state !== undefined && mayReadIfKnown(askingAs(stage, seenRows, actor), kind, part, state),
    );
  return candidates.find(seesAll) ?? candidates[0] ?? stage.admin;
};
