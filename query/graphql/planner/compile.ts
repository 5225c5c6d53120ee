import { createHash } from 'node:crypto';
import {
  type DocumentNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isObjectType,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { pathId } from '#kernel/base/rest/path-id.ts';
import { PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { ANSWER_BYTES_MAX } from '../documents/limits.ts';
import { type FieldWithArguments, keepArguments } from './arguments.ts';
import { concatenated, objectJson, type Pieces } from './json.ts';
import type { Mapping } from './mapping.ts';
import { BY_ID, type Mappings } from './mappings.ts';
import { type Context, fieldOf, HOLE, mappingOf, oneOf, relatedOf } from './objects.ts';
import { OutOfPlan } from './out-of-plan.ts';
import type { Parameter } from './parameter.ts';
import { collectBy, type Selected } from './selections.ts';
import { joined, literal, parameter, render, Sql, sql } from './sql.ts';
import type { Variables } from './variables.ts';

/** One statement that answers an operation for every caller, and for all variables of one shape. */
export type Plan = {
  readonly name: string;
  /**
   * The statement selects the JSON text of `data` (null if that is too large), whether anything is parked and,
   * in the plan of a point read, the id of the row.
   */
  readonly text: string;
  readonly parameters: readonly Parameter[];
  /** Arguments that the statement does not use, but that may have to be refused. */
  readonly unused: readonly Parameter[];
  /** The parameter with the ids of many requests, in the plan of a point read. */
  readonly idsIndex: number | undefined;
  /** True if PostgreSQL should plan for the values of each run, instead of once for all. */
  readonly needsCustomPlan: boolean;
  readonly fields: readonly FieldWithArguments[];
};

type Compiled = {
  readonly schema: GraphQLSchema;
  readonly mappings: Mappings;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
};

/** Compiles the plan of an operation, or throws `OutOfPlan`. */
export const compile = ({ schema, mappings, document, operation }: Compiled, variables: Variables): Plan => {
  const query = schema.getQueryType();
  if (operation.operation !== OperationTypeNode.QUERY || !query) throw new OutOfPlan('not a query');
  const { fields, parameters: made, argumentsOf } = keepArguments(variables);
  const collect = collectBy(schema, document, variables);
  const context: Context = { mappings, collect, argumentsOf, newRow: createNewRow() };
  const selected = collect(query, [operation.selectionSet]);
  const point = pointOf(mappings, selected);
  const root = (member: Selected): Pieces =>
    rootOf({ context, schema, query, isPoint: member === point }, member);
  const data = concatenated(objectJson(selected.map((member) => [member.key, root(member)])));
  const parked = sql`exists (select from read_model.parked)`;
  const ids =
    point && context.argumentsOf(fieldOf(query, point), point.nodes[0]).value('bigint[]', idArgument);
  const answer = boundedAnswer(data);
  const statement = ids
    ? sql`select ${answer}, ${parked}, ${POINT_ID} from unnest(${ids}) as point (id)`
    : sql`select ${answer}, ${parked}`;
  const { text, parameters } = render(statement);
  const idsIndex = point && parameters.findIndex(({ type }) => type === 'bigint[]');
  const unused = made.filter((parameter) => !parameters.includes(parameter));
  const needsCustomPlan = parameters.some(({ isDecisive }) => isDecisive);
  return { name: nameOf(text), text, parameters, unused, idsIndex, needsCustomPlan, fields };
};

/**
 * Fragments can make a long statement from a short document. Behind a list of no items they cost nothing, but
 * planning a thousand rows takes seconds and nearly a gigabyte. The resolvers never reach the contents of an
 * empty list.
 */
const ROWS_MAX = 100;

const createNewRow = (): Context['newRow'] => {
  let rows = 0;
  return (letter: Mapping['letter']) => {
    if (rows >= ROWS_MAX) throw new OutOfPlan(`more than ${ROWS_MAX} rows`);
    return Sql.alias(letter, rows++);
  };
};

/**
 * An answer that is too large never leaves the database. `offset 0` keeps PostgreSQL from computing the
 * answer once per reference.
 */
const boundedAnswer = (data: Sql): Sql =>
  sql`(select case when octet_length(json) <= ${ANSWER_BYTES} then json end from (select ${data} as json offset 0) answer)`;
const ANSWER_BYTES = literal(String(ANSWER_BYTES_MAX));

const POINT_ID = sql`point.id`;

/** An invalid id matches no row. */
const idArgument = ({ id }: Readonly<Record<string, unknown>>): number | null => pathId(String(id)) ?? null;

/** The only field of an operation, if it reads by id. */
const pointOf = ({ query }: Mappings, selected: readonly Selected[]): Selected | undefined => {
  const [read, ...others] = selected.filter(({ name }) => name !== '__typename');
  return read !== undefined && others.length === 0 && query[read.name] === BY_ID ? read : undefined;
};

type Root = {
  readonly context: Context;
  readonly schema: GraphQLSchema;
  readonly query: GraphQLObjectType;
  readonly isPoint: boolean;
};

const rootOf = ({ context, schema, query, isPoint }: Root, member: Selected): Pieces => {
  if (member.name === '__typename') return `"${query.name}"`;
  if (member.name === 'cursor') return logCursorJson();
  const which = context.mappings.query[member.name];
  if (which === undefined) throw new OutOfPlan(`the field ${query.name}.${member.name}`);
  demandNow(context, query, member);
  if (which !== BY_ID) return relatedOf(context, query, member, (row, args) => which(row, sql``, args));
  const field = fieldOf(query, member);
  const id = isPoint ? POINT_ID : context.argumentsOf(field, member.nodes[0]).value('bigint', idArgument);
  const named = getNamedType(field.type);
  const types = isAbstractType(named) ? schema.getPossibleTypes(named) : [named].filter(isObjectType);
  const found = types.map((type) =>
    oneOf(
      context,
      type,
      member,
      (row) => sql`${row}.id = ${id} and ${mappingOf(context, type).isReadable(row)}`,
    ),
  );
  return sql`coalesce(${joined([...found, sql`'null'`], sql`, `)})`;
};

/** Former states are in the log, not in the read model. */
const demandNow = (context: Context, query: GraphQLObjectType, member: Selected): void => {
  const [node] = member.nodes;
  const isMentioned = node.arguments?.some(({ name }) => name.value === 'at');
  if (isMentioned && context.argumentsOf(fieldOf(query, member), node).has('at'))
    throw new OutOfPlan('an answer at that time');
};

const NAME_CHARACTERS = 24;

const nameOf = (text: string): string =>
  `graphql_${createHash('sha256').update(text).digest('base64url').slice(0, NAME_CHARACTERS)}`;

const DIGITS = literal('0123456789abcdefghijklmnopqrstuvwxyz');

/** In base 36, as `formatCursor` writes a position. A safe integer has at most eleven such digits. */
const base36 = (
  position: Sql,
): Sql => sql`(select string_agg(substr(${DIGITS}, (${position} / weight % 36)::integer + 1, 1), '' order by weight desc)
  from (select power(36::numeric, place)::bigint as weight from generate_series(0, 10) place) weights where weight = 1 or weight <= ${position})`;

/** As `formatCursor` names the event; an earlier release moves the position alone. */
const markOfEvent = sql`case when ${parameter('boolean', ({ namesEvents }) => namesEvents)} and k.event_position = k.position then coalesce('-' || right(k.event::text, 8), '') else '' end`;
const placeInLog = sql`left(k.log::text, 8) || '-' || ${base36(sql`k.position`)}`;

/**
 * The position of the read model in the snapshot of the statement, which everything it reads shares: the
 * cursor of the whole answer.
 */
const logCursorJson = (): Sql =>
  sql`coalesce((select '"' || ${placeInLog} || ${markOfEvent} || '"' from public.follower_checkpoint k where k.follower = ${literal(PROJECTOR)}), ${literal(HOLE)})`;
