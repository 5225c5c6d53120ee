import type { DecodedEvent } from '#shared/events/codec.ts';
import { ARTICLES, projectArticle } from '#shared/read-model/articles.ts';
import type { Change } from '#shared/read-model/change.ts';
import { COMMENTS, projectComment } from '#shared/read-model/comments.ts';
import { projectUser, USERS } from '#shared/read-model/users.ts';
import { projectWebhook, WEBHOOKS } from '#shared/read-model/webhooks.ts';

/** What has a stream of its own and a row in the read model. */
export type Kind = 'user' | 'article' | 'comment' | 'webhook';

type Aggregate = {
  /** The columns of its row, with their SQL types. */
  readonly columns: Readonly<Record<string, string>>;
  /** As the projector does; every event of a stream is one of its kind, which decoding has checked. */
  readonly project: (event: DecodedEvent) => Change<string>;
};

const aggregate = (table: { readonly columns: Aggregate['columns'] }, project: (event: never) => Change<never>): Aggregate => ({
  columns: table.columns,
  project: project as unknown as Aggregate['project'],
});

export const AGGREGATES: Readonly<Record<Kind, Aggregate>> = {
  user: aggregate(USERS, projectUser),
  article: aggregate(ARTICLES, projectArticle),
  comment: aggregate(COMMENTS, projectComment),
  webhook: aggregate(WEBHOOKS, projectWebhook),
};

/** A row as PostgreSQL would give it; what no event has set is null. */
export const rowOf = (kind: Kind, values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(AGGREGATES[kind].columns).map(([column, type]) => {
      const value = values[column] ?? null;
      return [column, type === 'timestamptz' && value !== null ? new Date(String(value)) : value];
    }),
  );
