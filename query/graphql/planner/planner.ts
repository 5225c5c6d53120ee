import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { coalesce, createPace } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { Caller, Policy } from '#shared/policy.ts';
import type { Searches } from '../../rows/searches.ts';
import { ANSWER_BYTES_MAX, beyondLimit } from '../documents/limits.ts';
import { Refused } from '../documents/run.ts';
import type { Plan } from './compile.ts';
import { mappingsOf } from './mappings.ts';
import { takeMarks } from './marks.ts';
import { HOLE } from './objects.ts';
import { OutOfPlan } from './out-of-plan.ts';
import type { Inputs } from './parameter.ts';
import { createPlans } from './plans.ts';
import { readableOf } from './readable.ts';
import { createRunner, type Run } from './statements.ts';
import { type Variables, variablesOf } from './variables.ts';

/** A valid operation, by a caller who is admitted to all it needs. */
type PlannedRead = {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  /** As sent. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** After coercion, if known. */
  readonly coerced?: Variables | undefined;
  readonly caller: Caller;
};

export type Planner = {
  /**
   * The JSON text of `data`, without errors; undefined leaves the operation to the resolvers. Throws
   * `Refused` if it is too large.
   */
  plan(read: PlannedRead): Promise<string | undefined>;
};

type PlannerOptions = {
  readonly schema: GraphQLSchema;
  readonly policy: Policy;
  readonly pool: Pool;
  readonly searches: Searches;
  readonly eventLog?: Pick<EventLog, 'namesEvents'>;
};

/** Answers whole operations with one statement each. */
export const createPlanner = ({ schema, policy, pool, searches, eventLog }: PlannerOptions): Planner => {
  const findPlan = createPlans(schema, mappingsOf(policy.domain, readableOf(policy)));
  const [answer, search] = [pool, searches.pool].map((each) => createSharedReads(createRunner(each))) as [
    Answer,
    Answer,
  ];
  const unmarked = takeMarks(policy.domain);
  return {
    async plan({ document, operation, variables: given, coerced, caller }) {
      const variables = coerced ?? variablesOf(schema, operation, given);
      const plan = variables && findPlan(document, operation, variables);
      const inputs =
        plan && inputsOf(plan, { variables, caller, namesEvents: eventLog?.namesEvents?.() !== false });
      if (!inputs) return undefined;
      for (const text of inputs.searches) if (!(await searches.isAnswerable(text))) return undefined;
      const data = await (inputs.searches.length > 0 ? search : answer)(plan, inputs.values);
      if (data === null) throw new Refused([beyondLimit('answer_too_large', { max: ANSWER_BYTES_MAX })]);
      return data === undefined || data.includes(HOLE) ? undefined : unmarked(data);
    },
  };
};

type PlanInputs = { readonly values: readonly unknown[]; readonly searches: readonly string[] };

/** The values of one run; undefined if the resolvers must refuse one. */
type RunFacts = Omit<Inputs, 'argumentValues'> & { readonly variables: Variables };

const inputsOf = (plan: Plan, { variables, ...facts }: RunFacts): PlanInputs | undefined => {
  const inputs: Inputs = { ...facts, argumentValues: plan.fields.map(({ read }) => read(variables)) };
  try {
    const unused = plan.unused.map(({ read }) => read(inputs));
    const values = plan.parameters.map(({ read }) => read(inputs));
    const isSearch = [...plan.unused, ...plan.parameters].map((parameter) => parameter.isSearch === true);
    return { values, searches: [...unused, ...values].filter((_, index) => isSearch[index]).map(String) };
  } catch (error) {
    if (error instanceof OutOfPlan) return undefined;
    throw error;
  }
};

/** Null means that the answer is too large. */
type Answer = (plan: Plan, values: readonly unknown[]) => Promise<string | null | undefined>;

type Id = number | null;

/**
 * Merges reads that come while another of the same plan and values runs: equal reads share its answer, and
 * point reads that differ only by id share one statement.
 */
const createSharedReads = (run: Run): Answer => {
  const pace = createPace();
  const running = new Map<
    string,
    { readonly read: (id: Id) => Promise<string | null | undefined>; readers: number }
  >();
  return async (plan, values) => {
    const id = plan.idsIndex === undefined ? null : (values[plan.idsIndex] as Id);
    const others = plan.idsIndex === undefined ? values : values.with(plan.idsIndex, null);
    const key = JSON.stringify([plan.name, ...others]);
    const shared = running.get(key) ?? {
      read: coalesce((ids: readonly Id[]) => readAll(run, plan, others, ids), { pace }),
      readers: 0,
    };
    running.set(key, shared);
    shared.readers += 1;
    try {
      return await shared.read(id);
    } finally {
      shared.readers -= 1;
      if (shared.readers === 0) running.delete(key);
    }
  };
};

/**
 * The answers by id. Empty while anything is parked, because only the resolvers know whether it matters.
 */
const readAll = async (
  run: Run,
  plan: Plan,
  values: readonly unknown[],
  ids: readonly Id[],
): Promise<ReadonlyMap<Id, string | null>> => {
  const rows = await run(plan, plan.idsIndex === undefined ? values : values.with(plan.idsIndex, ids));
  return new Map(
    rows.flatMap(([data, isParked, id = null]) => (isParked ? [] : [[id as Id, data as string | null]])),
  );
};
