import { type Caller, may, type Resource } from '#shared/policy.ts';
import type { Link } from '#shared/rest/fields.ts';
import { DELETED_USER } from '#shared/rest/users.ts';
import { type ArticleRow, articleResource, representArticle } from '../articles/representation.ts';
import { type CommentPlace, type CommentRow, commentResource, representComment } from '../comments/representation.ts';
import { representUser, type UserRow, userResource } from '../users/representation.ts';
import { representWebhook, type WebhookRow, webhookResource } from '../webhooks/representation.ts';
import type { Kind } from './aggregates.ts';
import type { Past } from './past.ts';

/** Something as it was, in the form that it has now. */
type Shown = {
  readonly version: number | undefined;
  readonly item: { readonly _links: Readonly<Record<string, Link>> };
  /** What the right to read it depended on. */
  readonly resource: Resource;
};

type Row = Readonly<Record<string, unknown>>;

/** Makes of the row that something had what was shown of it; of some, nothing was, though they had one. */
export type Present = (past: Past, row: Row, caller: Caller) => Promise<Shown | undefined>;

/** The person is null of those who were deleted, then or later. */
export type UserThen = Omit<UserRow, 'name'> & { readonly name: string | null; readonly deleted_at: Date | null };
export type ArticleThen = Omit<ArticleRow, 'author_name'>;
export type WebhookThen = Omit<WebhookRow, 'url'> & { readonly url: string | null };
type CommentThen = Omit<CommentRow, 'author_name'>;

const presentUser: Present = async (_past, row, caller) => {
  const user = row as UserThen;
  if (user.deleted_at !== null) return undefined;
  const resource = userResource({ ...user, name: '' });
  const version = may(caller, 'user.read_private', resource) ? user.version : undefined;
  return { version, item: representUser({ ...user, name: user.name ?? DELETED_USER }, caller), resource };
};

const nameThen = async (past: Past, userId: number): Promise<string | null> => (await past.row<UserThen>('user', userId))?.name ?? null;

const presentArticle: Present = async (past, row, caller) => {
  const article = row as ArticleThen;
  const named = { ...article, author_name: await nameThen(past, article.author_id) };
  return { version: article.version, item: representArticle(named, caller), resource: articleResource(article) };
};

const presentComment: Present = async (past, row, caller) => {
  const comment = row as CommentThen;
  const article = await past.row<ArticleThen>('article', comment.article_id);
  // Without its article it was about to go too.
  if (article === undefined) return undefined;
  const place: CommentPlace = { article_author_id: article.author_id, article_status: article.status };
  const placed = { ...comment, ...place, author_name: await nameThen(past, comment.author_id) };
  return { version: comment.version, item: representComment(placed, caller), resource: commentResource(placed) };
};

const presentWebhook: Present = async ({ identity }, row, caller) => {
  const { url, ...rest } = row as WebhookThen;
  if (url === null) return undefined;
  const webhook: WebhookRow = { ...rest, url };
  return { version: webhook.version, item: representWebhook(webhook, { caller, identity }), resource: webhookResource(webhook) };
};

const PRESENT: Readonly<Record<Kind, Present>> = {
  user: presentUser,
  article: presentArticle,
  comment: presentComment,
  webhook: presentWebhook,
};

export const demandPresent = (kind: Kind): Present => {
  const present = PRESENT[kind];
  if (!present) throw new RangeError(`Nothing says how a ${kind} is shown`);
  return present;
};
