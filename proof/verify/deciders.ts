import { wire } from '#kernel/base/names.ts';
import { type Evolve, evolveOf } from '#kernel/decide/evolve.ts';
import { type FoldShare, type Share, shareFoldOf } from '#kernel/decide/shares.ts';
import { ABSENT, type AggregateState, type Happened } from '#kernel/decide/state.ts';
import type { Kind, Row } from '#kernel/registry/registry.ts';
import type { Positioned } from '#kernel/rows/shares.ts';
import type { ProjectedTable } from '#shared/read-model/tables.ts';

/** A decider without decisions, for one kind of stream. */
type Folding = { readonly initial: KindState; evolve(state: unknown, event: unknown): KindState };

const known = new WeakMap<Kind, Folding>();

/**
 * Computes the rows of a table independently of the projection. A stream contains events of its decider only,
 * which the codec checks.
 */
export const foldingOf = ({ aggregate, shares }: Pick<ProjectedTable, 'aggregate' | 'shares'>): Folding => {
  const folding = known.get(aggregate) ?? withShares(ofKind(aggregate), aggregate, shares);
  known.set(aggregate, folding);
  return folding;
};

/** Includes the owner and parent as events name them, which are compared after the end. */
export type KindState = {
  readonly status: 'absent' | 'present' | 'deleted';
  readonly folded: AggregateState;
  /** The contributions to views, by table. */
  readonly shares?: Readonly<Record<string, Share | null>>;
};

const ofKind = (kind: Kind): Folding => {
  const evolve: Evolve = evolveOf(kind);
  const conceal = concealing(kind);
  return {
    initial: shownOf(kind, ABSENT),
    evolve: (state, event) => shownOf(kind, conceal(evolve((state as KindState).folded, event as Happened))),
  };
};

const withShares = (folding: Folding, kind: Kind, tables: ProjectedTable['shares']): Folding => {
  if (tables.length === 0) return folding;
  const folds = tables.map(({ name, view, share }): readonly [string, FoldShare] => [
    name,
    shareFoldOf(kind, view, share),
  ]);
  return {
    ...folding,
    evolve(state, event) {
      const { shares = {} } = state as KindState;
      const after = folding.evolve(state, event);
      const next = folds.map(
        ([name, fold]) => [name, fold(shares[name] ?? null, event as Positioned, after.folded)] as const,
      );
      return { ...after, shares: Object.fromEntries(next) };
    },
  };
};

const shownOf = (kind: Kind, folded: AggregateState): KindState => ({
  status: folded.status === 'ended' ? 'deleted' : folded.status,
  ...(folded.status !== 'absent' &&
    Object.fromEntries(kind.identity.map((name) => [wire(name, kind.fields[name]), folded.fields[name]]))),
  folded,
});

/** The read model contains no secrets, so they are removed here: no later state depends on them. */
const concealing = ({ fields }: Kind): ((state: AggregateState) => AggregateState) => {
  const secrets = Object.entries(fields).flatMap(([name, { concealed }]) =>
    concealed === undefined ? [] : [[name, concealed] as const],
  );
  if (secrets.length === 0) return (state) => state;
  const without = (values: Row): Row => ({
    ...values,
    ...Object.fromEntries(secrets.map(([name, of]) => [name, of(values[name])])),
  });
  return (state) => (state.status === 'present' ? { ...state, fields: without(state.fields) } : state);
};
