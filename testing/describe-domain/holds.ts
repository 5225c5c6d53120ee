import type { Kind, Row } from '#kernel/registry/registry.ts';
import type { RestSession } from '../http/rest-session.ts';

type Person = {
  readonly userId: number | null;
  readonly token: string | undefined;
  readonly isPerson: boolean;
};
type Releasing = {
  readonly session: RestSession;
  readonly actors: readonly Person[];
  readAny<Body = Row>(path: string): Promise<{ readonly status: number; readonly body: Body }>;
};
/** Something that may be under holds. */
export type Holdable = { readonly kind: Pick<Kind, 'name' | 'path' | 'hold'>; readonly id: number };
export type Hold = { readonly id: number; readonly placedBy: number };

/** The holds that nobody has released yet. */
export const holdsOn = async (
  { readAny }: Pick<Releasing, 'readAny'>,
  { kind, id }: Holdable,
): Promise<readonly Hold[]> => {
  if (!kind.hold) return [];
  const { status, body } = await readAny<readonly Row[]>(`/${kind.path}/${id}/holds?limit=100`);
  if (status !== 200) return [];
  return body.map((item) => ({
    id: Number(item.id),
    placedBy: Number((item.placedBy as Row | undefined)?.id ?? item.placedById),
  }));
};

/** Places a hold on a user, by the first actor who may. */
export const holdUser = async (
  { session, actors }: Omit<Releasing, 'readAny'>,
  userId: number,
): Promise<Hold> => {
  const body = { reason: 'Held by a test' };
  for (const { userId: placedBy, token } of actors) {
    if (placedBy === null) continue;
    const placed = await session
      .write('POST', `/users/${userId}/holds`, { token, body })
      .catch(() => undefined);
    if (placed !== undefined) return { id: Number((placed.body as Row).holdId), placedBy };
  }
  throw new Error('Nobody may place a hold on a user: give the right in `hold` of users to a role.');
};

/** Each by a person who did not place it. */
export const release = async (
  { session, actors }: Omit<Releasing, 'readAny'>,
  { kind, id }: Holdable,
  holds: readonly Hold[],
): Promise<void> => {
  for (const hold of holds) {
    const others = actors.filter(({ isPerson, userId }) => isPerson && userId !== hold.placedBy);
    if (!(await isDoneByOne(session, others, `/${kind.path}/${id}/holds/${hold.id}`)))
      throw new Error(
        `No other person may release a hold on ${kind.name} ${id}: give the right in \`hold\` to a role of persons.`,
      );
  }
};

/** Ends it by the first who may; its state may forbid that to all. */
export const endBy = async (
  releasing: Releasing,
  actors: readonly Person[],
  holdable: Holdable,
): Promise<void> => {
  const path = `/${holdable.kind.path}/${holdable.id}`;
  if (await isDoneByOne(releasing.session, actors, path)) return;
  const holds = await holdsOn(releasing, holdable);
  if (holds.length === 0) return;
  await release(releasing, holdable, holds);
  await isDoneByOne(releasing.session, actors, path);
};

const isDoneByOne = async (
  session: RestSession,
  actors: readonly Person[],
  path: string,
): Promise<boolean> => {
  for (const { token } of actors) {
    const isDone = await session.write('DELETE', path, { token }).then(
      () => true,
      () => false,
    );
    if (isDone) return true;
  }
  return false;
};
