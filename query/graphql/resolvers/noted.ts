import type { GraphQLFieldResolver } from 'graphql';
import type { NotedType } from '../rules/noted.ts';
import type { Context } from './context.ts';
import type { Row } from './rows.ts';

/** Notes each field of an aggregate whose reads are logged, unless its reader gets null in place of it. */
export const noted = (
  types: ReadonlyMap<string, NotedType>,
  resolve: GraphQLFieldResolver<unknown, Context>,
): GraphQLFieldResolver<unknown, Context> => {
  if (types.size === 0) return resolve;
  return (parent, args, context, info) => {
    const value = resolve(parent, args, context, info);
    const type = types.get(info.parentType.name);
    const field = type?.fields.get(info.fieldName);
    if (type === undefined || field === undefined) return value;
    const id = type.idColumn === undefined ? undefined : Number((parent as Row)[type.idColumn]);
    if (!field.isGuarded) type.note(id, [field.name]);
    else
      return Promise.resolve(value).then((found) => {
        if ((found ?? null) !== null) type.note(id, [field.name]);
        return found;
      });
    return value;
  };
};
