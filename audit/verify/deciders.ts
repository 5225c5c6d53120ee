import { type Evolve, evolveOf } from '#kernel/decide/evolve.ts';
import { ABSENT, type AggregateState, type Happened } from '#kernel/decide/state.ts';
import { wire } from '#kernel/registry/names.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import type { ProjectedTable } from '#shared/read-model/tables.ts';
import type { PresentWebhook } from '../../command/webhooks/state.ts';
import { webhook } from '../../command/webhooks/webhook.ts';

/** A decider without its decisions, for the events of one kind of stream. */
type Folding = { readonly initial: unknown; evolve(state: unknown, event: unknown): unknown };

/** What says the same as the rows of a table, in another way. A stream has events of its decider only: the codec checks that. */
export const foldingOf = ({ name, aggregate }: Pick<ProjectedTable, 'name' | 'aggregate'>): Folding => {
  const own = OWN[name];
  if (own !== undefined) return own;
  if (aggregate === undefined) throw new Error(`Nothing folds ${name}`);
  const folding = known.get(aggregate) ?? ofKind(aggregate);
  known.set(aggregate, folding);
  return folding;
};

/** Of the kernel. */
const OWN: Readonly<Record<string, Folding>> = {
  webhooks: { initial: webhook.initial, evolve: (state, event) => withoutSecrets(webhook.evolve(state as never, event as never)) },
};

/** They are nowhere in the read model, so they are put down nowhere here: no next state depends on them. */
const withoutSecrets = (state: unknown): unknown => {
  const { headers, ...present } = state as PresentWebhook;
  if (!('secret' in present)) return state;
  return { ...present, secret: null, headers: headers && Object.fromEntries(Object.keys(headers).map((name) => [name, ''])) };
};

const known = new WeakMap<Kind, Folding>();

/** With what it belonged to, as events name that, which is compared once it has ended. */
export type KindState = { readonly status: 'absent' | 'present' | 'deleted'; readonly folded: AggregateState };

const ofKind = (kind: Kind): Folding => {
  const evolve: Evolve = evolveOf(kind);
  return {
    initial: shownOf(kind, ABSENT),
    evolve: (state, event) => shownOf(kind, evolve((state as KindState).folded, event as Happened)),
  };
};

const shownOf = (kind: Kind, folded: AggregateState): KindState => ({
  status: folded.status === 'ended' ? 'deleted' : folded.status,
  ...(folded.status === 'ended' && Object.fromEntries(kind.identity.map((name) => [wire(name, kind.fields[name]), folded.fields[name]]))),
  folded,
});
