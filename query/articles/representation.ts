import { type Caller, may, type Operation, type Resource } from '#shared/policy.ts';
import type { Link } from '#shared/rest/fields.ts';
import { DELETED_USER } from '#shared/rest/users.ts';

export type ArticleRow = {
  readonly id: number;
  readonly version: number;
  readonly author_id: number;
  /** Null where the author was deleted. */
  readonly author_name: string | null;
  readonly title: string;
  readonly body: string;
  readonly tags: readonly string[];
  readonly status: 'draft' | 'published';
  readonly cover: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly published_at: Date | null;
};

/** An article as one caller sees it. It says nothing of when it was projected, so that it is the same after every rebuild. */
export const representArticle = (row: ArticleRow, caller: Caller) => ({
  id: row.id,
  title: row.title,
  body: row.body,
  tags: row.tags,
  status: row.status,
  author: { id: row.author_id, name: row.author_name ?? DELETED_USER },
  cover: row.cover,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  publishedAt: row.published_at?.toISOString() ?? null,
  _links: linksOf(row, caller),
});

type ArticleFacts = Pick<ArticleRow, 'author_id' | 'status'>;

/** What rights on the article itself depend on. */
export const articleResource = ({ author_id, status }: ArticleFacts): Resource => ({ fields: { author: author_id, status } });

/** What rights to read its comments depend on. */
export const commentsResource = ({ author_id, status }: ArticleFacts): Resource => ({ find: () => ({ author: author_id, status }) });

const linksOf = (row: ArticleRow, caller: Caller): Record<string, Link> => {
  const { id, author_id, author_name, status } = row;
  const comment = commentLink(row, caller);
  const self = `/articles/${id}`;
  const mayDo = (operation: Operation) => may(caller, operation, articleResource(row));
  return {
    self: { href: self },
    ...(may(caller, 'events.read', {}) && { history: { href: `${self}/history` } }),
    ...(author_name !== null && may(caller, 'user.read', {}) && { author: { href: `/users/${author_id}` } }),
    ...(may(caller, 'comment.read', commentsResource(row)) && { comments: { href: `${self}/comments` } }),
    ...(mayDo('article.edit') && { edit: { href: self, method: 'PATCH' }, cover: { href: `${self}/cover`, method: 'PUT' } }),
    ...(row.cover !== null && mayDo('article.edit') && { uncover: { href: `${self}/cover`, method: 'DELETE' } }),
    ...(mayDo('article.delete') && { delete: { href: self, method: 'DELETE' } }),
    ...(status === 'draft' && mayDo('article.publish') && { publish: { href: `${self}/publish`, method: 'POST' } }),
    ...(status === 'published' && mayDo('article.unpublish') && { unpublish: { href: `${self}/unpublish`, method: 'POST' } }),
    ...(comment && { comment }),
  };
};

/** What is about to be is the caller's own. */
const mayComment = (caller: Caller): boolean => caller.kind === 'user' && may(caller, 'comment.add', { fields: { author: caller.userId } });
export const mayWrite = (caller: Caller): boolean =>
  caller.kind === 'user' && may(caller, 'article.draft', { fields: { author: caller.userId } });

/** Only what is published is commented on. */
export const commentLink = ({ id, status }: Pick<ArticleRow, 'id' | 'status'>, caller: Caller): Link | undefined =>
  status === 'published' && mayComment(caller) ? { href: `/articles/${id}/comments`, method: 'POST' } : undefined;
