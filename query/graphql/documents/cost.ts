// Over 200 lines, because it is one computation: the cost of an operation.
import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { GROUPS_DEFAULT, GROUPS_MAX } from '#kernel/rest/aggregates.ts';
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, refusedSize } from '../rules/list-limits.ts';
import { PROOF_OF_ITEM } from '../schema/domain-sdl.ts';
import { GROUP_BY } from '../schema/sdl-aggregates.ts';
import { fragmentsOf } from './measure.ts';

type Variables = Readonly<Record<string, unknown>>;

/** An object costs 1, a scalar nothing, and a list its size times the cost of an item. */
export const COSTS = {
  object: 1,
  /** The cost of a REST request, so that many mutations in one request are not cheaper than many requests. */
  mutation: 50,
  /** The surcharge of a search over REST. */
  search: 200,
  /** Time travel reads each item from the log. That reading is charged as well, as it happens. */
  snapshot: 50,
  /** Counting reads every row. */
  totalCount: 25,
  /** An aggregate reads every row too; the cost of a REST request for groups. */
  aggregate: 250,
  /** A proof reads each event, and the tree. The reading of an item is charged as well, as it happens. */
  proof: 50,
} as const;

/** Fields of the domain may have these names too. */
const costOfOurs = (type: GraphQLNamedType, field: GraphQLField<unknown, unknown>): number => {
  const { name, description } = field;
  if (isAggregate(field)) return COSTS.aggregate;
  if (name === 'totalCount' && type.name.endsWith('Connection')) return COSTS.totalCount;
  const isProof = name === 'proof' && (type.name === 'HistoryEntry' || description === PROOF_OF_ITEM);
  return isProof ? COSTS.proof : 0;
};

/** A field of another service may have an argument `groupBy` too. */
const isAggregate = ({ type, args }: GraphQLField<unknown, unknown>): boolean =>
  args.some((each) => {
    const { name, description } = getNamedType(each.type);
    return (
      each.name === 'groupBy' && name === `${getNamedType(type).name}GroupBy` && description === GROUP_BY
    );
  });

/**
 * The cost of an operation with these variables, which `@skip` and `@include` may depend on too. An object
 * that several fragments ask for counts several times. Throws if a list is longer than the maximum.
 */
export const costOf = (
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): number => {
  const root = schema.getRootType(operation.operation);
  if (!root) return 0;
  const costBy = (given: Variables): number =>
    createCost(schema, document, given)(operation.selectionSet, root, 1);
  const known = costs.get(operation);
  if (known !== undefined) return known === VARIES ? costBy(variables) : known;
  let varies = false;
  const get = (values: Variables, name: string): unknown => {
    varies = true;
    return values[name];
  };
  const cost = costBy(new Proxy(variables, { get }));
  costs.set(operation, varies ? VARIES : cost);
  return cost;
};

/** The cost of each measured operation, or `VARIES` if it depends on variables. */
const costs = new WeakMap<OperationDefinitionNode, number | typeof VARIES>();
const VARIES = 'varies';

/** `size` is the number of items in the connection whose edges or nodes these may be. */
type Cost = (set: SelectionSetNode, type: GraphQLNamedType, size: number) => number;

