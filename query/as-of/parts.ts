import type { ArticlePart } from '../rights.ts';
import type { Part } from './candidates.ts';

/** What lists are looked for in: what is there now, and what is not any more. */

export const articleParts = (parts: readonly ArticlePart[]): readonly Part[] =>
  parts.map(({ status, authorId }) => (parameters) => ({
    table: 'articles',
    // As it stands, because some indexes are of one status only.
    conditions: [`t.status = '${status}'`, ...(authorId === undefined ? [] : [`t.author_id = ${parameters.add(authorId)}::bigint`])],
  }));

export const USER_PARTS: readonly Part[] = [() => ({ table: 'users', conditions: ['t.deleted_at is null'] })];
export const DEPARTED_PARTS: readonly Part[] = [() => ({ table: 'users', isRemoved: true, conditions: ['t.deleted_at is not null'] })];

export const commentParts = (articleId: number): readonly Part[] => [
  (parameters) => ({ table: 'comments', conditions: [`t.article_id = ${parameters.add(articleId)}::bigint`] }),
];

export const webhookParts = (ownerId: number | undefined): readonly Part[] => [
  (parameters) => ({ table: 'webhooks', conditions: ownerId === undefined ? [] : [`t.owner_id = ${parameters.add(ownerId)}::bigint`] }),
];

export const removedParts = (kind: 'articles' | 'comments' | 'webhooks', parentId: number | undefined): readonly Part[] => [
  (parameters) => ({
    table: 'removed',
    isRemoved: true,
    conditions: [`t.kind = '${kind}'`, ...(parentId === undefined ? [] : [`t.parent_id = ${parameters.add(parentId)}::bigint`])],
  }),
];
