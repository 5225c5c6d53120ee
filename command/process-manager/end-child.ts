import * as z from 'zod';
import type { ArticleId, CommentId, EventId, StreamName, UserId, Version, WebhookId } from '#shared/brands.ts';
import { StaleVersion } from '#shared/event-log/errors.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import type { Codec } from '#shared/events/codec.ts';
import type { MetadataContext } from '#shared/events/metadata.ts';
import { kindOfStream } from '#shared/events/streams.ts';

type Dependencies = { readonly eventLog: Pick<EventLog, 'read' | 'append'>; readonly codec: Pick<Codec, 'encode'> };

export type Ending = { readonly stream: StreamName; readonly eventId: EventId; readonly metadata: MetadataContext };

const ATTEMPTS_MAX = 12;

/**
 * Ends what cannot be without its parent. An article that was published meanwhile stays. Nothing of it is decoded: types and ids are in
 * clear, so that neither a lost key nor one unreadable event keeps a child alive.
 */
export const endChild = async ({ eventLog, codec }: Dependencies, { stream, eventId, metadata }: Ending): Promise<void> => {
  const kind = kindOf(stream);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const { version, status, ids } = await readChild(eventLog, stream, kind);
    if (version === undefined || status === undefined || !kind.endsAt.has(status)) return;
    if (ids === undefined) throw new Error(`No event of ${stream} has all of its ids, so that its end cannot be recorded.`);
    try {
      const event = await codec.encode(kind.end(ids), metadata, eventId, stream);
      await eventLog.append(stream, version, [event]);
      return;
    } catch (error) {
      if (!(error instanceof StaleVersion)) throw error;
    }
  }
  throw new Error(`Others change ${stream} all the time.`);
};

type Kind<Ids = unknown> = {
  /** The types after which it is something else. */
  readonly changes: readonly string[];
  /** Those after which it ends with its parent. */
  readonly endsAt: ReadonlySet<string>;
  readonly ids: z.ZodType<Ids>;
  end(ids: Ids): AnnalsEvent;
};

const id = <Id extends number>() => z.int().positive() as unknown as z.ZodType<Id>;
const define = <Ids>(kind: Kind<Ids>): Kind => kind as Kind;

const KINDS: Readonly<Record<string, Kind>> = {
  comment: define({
    changes: ['comment.added', 'comment.deleted'],
    endsAt: new Set(['comment.added']),
    ids: z.object({ commentId: id<CommentId>(), articleId: id<ArticleId>(), authorId: id<UserId>() }),
    end: (data) => ({ type: 'comment.deleted', data }),
  }),
  article: define({
    changes: ['article.drafted', 'article.published', 'article.unpublished', 'article.deleted'],
    endsAt: new Set(['article.drafted', 'article.unpublished']),
    ids: z.object({ articleId: id<ArticleId>(), authorId: id<UserId>() }),
    end: (data) => ({ type: 'article.deleted', data }),
  }),
  webhook: define({
    changes: ['webhook.registered', 'webhook.deleted'],
    endsAt: new Set(['webhook.registered']),
    ids: z.object({ webhookId: id<WebhookId>(), ownerId: id<UserId>() }),
    end: (data) => ({ type: 'webhook.deleted', data }),
  }),
};

const kindOf = (stream: StreamName): Kind => {
  const kind = KINDS[kindOfStream(stream) ?? ''];
  if (kind === undefined) throw new Error(`${stream} belongs to nothing that can be deleted`);
  return kind;
};

type Child = { readonly version: Version | undefined; readonly status: string | undefined; readonly ids: unknown };

const readChild = async (eventLog: Pick<EventLog, 'read'>, stream: StreamName, { changes, ids }: Kind): Promise<Child> => {
  let last: RecordedEvent | undefined;
  let status: string | undefined;
  let known: unknown;
  for await (const page of eventLog.read(stream)) {
    for (const event of page) {
      last = event;
      if (changes.includes(event.type)) status = event.type;
      known ??= ids.safeParse(event.data).data;
    }
  }
  return { version: last?.version, status, ids: known };
};
