import { type Caller, may } from '#shared/policy.ts';
import { articleResource } from '../articles/representation.ts';
import { readableArticles } from '../rights.ts';
import { webhookResource } from '../webhooks/representation.ts';
import type { Candidate, Part } from './candidates.ts';
import { isAuditor } from './items.ts';
import { articleParts, commentParts, DEPARTED_PARTS, removedParts, USER_PARTS, webhookParts } from './parts.ts';
import type { Past } from './past.ts';
import type { ArticleThen, CommentThen, UserThen, WebhookThen } from './present.ts';

/** What lists held then: where to look for it, and which of what was there a caller may see. */

type ArticleFilter = {
  readonly status?: string | null | undefined;
  readonly tag?: string | null | undefined;
  readonly author?: number | null | undefined;
};
type WebhookFilter = { readonly owner?: number | null | undefined; readonly enabled?: boolean | null | undefined };

type Listed<Row> = { readonly parts: readonly Part[]; look(candidate: Candidate): Promise<Row | undefined> };

/** What stood still then was in no list. */
const rowOf = async <Row>(
  past: Past,
  kind: Parameters<Past['find']>[0],
  id: number,
): Promise<(Row & { readonly id: number }) | undefined> => (await past.find(kind, id)).row as (Row & { readonly id: number }) | undefined;

/** Without an author, who stood still then, nothing of theirs was. */
const isWritten = async (past: Past, authorId: number): Promise<boolean> => (await past.find('user', authorId)).row !== undefined;

export const articlesThen = (past: Past, caller: Caller, { status, tag, author }: ArticleFilter): Listed<ArticleThen> => {
  const isAuditing = isAuditor(caller, 'article');
  const authorId = author ?? undefined;
  return {
    parts: [...articleParts(readableArticles(caller, { authorId })), ...(isAuditing ? removedParts('articles', authorId) : [])],
    async look({ id }) {
      const row = await rowOf<ArticleThen>(past, 'article', id);
      if (!row || ((status ?? null) !== null && row.status !== status)) return undefined;
      if (typeof tag === 'string' && !row.tags.includes(tag)) return undefined;
      if (!isAuditing && !may(caller, 'article.read', articleResource(row))) return undefined;
      return (await isWritten(past, row.author_id)) ? row : undefined;
    },
  };
};

export const usersThen = (past: Past, caller: Caller): Listed<UserThen> => ({
  parts: may(caller, 'user.read', {}) ? [...USER_PARTS, ...(isAuditor(caller, 'user') ? DEPARTED_PARTS : [])] : [],
  async look({ id }) {
    const row = await rowOf<UserThen>(past, 'user', id);
    return row?.deleted_at === null ? row : undefined;
  },
});

/** Whether the caller might read the comments on it is for those to ask who list them. */
export const commentsThen = (past: Past, caller: Caller, articleId: number): Listed<CommentThen> => ({
  parts: [...commentParts(articleId), ...(isAuditor(caller, 'comment') ? removedParts('comments', articleId) : [])],
  async look({ id }) {
    const row = await rowOf<CommentThen>(past, 'comment', id);
    return row && (await isWritten(past, row.author_id)) ? row : undefined;
  },
});

export const webhooksThen = (past: Past, caller: Caller, { owner, enabled }: WebhookFilter): Listed<WebhookThen> => {
  const isAuditing = isAuditor(caller, 'webhook');
  const ownerId = owner ?? undefined;
  return {
    parts: [...webhookParts(ownerId), ...(isAuditing ? removedParts('webhooks', ownerId) : [])],
    async look({ id }) {
      const row = await rowOf<WebhookThen>(past, 'webhook', id);
      if (!row || row.url === null || !may(caller, 'webhook.manage', webhookResource(row))) return undefined;
      return (enabled ?? null) === null || row.is_enabled === enabled ? row : undefined;
    },
  };
};
