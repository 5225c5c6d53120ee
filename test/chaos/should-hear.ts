import type { LogIdentity } from '#shared/brands.ts';
import { formatCursor } from '#shared/cursor.ts';
import type { DecodedEvent } from '#shared/events/codec.ts';

/** Somebody who follows; nobody in particular without an id. */
export type Viewer = { readonly userId?: number; readonly role: 'anonymous' | 'reader' | 'author' | 'admin' };

/** A public event, as far as anybody's right to hear of it and what they ask for go. */
export type Happened = {
  readonly type: string;
  readonly cursor: string;
  readonly position: number;
  readonly userId: number | undefined;
  /** Of the article or the comment. */
  readonly authorId: number | undefined;
  readonly articleId: number | undefined;
  /** Whether anybody could read the article just before or just after. */
  readonly isOpen: boolean;
  readonly articleAuthorId: number | undefined;
};

type Article = { readonly authorId: number | undefined; readonly isPublished: boolean };

/** Tells the story again from the log alone, without the code that serves it. */
export const happenedIn = (events: readonly DecodedEvent[], identity: LogIdentity): readonly Happened[] => {
  const articles = new Map<number | undefined, Article>();
  return events
    .filter(({ type }) => PUBLIC.test(type))
    .map((event) => {
      const { userId, authorId, articleId } = event.data as { userId?: number; authorId?: number; articleId?: number };
      const before = articles.get(articleId);
      const isPublished = PUBLISHED_AFTER.get(event.type) ?? before?.isPublished ?? false;
      if (event.type.startsWith('article.')) articles.set(articleId, { authorId: before?.authorId ?? authorId, isPublished });
      return {
        ...{ type: event.type, position: event.position, cursor: formatCursor(identity, event.position) },
        ...{ userId, authorId, articleId },
        isOpen: (before?.isPublished ?? false) || isPublished,
        articleAuthorId: articles.get(articleId)?.authorId,
      };
    });
};

const PUBLIC = /^(?:user\.registered|article\.|comment\.)/;
const PUBLISHED_AFTER: ReadonlyMap<string, boolean> = new Map([
  ['article.drafted', false],
  ['article.published', true],
  ['article.unpublished', false],
  ['article.deleted', false],
]);

/** Authors hear of their own articles, and of the comments on them, always; others while the article is published. */
export const mayHear = ({ role, userId }: Viewer, { type, isOpen, articleAuthorId }: Happened): boolean =>
  role === 'admin' || type.startsWith('user.') || isOpen || (role === 'author' && userId === articleAuthorId);
