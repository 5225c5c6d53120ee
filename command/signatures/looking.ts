import type { Version } from '#kernel/base/brands.ts';
import type { AggregateState } from '#kernel/decide/state.ts';
import { NO_STREAM, START } from '#shared/event-log/event-log.ts';
import type { Executor } from '../execute.ts';
import type { ExecutionContext } from '../handling/execution-context.ts';
import type { Target } from '../handling/target.ts';

/** The effect that a command would have, without having it. */
export type Looked = {
  /** Undefined for a creation. */
  readonly stream: string | undefined;
  readonly version: Version;
  readonly state: AggregateState;
  readonly isNothing: boolean;
};

/** An executor that decides, refuses, and appends nothing; it keeps what it has seen by the execution. */
export const createLookingExecutor = (
  executor: Pick<Executor, 'look'>,
): { readonly executor: Executor; seen(execution: ExecutionContext): Looked | undefined } => {
  const all = new WeakMap<ExecutionContext, Looked>();
  const looking: Executor = {
    look: executor.look,
    async change(target, execution) {
      const { basis, decision } = await executor.look(target, execution);
      const { version, position } = basis;
      all.set(execution, {
        ...{ stream: target.stream, version, state: basis.state as AggregateState },
        isNothing: decision.events.length === 0,
      });
      return { version, position };
    },
    async create(targetOf, execution) {
      const id = execution.ids.aggregate(0);
      const target = targetOf(id) as unknown as Target;
      const { initial } = target.decider;
      await target.decide(initial);
      all.set(execution, { stream: undefined, version: NO_STREAM, state: initial, isNothing: false });
      return { id, version: NO_STREAM, position: START };
    },
  };
  return { executor: looking, seen: (execution) => all.get(execution) };
};
