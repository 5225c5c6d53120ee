import type { Request } from 'express';
import type { ArticleId, CommentId, EventId, StreamName, UserId, WebhookId } from '#shared/brands.ts';
import { Rejection } from '#shared/rejection.ts';
import { pathEventId, pathId, pathStream } from '../path-id.ts';

type Ids = {
  readonly userId: UserId;
  readonly articleId: ArticleId;
  readonly commentId: CommentId;
  readonly webhookId: WebhookId;
  readonly deliveryId: EventId;
  readonly replayId: EventId;
  readonly orderId: string;
  readonly stream: StreamName;
};

/** The ids that a path holds, by name: `/articles/{articleId}/comments` has `articleId`. */
export type ItemOf<Path extends string> = Path extends `${string}{${infer Name extends keyof Ids}}${infer Rest}`
  ? Pick<Ids, Name> & ItemOf<Rest>
  : Readonly<Record<never, never>>;

/** How each is read, and what is said where it is none. */
const IDS = {
  userId: { read: pathId, absent: 'user_not_found' },
  articleId: { read: pathId, absent: 'article_not_found' },
  commentId: { read: pathId, absent: 'comment_not_found' },
  webhookId: { read: pathId, absent: 'webhook_not_found' },
  deliveryId: { read: pathEventId, absent: 'delivery_not_found' },
  replayId: { read: pathEventId, absent: 'replay_not_found' },
  orderId: { read: pathEventId, absent: 'order_not_found' },
  stream: { read: pathStream, absent: 'not_parked' },
} as const satisfies Record<keyof Ids, object>;

/** Reads the ids in the path of a request; what is no id is answered as the id of nothing. */
export const itemOf = <Path extends string>(_operation: { readonly path: Path }, { params }: Pick<Request, 'params'>): ItemOf<Path> => {
  const ids = Object.entries(params).map(([name, text]) => {
    const { read, absent } = IDS[name as keyof Ids];
    const id = read(String(text));
    if (id === undefined) throw new Rejection(absent);
    return [name, id] as const;
  });
  // Express has matched the path of the operation, so that these are its parameters.
  return Object.fromEntries(ids) as ItemOf<Path>;
};
