import { Rejection } from '#kernel/base/rejection.ts';
import type { Command } from '#kernel/decide/decide.ts';
import { NO_STREAM, START } from '#shared/event-log/event-log.ts';
import { aggregateHandlers } from '../aggregates/handle.ts';
import type { Executor } from '../execute.ts';
import type { ExecutionContext, Sent } from '../handling/execution-context.ts';
import type { AnyHandler, HandlerDependencies } from '../handling/handler.ts';
import type { Target } from '../handling/target.ts';
import { userRules } from '../users/rules.ts';

/** A command that is decided, but not executed here: for a creation, one target for each id that it may get. */
export type Plan =
  | { readonly isCreation: false; readonly target: Target }
  | { readonly isCreation: true; readonly targetOf: (id: number) => Target };

/** Returns what a command would do: its checks run when the target decides. */
export type MakePlan = (command: Command, sent: Sent) => Promise<Plan>;

/** The handlers of all commands, with an executor that appends nothing and hands over the target. */
export const createPlanner = (dependencies: HandlerDependencies): MakePlan => {
  const plans = new WeakMap<ExecutionContext, Plan>();
  const executor: Executor = {
    look: dependencies.executor.look,
    async change(target, execution) {
      plans.set(execution, { isCreation: false, target: target as unknown as Target });
      return { version: NO_STREAM, position: START };
    },
    async create(targetOf, execution) {
      plans.set(execution, { isCreation: true, targetOf: targetOf as unknown as (id: number) => Target });
      return { id: 0, version: NO_STREAM, position: START };
    },
  };
  const rules = { user: userRules(dependencies) };
  const handlers: Readonly<Record<string, AnyHandler>> = aggregateHandlers({
    ...dependencies,
    executor,
    rules,
  });
  return async (command, sent) => {
    const handler = handlers[command.type];
    if (handler === undefined) throw new Rejection('invalid_command');
    const admission = handler.admit(sent.caller);
    if (admission !== 'allowed') throw admission;
    const execution = { ...sent.execution };
    await handler.handle(command, { ...sent, execution });
    const plan = plans.get(execution);
    if (plan === undefined) throw new Error(`${command.type} made no plan`);
    return plan;
  };
};
