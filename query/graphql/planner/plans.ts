import { type DocumentNode, GraphQLError, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { compile, type Plan } from './compile.ts';
import { OutOfPlan } from './out-of-plan.ts';
import { shapeOf, type Variables } from './variables.ts';

/** Plans of one operation: one for each shape of variables that it is run with. */
const PLANS_PER_OPERATION_MAX = 32;

export type FindPlan = (document: DocumentNode, operation: OperationDefinitionNode, variables: Variables) => Plan | undefined;

/** Plans live as long as the operation that they are of, and so in the bounds of the cache of documents. */
export const createPlans = (schema: GraphQLSchema): FindPlan => {
  const plans = new WeakMap<OperationDefinitionNode, LRUCache<string, { readonly plan: Plan | undefined }>>();
  return (document, operation, variables) => {
    const ofOperation = plans.get(operation) ?? new LRUCache({ max: PLANS_PER_OPERATION_MAX });
    plans.set(operation, ofOperation);
    const shape = shapeOf(schema, operation, variables);
    const known = ofOperation.get(shape);
    if (known) return known.plan;
    const plan = compileIfCovered({ schema, document, operation }, variables);
    ofOperation.set(shape, { plan });
    return plan;
  };
};

const compileIfCovered = (compiled: Parameters<typeof compile>[0], variables: Variables): Plan | undefined => {
  try {
    return compile(compiled, variables);
  } catch (error) {
    // The latter is a null where there may be none, given by a variable that has a default: the resolvers say which field it fails.
    if (error instanceof OutOfPlan || error instanceof GraphQLError) return undefined;
    throw error;
  }
};
