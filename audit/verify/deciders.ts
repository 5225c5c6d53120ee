import { article } from '../../command/articles/article.ts';
import { comment } from '../../command/comments/comment.ts';
import type { Decider } from '../../command/decider.ts';
import { user } from '../../command/users/user.ts';
import { type PresentWebhook, webhook } from '../../command/webhooks/webhook.ts';
import type { TableName } from '../../projector/aggregates.ts';

/** A decider without its decisions, for the events of one kind of stream. */
type Folding = { readonly initial: unknown; evolve(state: unknown, event: unknown): unknown };

/** The table that says the same as the decider, each in its own way. A stream has events of its decider only: the codec checks that. */
export const FOLDINGS: Readonly<Record<TableName, Folding>> = {
  users: foldingOf(user),
  articles: foldingOf(article),
  comments: foldingOf(comment),
  webhooks: { ...foldingOf(webhook), evolve: (state, event) => withoutSecrets(webhook.evolve(state as never, event as never)) },
};

function foldingOf<State, Event>({ initial, evolve }: Decider<State, never, Event>): Folding {
  return { initial, evolve: (state, event) => evolve(state as State, event as Event) };
}

/** They are nowhere in the read model, so they are put down nowhere here: no next state depends on them. */
const withoutSecrets = (state: unknown): unknown => {
  const { headers, ...present } = state as PresentWebhook;
  if (!('secret' in present)) return state;
  return { ...present, secret: null, headers: headers && Object.fromEntries(Object.keys(headers).map((name) => [name, ''])) };
};
