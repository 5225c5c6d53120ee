import { type GraphQLFieldResolver, getNamedType } from 'graphql';
import type { NotedType } from '../rules/noted.ts';
import type { Context } from './context.ts';
import type { Row } from './rows.ts';

/**
 * Notes each object of an aggregate whose reads are logged, even if only its `__typename` is asked for, and
 * each of its fields, unless its reader gets null in place of it.
 */
export const noted = (
  types: ReadonlyMap<string, NotedType>,
  resolve: GraphQLFieldResolver<unknown, Context>,
): GraphQLFieldResolver<unknown, Context> => {
  if (types.size === 0) return resolve;
  return (parent, args, context, info) => {
    const value = noteFound(
      types.get(getNamedType(info.returnType).name),
      resolve(parent, args, context, info),
    );
    const type = types.get(info.parentType.name);
    const field = type?.fields.get(info.fieldName);
    if (type === undefined || field === undefined) return value;
    const id = idOf(type, parent as Row);
    if (!field.isGuarded) type.note(id, [field.name]);
    else
      return Promise.resolve(value).then((found) => {
        if ((found ?? null) !== null) type.note(id, [field.name]);
        return found;
      });
    return value;
  };
};

/** A type without ids is noted by its fields alone. */
const noteFound = (type: NotedType | undefined, value: unknown): unknown => {
  if (type?.idColumn === undefined) return value;
  const note = (row: unknown): void => {
    if ((row ?? null) !== null) type.note(idOf(type, row as Row), []);
  };
  return Promise.resolve(value).then(async (found) => {
    if (Array.isArray(found)) for (const each of found) note(await each);
    else note(found);
    return found;
  });
};

const idOf = ({ idColumn, isEdge }: NotedType, object: Row): number | undefined => {
  if (idColumn === undefined) return undefined;
  return Number((isEdge ? (object.node as Row) : object)[idColumn]);
};
