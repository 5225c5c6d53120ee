import * as z from 'zod';
import type { ArticleId, CommentId, EventId, Position, StreamName, UserId, WebhookId } from '#shared/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { type MetadataContext, readMetadata } from '#shared/events/metadata.ts';
import { kindOfStream } from '#shared/events/streams.ts';
import { articleStream } from '../articles/article.ts';
import { commentStream } from '../comments/comment.ts';
import { userStream } from '../users/user.ts';
import { webhookStream } from '../webhooks/webhook.ts';

/** The event that something follows from. */
export type Cause = { readonly id: EventId; readonly metadata: MetadataContext };

export type Link = { readonly parent: StreamName; readonly child: StreamName; readonly cause: Cause };

/** What an event means to the process manager, in terms of who belongs to whom. */
export type Step =
  | ({ readonly kind: 'join' } & Link)
  | ({ readonly kind: 'leave' } & Link)
  /** The parent is gone. A user is erased as well. */
  | { readonly kind: 'orphan'; readonly parent: StreamName; readonly cause: Cause; readonly isErased: boolean }
  /** The webhooks that were registered for a user before this position end; the user stays. */
  | { readonly kind: 'reclaim'; readonly parent: StreamName; readonly cause: Cause; readonly position: Position };

// Only ids are needed, and they stand in clear: nothing has to be unsealed, and a lost key holds up nothing.
const articleIds = z.object({ articleId: z.int().positive(), authorId: z.int().positive() });
const commentIds = z.object({ articleId: z.int().positive(), commentId: z.int().positive() });
const userIds = z.object({ userId: z.int().positive() });
const webhookIds = z.object({ webhookId: z.int().positive(), ownerId: z.int().positive() });

/**
 * The steps of an event, in their order; most events have none. Throws if the event is damaged, except if it is a deletion: of that,
 * its type and its stream say enough.
 */
export const stepsOf = (event: RecordedEvent): readonly Step[] => {
  const { id, type, data, metadata, stream, position } = event;
  const causeOf = (): Cause => ({ id, metadata: readMetadata(metadata) });
  const gone = (isErased: boolean): Step => ({ kind: 'orphan', parent: stream, cause: { id, metadata: metadataOf(event) }, isErased });
  switch (type) {
    // An article that becomes a draft again belongs to its author as a new one does.
    case 'article.drafted':
    case 'article.unpublished':
      return [{ kind: 'join', ...articleLink(data), cause: causeOf() }];
    case 'article.deleted':
      return kindOfStream(stream) === 'article' ? [...leaveOf(event), gone(false)] : [];
    case 'comment.added':
      return [{ kind: 'join', ...commentLink(data), cause: causeOf() }];
    case 'comment.deleted':
      return [{ kind: 'leave', ...commentLink(data), cause: causeOf() }];
    case 'webhook.registered':
      return [{ kind: 'join', ...webhookLink(data), cause: causeOf() }];
    case 'webhook.deleted':
      return [{ kind: 'leave', ...webhookLink(data), cause: causeOf() }];
    case 'user.deleted':
      return kindOfStream(stream) === 'user' ? [gone(true)] : [];
    case 'account.reclaimed':
      return [{ kind: 'reclaim', parent: userStream(userIds.parse(data).userId as UserId), cause: causeOf(), position }];
    default:
      return [];
  }
};

/** A damaged deletion leaves its parent's list of children as it is: ending it again does nothing. */
const leaveOf = ({ id, data, metadata }: RecordedEvent): readonly Step[] => {
  try {
    return [{ kind: 'leave', ...articleLink(data), cause: { id, metadata: readMetadata(metadata) } }];
  } catch {
    return [];
  }
};

/** Of a deletion whose metadata is damaged, what is known all the same. */
const metadataOf = ({ id, metadata, recordedAt }: RecordedEvent): MetadataContext => {
  try {
    return readMetadata(metadata);
  } catch {
    const unknown = { actor: 'system:process-manager', client: null, request: id, correlation: id, causation: null } as const;
    return { at: recordedAt.toISOString(), ...unknown };
  }
};

const articleLink = (data: unknown): { parent: StreamName; child: StreamName } => {
  const { articleId, authorId } = articleIds.parse(data);
  return { parent: userStream(authorId as UserId), child: articleStream(articleId as ArticleId) };
};

const commentLink = (data: unknown): { parent: StreamName; child: StreamName } => {
  const { articleId, commentId } = commentIds.parse(data);
  return { parent: articleStream(articleId as ArticleId), child: commentStream(commentId as CommentId) };
};

const webhookLink = (data: unknown): { parent: StreamName; child: StreamName } => {
  const { webhookId, ownerId } = webhookIds.parse(data);
  return { parent: userStream(ownerId as UserId), child: webhookStream(webhookId as WebhookId) };
};

/** Steps of one kind that follow each other can be taken together. */
export const runsOf = (steps: readonly Step[]): readonly (readonly Step[])[] => {
  const runs: Step[][] = [];
  for (const step of steps) {
    const last = runs.at(-1);
    if (last?.[0]?.kind === step.kind) last.push(step);
    else runs.push([step]);
  }
  return runs;
};
