import type { Table } from '#shared/read-model/change.ts';
import { article } from '../../command/articles/article.ts';
import { comment } from '../../command/comments/comment.ts';
import type { Decider } from '../../command/decider.ts';
import { user } from '../../command/users/user.ts';
import { type PresentWebhook, webhook } from '../../command/webhooks/webhook.ts';

/** A decider without its decisions, for the events of one kind of stream. */
type Folding = { readonly initial: unknown; evolve(state: unknown, event: unknown): unknown };

/** What says the same as the rows of a table, in another way. */
export const foldingOf = ({ name }: Table): Folding => {
  const folding = FOLDINGS[name];
  if (!folding) throw new Error(`Nothing folds ${name}`);
  return folding;
};

/** The table that says the same as the decider, each in its own way. A stream has events of its decider only: the codec checks that. */
const FOLDINGS: Readonly<Record<string, Folding>> = {
  users: ofDecider(user),
  articles: ofDecider(article),
  comments: ofDecider(comment),
  webhooks: { ...ofDecider(webhook), evolve: (state, event) => withoutSecrets(webhook.evolve(state as never, event as never)) },
};

function ofDecider<State, Event>({ initial, evolve }: Decider<State, never, Event>): Folding {
  return { initial, evolve: (state, event) => evolve(state as State, event as Event) };
}

/** They are nowhere in the read model, so they are put down nowhere here: no next state depends on them. */
const withoutSecrets = (state: unknown): unknown => {
  const { headers, ...present } = state as PresentWebhook;
  if (!('secret' in present)) return state;
  return { ...present, secret: null, headers: headers && Object.fromEntries(Object.keys(headers).map((name) => [name, ''])) };
};
