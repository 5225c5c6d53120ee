import type { StreamName } from '#shared/brands.ts';
import type { Connection } from '#shared/database/pool.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';
import { ARTICLES, type ArticleEvent, projectArticle } from '#shared/read-model/articles.ts';
import { COMMENTS, type CommentEvent, projectComment } from '#shared/read-model/comments.ts';
import type { Parked } from '#shared/read-model/parked.ts';
import { projectUser, USERS, type UserEvent } from '#shared/read-model/users.ts';
import { projectWebhook, WEBHOOK_TYPES, WEBHOOKS, type WebhookEvent } from '#shared/read-model/webhooks.ts';
import { isRefusalOfValues, unwritable } from './refused.ts';
import { write } from './rows.ts';

/** Writes all at once; where the database refuses that, halves are tried, down to the events that it refuses. Answers with those. */
export const takeIn = async (connection: Connection, events: readonly DecodedEvent[]): Promise<readonly Parked[]> => {
  if (events.length === 0) return [];
  const refusal = await attempt(connection, events);
  if (!refusal) return [];
  const streams = [...new Set(events.map(({ stream }) => stream))];
  if (streams.length === 1) return takeInOneByOne(connection, events);
  const some = new Set<StreamName>(streams.slice(0, Math.ceil(streams.length / 2)));
  const first = events.filter(({ stream }) => some.has(stream));
  const second = events.filter(({ stream }) => !some.has(stream));
  return [...(await takeIn(connection, first)), ...(await takeIn(connection, second))];
};

/** One stream's events, up to the first that is refused. */
const takeInOneByOne = async (connection: Connection, events: readonly DecodedEvent[]): Promise<readonly Parked[]> => {
  for (const event of events) {
    const refusal = await attempt(connection, [event]);
    if (refusal) return [unwritable(event, refusal)];
  }
  return [];
};

/** Answers with the database's refusal of what is in the events; then nothing of them is written. */
const attempt = async (connection: Connection, events: readonly DecodedEvent[]) => {
  await connection.query('savepoint taking_in');
  try {
    await writeAll(connection, events);
    return undefined;
  } catch (error) {
    if (!isRefusalOfValues(error)) throw error;
    await connection.query('rollback to savepoint taking_in');
    return error;
  }
};

const writeAll = async (connection: Connection, events: readonly DecodedEvent[]): Promise<void> => {
  const users = events.filter(isOf<UserEvent>('user.registered', 'user.updated', 'user.email_abandoned', 'user.deleted'));
  const articles = events.filter(
    isOf<ArticleEvent>('article.drafted', 'article.edited', 'article.published', 'article.unpublished', 'article.deleted'),
  );
  const comments = events.filter(isOf<CommentEvent>('comment.added', 'comment.edited', 'comment.deleted'));
  const webhooks = events.filter(isOf<WebhookEvent>(...WEBHOOK_TYPES));
  await write(connection, USERS, users.map(projectUser));
  await write(connection, ARTICLES, articles.map(projectArticle));
  await write(connection, COMMENTS, comments.map(projectComment));
  await write(connection, WEBHOOKS, webhooks.map(projectWebhook));
};

export const isOf =
  <Event extends DecodedEvent>(...types: readonly Event['type'][]) =>
  (event: DecodedEvent): event is Event =>
    types.some((type) => type === event.type);
