import type { StreamName } from '#shared/brands.ts';
import type { Connection } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { Codec, DecodedEvent } from '#shared/events/codec.ts';
import { ARTICLES, type ArticleEvent, projectArticle } from './articles.ts';
import { COMMENTS, type CommentEvent, projectComment } from './comments.ts';
import { type Parked, park, parkedAmong } from './parked.ts';
import { write } from './rows.ts';
import { projectUser, USERS, type UserEvent } from './users.ts';

/** Takes events into the read model that comes first in the connection's search path. Answers with the aggregates that had to be parked. */
export const project = async (connection: Connection, codec: Codec, events: readonly RecordedEvent[]): Promise<readonly Parked[]> => {
  const alreadyParked = await parkedAmong(
    connection,
    events.map(({ stream }) => stream),
  );
  const { decoded, damaged } = await decode(
    codec,
    events.filter(({ stream }) => !alreadyParked.has(stream)),
  );
  const held = new Set(damaged.map(({ stream }) => stream));
  const refused = await takeIn(
    connection,
    decoded.filter(({ stream }) => !held.has(stream)),
  );
  const parked = [...damaged, ...refused];
  await park(connection, parked);
  return parked;
};

/** A damaged event holds back its own aggregate; those of the batch that came before it are taken in again by its release. */
const decode = async (
  codec: Codec,
  events: readonly RecordedEvent[],
): Promise<{ readonly decoded: readonly DecodedEvent[]; readonly damaged: readonly Parked[] }> => {
  try {
    return { decoded: await codec.decodeAll(events), damaged: [] };
  } catch {
    const decoded: DecodedEvent[] = [];
    const damaged = new Map<StreamName, Parked>();
    for (const event of events) {
      if (damaged.has(event.stream)) continue;
      try {
        decoded.push(...(await codec.decodeAll([event])));
      } catch (error) {
        damaged.set(event.stream, parkedBy(event, error));
      }
    }
    return { decoded, damaged: [...damaged.values()] };
  }
};

/** Takes in all at once; where the database refuses that, halves are tried, down to the one aggregate that it refuses. */
const takeIn = async (connection: Connection, events: readonly DecodedEvent[]): Promise<readonly Parked[]> => {
  const [first] = events;
  if (!first) return [];
  await connection.query('savepoint taking_in');
  try {
    await writeAll(connection, events);
    await connection.query('release savepoint taking_in');
    return [];
  } catch (error) {
    await connection.query('rollback to savepoint taking_in');
    const streams = [...new Set(events.map(({ stream }) => stream))];
    if (streams.length === 1) return [parkedBy(first, error)];
    const some = new Set(streams.slice(0, Math.ceil(streams.length / 2)));
    return [
      ...(await takeIn(
        connection,
        events.filter(({ stream }) => some.has(stream)),
      )),
      ...(await takeIn(
        connection,
        events.filter(({ stream }) => !some.has(stream)),
      )),
    ];
  }
};

const writeAll = async (connection: Connection, events: readonly DecodedEvent[]): Promise<void> => {
  const users = events.filter(isOf<UserEvent>('user.registered', 'user.updated', 'user.deleted'));
  const articles = events.filter(
    isOf<ArticleEvent>('article.drafted', 'article.edited', 'article.published', 'article.unpublished', 'article.deleted'),
  );
  const comments = events.filter(isOf<CommentEvent>('comment.added', 'comment.edited', 'comment.deleted'));
  await write(connection, USERS, users.map(projectUser));
  await write(connection, ARTICLES, articles.map(projectArticle));
  await write(connection, COMMENTS, comments.map(projectComment));
  await eraseTexts(connection, { users, comments });
};

const isOf =
  <Event extends DecodedEvent>(...types: readonly Event['type'][]) =>
  (event: DecodedEvent): event is Event =>
    types.some((type) => type === event.type);

/** What a deleted user wrote is theirs: it goes with them, also where it is taken in later, so that every replay ends the same. */
const eraseTexts = async (
  connection: Connection,
  { users, comments }: { users: readonly UserEvent[]; comments: readonly CommentEvent[] },
): Promise<void> => {
  const deleted = users.filter(({ type }) => type === 'user.deleted').map(({ data }) => data.userId);
  const written = comments.map(({ data }) => data.commentId);
  if (deleted.length > 0)
    await connection.query('update comments set text = null where author_id = any($1) and text is not null', [deleted]);
  if (written.length > 0) {
    await connection.query(
      'update comments c set text = null from users u where c.id = any($1) and u.id = c.author_id and u.deleted_at is not null and c.text is not null',
      [written],
    );
  }
};

const parkedBy = ({ stream, position, version }: Pick<RecordedEvent, 'stream' | 'position' | 'version'>, error: unknown): Parked => ({
  stream,
  position,
  version,
  reason: error instanceof Error ? error.message : String(error),
});
