import {
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Arguments } from './arguments.ts';
import { connectionJson } from './connections.ts';
import { concatenated, objectJson, orNull, type Piece, type Pieces } from './json.ts';
import { listJson, type Rows } from './lists.ts';
import type { Mapping, Row, Which } from './mapping.ts';
import type { Mappings } from './mappings.ts';
import { OutOfPlan } from './out-of-plan.ts';
import { type Collect, type Selected, selectionSetsOf } from './selections.ts';
import { joined, literal, type Sql, sql } from './sql.ts';

/** The state shared while compiling one operation. */
export type Context = {
  readonly mappings: Mappings;
  readonly collect: Collect;
  argumentsOf(field: GraphQLField<unknown, unknown>, node: FieldNode): Arguments;
  newRow(letter: Mapping['letter']): Row;
};

/**
 * Marks a missing value that must not be null. JSON text never contains this character, because control
 * characters are escaped. An answer that has it is discarded, and the resolvers report the field.
 */
export const HOLE = '\u0001';

/** An object of the read model as JSON. */
const objectOf = (
  context: Context,
  type: GraphQLObjectType,
  row: Row,
  selected: Selected,
): readonly Piece[] => {
  const members = context.collect(type, selectionSetsOf(selected));
  const json = objectJson(members.map((member) => [member.key, memberOf(context, type, row, member)]));
  const mark = mappingOf(context, type).mark?.(
    row,
    members.map(({ name }) => name),
  );
  return mark === undefined ? json : [...mark, ...json];
};

const memberOf = (context: Context, type: GraphQLObjectType, row: Row, member: Selected): Pieces => {
  if (member.name === '__typename') return `"${type.name}"`;
  const { values, rows } = mappingOf(context, type);
  const value = values[member.name];
  if (value !== undefined) return value(row);
  const which = rows[member.name];
  if (which === undefined) throw new OutOfPlan(`the field ${type.name}.${member.name}`);
  return relatedOf(context, type, member, (other, args) => which(other, row, args));
};

export const mappingOf = ({ mappings }: Context, type: GraphQLObjectType): Mapping => {
  const mapping = mappings.types[type.name];
  if (mapping === undefined) throw new OutOfPlan(`the type ${type.name}`);
  return mapping;
};

export const fieldOf = (type: GraphQLObjectType, { name }: Selected): GraphQLField<unknown, unknown> => {
  const field = type.getFields()[name];
  if (field === undefined) throw new OutOfPlan(`the field ${type.name}.${name}`);
  return field;
};

/** The objects that a field leads to: a connection, a list, or one, as the schema says. */
export const relatedOf = (
  context: Context,
  type: GraphQLObjectType,
  selected: Selected,
  which: (row: Row, args: Arguments) => ReturnType<Which>,
): Sql => {
  const field = fieldOf(type, selected);
  const named = getNamedType(field.type);
  if (!isObjectType(named)) throw new OutOfPlan(`the field ${type.name}.${selected.name}`);
  const args = context.argumentsOf(field, selected.nodes[0]);
  const item = named.getFields().nodes === undefined ? named : getNamedType(named.getFields().nodes?.type);
  if (!isObjectType(item)) throw new OutOfPlan(`the type ${named.name}`);
  const mapping = mappingOf(context, item);
  const rows: Rows = {
    mapping,
    args,
    newRow: () => context.newRow(mapping.letter),
    which: (row) => which(row, args),
  };
  if (item !== named) {
    const nodeJson = (row: Row, member: Selected) => objectOf(context, item, row, member);
    return connectionJson({ rows, type: named, selected, collect: context.collect, nodeJson });
  }
  if (isListType(getNullableType(field.type)))
    return listJson(rows, (row) => concatenated(objectOf(context, item, row, selected)));
  const one = oneOf(context, item, selected, (row) => joined(rows.which(row), sql` or `));
  return isNonNullType(field.type) ? sql`coalesce(${one}, ${literal(HOLE)})` : orNull(one);
};

/** At most one object; SQL's null if there is none. */
export const oneOf = (
  context: Context,
  type: GraphQLObjectType,
  selected: Selected,
  which: (row: Row) => Sql,
): Sql => {
  const { table, letter } = mappingOf(context, type);
  const row = context.newRow(letter);
  return sql`(select ${concatenated(objectOf(context, type, row, selected))} from ${table} ${row} where ${which(row)})`;
};
