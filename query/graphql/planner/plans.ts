import { type DocumentNode, GraphQLError, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { oncePer } from '#kernel/base/once-per.ts';
import { bytesOfDocument } from '../documents/document-size.ts';
import { compile, type Plan } from './compile.ts';
import type { Mappings } from './mappings.ts';
import { OutOfPlan } from './out-of-plan.ts';
import { shapeOf, type Variables } from './variables.ts';

/**
 * The approximate size of a plan, without the text of its statement and the document that its nodes keep
 * alive.
 */
const BYTES_PER_PLAN = 2_000;
const CACHE_BYTES = 32 * 1024 * 1024;

type FindPlan = (
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
) => Plan | undefined;

/**
 * One cache for the plans of all operations, one per shape of variables: a short document can have many
 * shapes, each with a long plan.
 */
export const createPlans = (
  schema: GraphQLSchema,
  mappings: Mappings,
  bytesMax: number = CACHE_BYTES,
): FindPlan => {
  const numbers = createNumbers();
  const plans = new LRUCache<string, { readonly plan: Plan | undefined; readonly bytes: number }>({
    maxSize: bytesMax,
    sizeCalculation: ({ bytes }) => bytes,
  });
  return (document, operation, variables) => {
    const key = `${numbers(operation)} ${shapeOf(schema, operation, variables)}`;
    const known = plans.get(key);
    if (known) return known.plan;
    const plan = compileIfCovered({ schema, mappings, document, operation }, variables);
    const bytes =
      BYTES_PER_PLAN + key.length + (plan ? plan.text.length + bytesOfDocument(document.loc?.end ?? 0) : 0);
    plans.set(key, { plan, bytes });
    return plan;
  };
};

/** Numbers operations without keeping them alive. */
const createNumbers = (): ((operation: OperationDefinitionNode) => number) => {
  let last = 0;
  return oncePer(() => {
    last += 1;
    return last;
  });
};

const compileIfCovered = (
  compiled: Parameters<typeof compile>[0],
  variables: Variables,
): Plan | undefined => {
  try {
    return compile(compiled, variables);
  } catch (error) {
    // A GraphQLError means null for a non-null argument, from a variable with a default: the resolvers report
    // the field.
    if (error instanceof OutOfPlan || error instanceof GraphQLError) return undefined;
    throw error;
  }
};