const createCost = (schema: GraphQLSchema, document: DocumentNode, variables: Variables): Cost => {
  const fragments = fragmentsOf(document);
  // By fragment and size, so that each is counted once, however often it is spread.
  const known = new Map<string, number>();
  const costOfFragment = (name: string, size: number): number => {
    const key = `${name} ${size}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const fragment = fragments.get(name);
    const type = fragment && schema.getType(fragment.typeCondition.name.value);
    const cost = fragment && type ? within(fragment.selectionSet, type, size) : 0;
    known.set(key, cost);
    return cost;
  };
  const costOfField = (node: FieldNode, type: GraphQLNamedType, size: number): number => {
    const field = fieldOf(type, node.name.value);
    // Validation limits introspection.
    if (!field) return 0;
    const named = getNamedType(field.type);
    const own =
      type === schema.getMutationType()
        ? COSTS.mutation
        : costOfOurs(type, field) +
          (isSearch(node, variables) ? COSTS.search : 0) +
          (isAsOf(node, variables) ? COSTS.snapshot : 0);
    if (!isCompositeType(named) || !node.selectionSet) return own;
    const asked = sizeOf(field, node, variables);
    const isPartOfConnection =
      field.name === 'edges' ||
      field.name === 'nodes' ||
      (field.name === 'groups' && named.name === `${type.name}Group`);
    const isConnection = named.name.endsWith('Connection') || isAggregate(field);
    const times = isConnection ? 1 : isPartOfConnection ? size : (asked ?? 1);
    return (
      own +
      times *
        (COSTS.object + within(node.selectionSet, named, isConnection ? (asked ?? LIST_LIMIT_DEFAULT) : 1))
    );
  };
  const costOfSelection = (selection: SelectionNode, type: GraphQLNamedType, size: number): number => {
    switch (selection.kind) {
      case Kind.FIELD:
        return costOfField(selection, type, size);
      case Kind.INLINE_FRAGMENT: {
        const condition = selection.typeCondition && schema.getType(selection.typeCondition.name.value);
        return within(selection.selectionSet, condition ?? type, size);
      }
      case Kind.FRAGMENT_SPREAD:
        return costOfFragment(selection.name.value, size);
    }
  };
  const within: Cost = (set, type, size) =>
    set.selections
      .filter((selection) => isIncluded(selection, variables))
      .reduce((sum, selection) => sum + costOfSelection(selection, type, size), 0);
  return within;
};

const fieldOf = (type: GraphQLNamedType, name: string): GraphQLField<unknown, unknown> | undefined =>
  isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;

const SIZES = ['limit', 'first', 'last'];

/** The maximal length of a list, or undefined if the field takes no size. */
const sizeOf = (
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: Variables,
): number | undefined => {
  if (field.name === '_entities') return lengthOf(node, variables);
  if (isAggregate(field)) return groupsIn(node, variables);
  const names = field.args.map(({ name }) => name).filter((name) => SIZES.includes(name));
  // A list of another service without a size is assumed to have our default.
  if (names.length === 0) return isListType(getNullableType(field.type)) ? LIST_LIMIT_DEFAULT : undefined;
  const asked = (node.arguments ?? [])
    .filter(({ name }) => names.includes(name.value))
    .map((argument) => countOf(argument, variables));
  const sizes = asked.filter((size) => size !== undefined);
  for (const size of sizes) if (size < 0 || size > LIST_LIMIT_MAX) throw outOfRange(node, size);
  return sizes.length > 0 ? Math.max(...sizes) : LIST_LIMIT_DEFAULT;
};

/** As many groups as are asked for; a number out of range is refused later. */
const groupsIn = ({ arguments: given = [] }: FieldNode, variables: Variables): number => {
  const limit = given.find(({ name }) => name.value === 'limit');
  const asked = (limit && countOf(limit, variables)) ?? GROUPS_DEFAULT;
  return Math.min(Math.max(asked, 0), GROUPS_MAX);
};

const outOfRange = (node: FieldNode, size: number): GraphQLError =>
  new GraphQLError(refusedSize(size), {
    nodes: [node],
    extensions: { code: 'limit_out_of_range', max: LIST_LIMIT_MAX },
  });

/** As many entities as there are representations. */
const lengthOf = (node: FieldNode, variables: Variables): number => {
  const value = node.arguments?.[0]?.value;
  const given =
    value?.kind === Kind.LIST
      ? value.values
      : value?.kind === Kind.VARIABLE
        ? variables[value.name.value]
        : undefined;
  return Array.isArray(given) ? given.length : 1;
};

const isSearch = ({ arguments: given = [] }: FieldNode, variables: Variables): boolean => {
  const value = given.find(({ name }) => name.value === 'filter')?.value;
  if (value?.kind === Kind.VARIABLE)
    return isGiven((variables[value.name.value] as Variables | null | undefined)?.search);
  const search =
    value?.kind === Kind.OBJECT ? value.fields.find(({ name }) => name.value === 'search')?.value : undefined;
  return search?.kind === Kind.VARIABLE
    ? isGiven(variables[search.name.value])
    : search !== undefined && search.kind !== Kind.NULL;
};

/** True if the field has an argument `at`. */
const isAsOf = ({ arguments: given = [] }: FieldNode, variables: Variables): boolean => {
  const value = given.find(({ name }) => name.value === 'at')?.value;
  return value?.kind === Kind.VARIABLE
    ? isGiven(variables[value.name.value])
    : value !== undefined && value.kind !== Kind.NULL;
};

const isGiven = (value: unknown): boolean => (value ?? null) !== null;

const countOf = ({ value }: ArgumentNode, variables: Variables): number | undefined => {
  if (value.kind === Kind.INT) return Number(value.value);
  if (value.kind !== Kind.VARIABLE) return undefined;
  const given = variables[value.name.value];
  return typeof given === 'number' ? given : undefined;
};

type Directed = Pick<FieldNode, 'directives'>;

const isIncluded = ({ directives = [] }: Directed, variables: Variables): boolean =>
  directives.every(({ name, arguments: given = [] }) => {
    if (name.value !== 'skip' && name.value !== 'include') return true;
    const condition = given.find((argument) => argument.name.value === 'if')?.value;
    const holds =
      condition?.kind === Kind.BOOLEAN
        ? condition.value
        : condition?.kind === Kind.VARIABLE && variables[condition.name.value] === true;
    return holds === (name.value === 'include');
  });
