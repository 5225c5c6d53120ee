import { wire } from '#kernel/base/names.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { aggregateOf, alsoOf, isEventOf } from '#kernel/decide/elsewhere.ts';
import type { Look } from '#kernel/decide/guards.ts';
import { isOfHold } from '#kernel/decide/holds.ts';
import { referencesAfter } from '#kernel/decide/reads.ts';
import type { AggregateState, Happened } from '#kernel/decide/state.ts';
import type { CommandInfo, Domain, Kind, Row } from '#kernel/registry/registry.ts';
import type { Caller } from '#shared/policy.ts';
import type { Known } from '../decider.ts';
import type { Decision, Other } from '../execute.ts';
import type { Sent } from '../handling/execution-context.ts';
import { preparing, readsIn, streamOf, toEvents } from '../handling/target.ts';
import type { States } from '../states.ts';
import type { DemandReferences, Named } from './demand-references.ts';
import type { Limits } from './limits.ts';
import type { Seen } from './read-references.ts';

type Dependencies = {
  readonly domain: Domain;
  readonly readTarget: ReadTarget;
  readonly limits: Limits;
  readonly demandReferences: DemandReferences;
};

/** Reads an aggregate that a decision asks about. */
export type ReadTarget = (
  kind: Kind,
  id: number,
) => Promise<Pick<Known<AggregateState>, 'state' | 'version'>>;

export const targetReader =
  (domain: Domain, states: States): ReadTarget =>
  (kind, id) =>
    states.load<AggregateState, never>(deciderOf(domain, kind), streamOf(kind, id));

type Deciding = {
  /** The fields before the command, and the form. */
  readonly fields: Row;
  readonly form: Row;
  readonly seen: Seen;
  readonly caller: Caller;
  decide(look: Look): readonly Happened[];
};

/** The events of the command’s own aggregate, and what else the decision reads and changes. */
type Decided = Omit<Decision<never>, 'events'> & { readonly happened: readonly Happened[] };

/** Decides a command that may change several aggregates. */
type Several = (deciding: Deciding) => Promise<Decided>;

type Of = {
  readonly kind: Kind;
  readonly command: CommandInfo;
  readonly metadata: Sent['execution']['metadata'];
};

export const severalOf = (dependencies: Dependencies, { kind, command, metadata }: Of): Several => {
  const { domain, limits, demandReferences } = dependencies;
  const references = alsoOf(kind, command);
  if (references.length === 0)
    return async ({ decide, seen: { look, fence } }) => ({ happened: decide(look), reads: readsIn(fence) });
  return async (deciding) => {
    const { fields, form, caller } = deciding;
    const { events, look, fence } = await decideReading(dependencies, deciding);
    const own = events.filter(isEventOf(kind, fields.id));
    const byStream = Map.groupBy(
      events.filter((event) => !own.includes(event)),
      (event) => {
        const { kind: target, id } = aggregateOf(domain, event);
        return streamOf(target, id);
      },
    );
    const after = referencesAfter(kind, fields, command.list === undefined ? form : {});
    const others: (Other & { readonly named: Named })[] = [];
    for (const [stream, its] of byStream) {
      const [first] = its;
      const version = fence.get(stream);
      if (first === undefined || version === undefined)
        throw new Error(`${stream} is to change, but was not read`);
      const { kind: target, id } = aggregateOf(domain, first);
      const reference = references.find((each) => after[each] === id) ?? '';
      const named = { key: wire(reference, kind.fields[reference]), target, id };
      const state = look(target.name, id);
      const before = state.status === 'present' ? state.fields : {};
      await demandReferences.inEvents(its, { form: {}, fields: before });
      const prepare = limits.announce(target, id, metadata);
      others.push({
        ...{ decider: deciderOf(domain, target), stream, version, named },
        ...{ events: toEvents(its), ...preparing(prepare) },
      });
    }
    if (!isOfHold(kind, command))
      await demandReferences.ofOthers(
        others.map(({ named }) => named),
        caller,
      );
    return { happened: own, reads: readsIn(fence), others };
  };
};

/** References behind each other that the invariants of changed aggregates may ask about. */
const ROUNDS_MAX = 20;

/**
 * Decides, reads the aggregates that the invariants of the others ask about, and decides again with them:
 * a decision is pure. All of them are fenced.
 */
const decideReading = async (
  { domain, readTarget }: Dependencies,
  { seen, decide }: Deciding,
): Promise<Seen & { readonly events: readonly Happened[] }> => {
  const read = new Map<string, AggregateState>();
  const fence = new Map(seen.fence);
  for (let round = 0; ; round += 1) {
    const missing = new Map<string, readonly [Kind, number]>();
    const look: Look = (name, id) => {
      const state = read.get(`${name} ${id}`) ?? seen.look(name, id);
      const kind = domain.kinds[name];
      if (state.status === 'absent' && !read.has(`${name} ${id}`) && kind && typeof id === 'number')
        missing.set(`${name} ${id}`, [kind, id]);
      return state;
    };
    const decided = attempt(() => decide(look));
    if (missing.size === 0 || round >= ROUNDS_MAX) {
      if ('error' in decided) throw decided.error;
      return { events: decided.result, look, fence };
    }
    for (const [place, [kind, id]] of missing) {
      const stream = streamOf(kind, id);
      const { state, version } = await readTarget(kind, id);
      if (!fence.has(stream)) fence.set(stream, version);
      read.set(place, state);
    }
  }
};

type Attempt<Result> = { readonly result: Result } | { readonly error: unknown };

const attempt = <Result>(run: () => Result): Attempt<Result> => {
  try {
    return { result: run() };
  } catch (error) {
    return { error };
  }
};
