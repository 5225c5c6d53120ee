import type { LogIdentity } from '#kernel/base/brands.ts';
import { formatCursor } from '#kernel/base/cursor.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';

/** A subscriber; anonymous without an id. */
export type Viewer = { readonly userId?: number; readonly role: 'anonymous' | 'reader' | 'author' | 'admin' };

/** A public event, with everything that visibility and filters depend on. */
export type Happened = {
  readonly id: string;
  readonly type: string;
  readonly cursor: string;
  readonly position: number;
  readonly userId: number | undefined;
  /** The author of the article or the comment. */
  readonly authorId: number | undefined;
  readonly articleId: number | undefined;
  /** Whether the article was public just before or just after. */
  readonly isOpen: boolean;
  readonly articleAuthorId: number | undefined;
  readonly webhookId: number | undefined;
  readonly ownerId: number | undefined;
};

type Article = { readonly authorId: number | undefined; readonly isPublished: boolean };

/** Derives visibility from the log alone, without the code that serves it. */
export const happenedIn = (events: readonly DecodedEvent[], identity: LogIdentity): readonly Happened[] => {
  const articles = new Map<number | undefined, Article>();
  return events
    .filter(({ type }) => PUBLIC.test(type))
    .map((event) => {
      const { userId, authorId, articleId, webhookId, ownerId } = event.data as Ids;
      const before = articles.get(articleId);
      const isPublished = PUBLISHED_AFTER.get(event.type) ?? before?.isPublished ?? false;
      if (event.type.startsWith('article.'))
        articles.set(articleId, { authorId: before?.authorId ?? authorId, isPublished });
      return {
        ...{
          id: event.id,
          type: event.type,
          position: event.position,
          cursor: formatCursor(identity, event.position, event.id),
        },
        ...{ userId, authorId, articleId, webhookId, ownerId },
        isOpen: (before?.isPublished ?? false) || isPublished,
        articleAuthorId: articles.get(articleId)?.authorId,
      };
    });
};

type Ids = Readonly<Partial<Record<'userId' | 'authorId' | 'articleId' | 'webhookId' | 'ownerId', number>>>;

const PUBLIC = /^(?:user\.registered|article\.|comment\.|webhook\.)/;
const PUBLISHED_AFTER: ReadonlyMap<string, boolean> = new Map([
  ['article.drafted', false],
  ['article.published', true],
  ['article.unpublished', false],
  ['article.deleted', false],
]);

/**
 * Authors always see events of their own articles and the comments on them; others while the article is
 * published. Webhooks are private.
 */
export const isVisibleTo = (
  { role, userId }: Viewer,
  { type, isOpen, articleAuthorId, ownerId }: Happened,
): boolean => {
  if (role === 'admin' || type.startsWith('user.')) return true;
  if (type.startsWith('webhook.')) return userId === ownerId;
  return isOpen || (role === 'author' && userId === articleAuthorId);
};
