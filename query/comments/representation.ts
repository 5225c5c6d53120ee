import { type Caller, may, type Resource } from '#shared/policy.ts';
import type { Link } from '#shared/rest/fields.ts';
import { DELETED_USER } from '#shared/rest/users.ts';

export type CommentRow = {
  readonly id: number;
  readonly version: number;
  readonly article_id: number;
  readonly author_id: number;
  /** Null where the author was deleted, and then the text is too. */
  readonly author_name: string | null;
  readonly text: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
};

/** What stands for the text that went with its author. */
const ERASED_TEXT = '[deleted]';

/** Where a comment stands, as far as rights depend on it. */
export type CommentPlace = { readonly article_author_id: number; readonly article_status: 'draft' | 'published' };

export const representComment = (row: CommentRow & CommentPlace, caller: Caller) => ({
  id: row.id,
  articleId: row.article_id,
  author: { id: row.author_id, name: row.author_name ?? DELETED_USER },
  text: row.text ?? ERASED_TEXT,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  _links: linksOf(row, caller),
});

export const commentResource = (row: Pick<CommentRow, 'author_id'> & CommentPlace): Resource => ({
  fields: { author: row.author_id },
  find: () => ({ author: row.article_author_id, status: row.article_status }),
});

const linksOf = (row: CommentRow & CommentPlace, caller: Caller): Record<string, Link> => {
  const self = `/comments/${row.id}`;
  const resource = commentResource(row);
  const article: Resource = { fields: { author: row.article_author_id, status: row.article_status } };
  return {
    self: { href: self },
    ...(may(caller, 'events.read', {}) && { history: { href: `${self}/history` } }),
    ...(may(caller, 'article.read', article) && { article: { href: `/articles/${row.article_id}` } }),
    ...(row.author_name !== null && may(caller, 'user.read', {}) && { author: { href: `/users/${row.author_id}` } }),
    // What was erased with its author cannot be written anew.
    ...(row.text !== null && may(caller, 'comment.edit', resource) && { edit: { href: self, method: 'PATCH' } }),
    ...(may(caller, 'comment.delete', resource) && { delete: { href: self, method: 'DELETE' } }),
  };
};
