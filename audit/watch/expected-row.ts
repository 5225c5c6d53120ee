import type { Table } from '#shared/read-model/change.ts';
import type { ArticleState } from '../../command/articles/article.ts';
import type { CommentState } from '../../command/comments/comment.ts';
import type { UserState } from '../../command/users/user.ts';
import type { WebhookState } from '../../command/webhooks/webhook.ts';

/** What a row must say, as far as a decider knows it; nothing where there must be no row. */
export type Expected = Readonly<Record<string, unknown>> | undefined;

/** Whom a row belongs to is asked, because what a deleted user wrote and registered goes with them. */
type IsDeparted = (userId: number) => boolean;

/** The state of a decider in the words of the read model. The events of a stream are those of its decider: the codec checks that. */
export const expectedRow = ({ name }: Pick<Table, 'name'>, state: unknown, isDeparted: IsDeparted): Expected => {
  switch (name) {
    case 'users':
      return userRow(state as UserState);
    case 'articles':
      return articleRow(state as ArticleState);
    case 'comments':
      return commentRow(state as CommentState, isDeparted);
    case 'webhooks':
      return webhookRow(state as WebhookState, isDeparted);
    default:
      throw new Error(`Nothing is known of ${name}`);
  }
};

const userRow = (state: UserState): Expected => {
  switch (state.status) {
    case 'absent':
    case 'abandoned':
      return undefined;
    case 'active':
      return { name: state.name, email: state.email, role: state.role, is_deleted: false };
    // Which role somebody had who is gone, no decision asks.
    case 'deleted':
      return { name: null, email: null, is_deleted: true };
  }
};

const articleRow = (state: ArticleState): Expected => {
  if (state.status === 'absent' || state.status === 'deleted') return undefined;
  const { status, authorId, title, body, tags, cover } = state;
  return { status, author_id: authorId, title, body, tags, cover };
};

const commentRow = (state: CommentState, isDeparted: IsDeparted): Expected => {
  if (state.status !== 'present') return undefined;
  const { articleId, authorId, text } = state;
  return { article_id: articleId, author_id: authorId, text: isDeparted(authorId) ? null : text };
};

const webhookRow = (state: WebhookState, isDeparted: IsDeparted): Expected => {
  if (state.status === 'absent' || state.status === 'deleted' || isDeparted(state.ownerId)) return undefined;
  const { filter, limits, headers, missed } = state;
  return {
    owner_id: state.ownerId,
    url: state.url,
    description: state.description,
    event_types: state.eventTypes,
    filter_article_id: filter.articleId ?? null,
    filter_author_id: filter.authorId ?? null,
    payload: state.payload,
    is_ordered: state.ordered,
    rate_per_second: limits.ratePerSecond,
    concurrency: limits.concurrency,
    header_names: Object.keys(headers ?? {}),
    scopes: state.scopes,
    is_enabled: state.status === 'enabled',
    disabled_reason: state.disabledReason,
    missed_log: missed?.since.log ?? null,
    missed_since: missed?.since.position ?? null,
    old_secrets_end_at: state.oldSecretsEnd.at(-1) ?? null,
  };
};
