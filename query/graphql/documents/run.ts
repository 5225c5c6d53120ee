import { GraphQLError, getVariableValues, type OperationTypeNode } from 'graphql';
import { admit, type Caller } from '#shared/policy.ts';
import type { GraphqlParameters } from '../http/parameters.ts';
import type { Variables } from '../planner/variables.ts';
import { readerOf, refusalOf } from '../rules/rights.ts';
import { costOf } from './cost.ts';
import type { Documents, Prepared, PreparedOperation } from './documents.ts';
import { beyondLimit } from './limits.ts';
import type { ResolveDocument } from './persisted.ts';

/** An operation that may run: within all limits, by a caller who is admitted to all it needs. */
export type Runnable = {
  readonly prepared: Prepared;
  readonly operation: PreparedOperation;
  /** As sent. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** After coercion, if they were checked. */
  readonly coerced?: Variables;
  readonly caller: Caller;
  readonly cost: number;
};

/** The reasons why an operation does not run; some have a status of their own. */
export class Refused extends Error {
  readonly errors: readonly GraphQLError[];
  /** The cost, if document and variables were valid. */
  readonly cost: number | undefined;

  constructor(errors: readonly GraphQLError[], cost?: number) {
    super(errors[0]?.message);
    this.name = 'Refused';
    this.errors = errors;
    this.cost = cost;
  }

  /**
   * The status of a request that is not GraphQL at all, whatever the client accepts; otherwise it depends on
   * the media type.
   */
  get status(): number | undefined {
    return this.errors[0]?.extensions.code === 'document_missing' ? 400 : undefined;
  }
}

type Options = {
  readonly documents: Documents;
  readonly resolveDocument: ResolveDocument;
  readonly introspection: boolean;
  readonly costMax: number;
};

export type Admit = (
  parameters: GraphqlParameters,
  caller: Caller,
  types: ReadonlySet<OperationTypeNode>,
) => Promise<Runnable>;

/** Every check before execution, the cheap ones first. Throws `Refused`, or the `Rejection` of the policy. */
export const createAdmit = ({ documents, resolveDocument, introspection, costMax }: Options): Admit => {
  const coerce = (
    { schema }: Prepared,
    { node }: PreparedOperation,
    variables: Runnable['variables'],
  ): Variables => {
    const { variableValues, errors } = getVariableValues(schema, node.variableDefinitions ?? [], variables, {
      maxErrors: ERRORS_MAX,
      hideSuggestions: !introspection,
    });
    if (errors) throw new Refused(errors.map(withCode));
    return variableValues;
  };
  const costIn = (
    { schema, document }: Prepared,
    { node }: PreparedOperation,
    { coerced }: Variables,
  ): number => {
    const cost = measure(() => costOf(schema, document, node, coerced));
    if (cost > costMax) throw new Refused([beyondLimit('too_costly', { max: costMax, found: cost })], cost);
    return cost;
  };
  return async (parameters, caller, types) => {
    const prepared = await prepare(documents, resolveDocument, parameters);
    const operation = operationIn(prepared, parameters.operationName);
    if (!types.has(operation.node.operation)) throw new WrongMethod(operation.node.operation);
    if (prepared.introspects && !introspection && !mayReadSchema(caller))
      throw refuse('introspection_off', INTROSPECTION_OFF);
    const refusal = refusalOf(caller, operation.rights, operation.node.operation);
    if (refusal) throw refusal;
    const { variables } = parameters;
    const coerced = coerce(prepared, operation, variables);
    const cost = costIn(prepared, operation, coerced);
    return { prepared, operation, variables, coerced, caller: readerOf(caller, operation.rights), cost };
  };
};

/** The right of tools and gateways, granted by a token only. */
const mayReadSchema = (caller: Caller): boolean => admit(caller, 'schema.read') === 'allowed';
const SCHEMA_SCOPE = 'read:schema';
const INTROSPECTION_OFF = `This installation shows its schema only to tokens with the scope ${SCHEMA_SCOPE}.`;

/** The method of the request does not allow this type of operation. */
export class WrongMethod extends Error {
  constructor(type: OperationTypeNode) {
    super(`A ${type} cannot be sent this way.`);
    this.name = 'WrongMethod';
  }
}

const ERRORS_MAX = 10;

const prepare = async (
  documents: Documents,
  resolveDocument: ResolveDocument,
  named: GraphqlParameters,
): Promise<Prepared> => {
  const text = await resolveDocument(named).catch((error: unknown) => {
    throw error instanceof GraphQLError ? new Refused([error]) : error;
  });
  const prepared = documents.prepare(text);
  if ('document' in prepared) return prepared;
  throw new Refused(prepared);
};

const operationIn = ({ operations }: Prepared, name: string | undefined): PreparedOperation => {
  const [first, ...others] = operations;
  if (name === undefined && others.length > 0)
    throw refuse('operation_not_named', 'The document has several operations: send operationName.');
  const found = name === undefined ? first : operations.find(({ node }) => node.name?.value === name);
  if (!found)
    throw refuse(
      'operation_not_found',
      name === undefined ? 'The document has no operation.' : `There is no operation ${name}.`,
    );
  return found;
};

const measure = (cost: () => number): number => {
  try {
    return cost();
  } catch (error) {
    throw error instanceof GraphQLError ? new Refused([error]) : error;
  }
};

const refuse = (code: string, message: string): Refused =>
  new Refused([new GraphQLError(message, { extensions: { code } })]);

const withCode = (error: GraphQLError): GraphQLError =>
  new GraphQLError(error.message, {
    nodes: error.nodes,
    extensions: { ...error.extensions, code: 'invalid_variables' },
  });
