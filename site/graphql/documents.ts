import { type GraphQLInputType, isObjectType, parse, print, valueToLiteral } from 'graphql';
import type { JsonObject } from '#kernel/base/json.ts';
import { targetOf, wire } from '#kernel/base/names.ts';
import { shownFields } from '#kernel/registry/example-kind.ts';
import { mutationName } from '#kernel/registry/mutations.ts';
import type { CommandInfo, Domain, Kind } from '#kernel/registry/registry.ts';
import { listsOf, memberName } from '../../query/graphql/rules/names.ts';
import { schemaOf } from '../../query/graphql/schema/schema.ts';
import { demandSource, sourcesOf } from '../../query/rows/sources.ts';
import type { Call } from '../calls/filling.ts';
import type { Use } from '../calls/use.ts';

/** The same as a GraphQL document for `POST /graphql`. Undefined if GraphQL has no field for it. */
export const documentFor = (call: Call, use: Use | undefined, domain: Domain): string | undefined => {
  if (call.operation.operationId === 'getMe') return query(`me { ${fieldsOf(domain.kinds.user)} }`);
  if (use === undefined) return undefined;
  const { kind } = use;
  const shown = fieldsOf(kind);
  switch (use.does) {
    case 'list':
    case 'listOfUser':
      return listFor(call, kind, domain);
    case 'read':
      return query(`${kind.field}(id: "${lastId(call)}") { ${shown} }`);
    case 'history':
      return query(
        `${kind.field}(id: "${lastId(call)}") { history(first: 10) { nodes { version type at actor } } }`,
      );
    case 'proof':
      return query(`${kind.field}(id: "${lastId(call)}") { proof }`);
    case 'command':
      return call.operation.method === 'put' || use.command.list !== undefined
        ? undefined
        : mutationFor(call, use, domain);
    case 'aggregate':
    case 'readers':
    case 'removeFile':
    case 'putFile':
    case 'listItems':
    case 'readItem':
      return undefined;
  }
};

const query = (selection: string): string => print(parse(`{ ${selection} }`));

const lastId = ({ ids }: Call): string => String(Object.values(ids).at(-1));

const fieldsOf = (kind: Kind | undefined): string =>
  ['id', ...(kind === undefined ? [] : shownFields(kind))].join(' ');

/** The list of a parent is a field of the parent. */
const listFor = ({ operation, ids }: Call, kind: Kind, domain: Domain): string | undefined => {
  const [parameter] = Object.keys(ids);
  const list = `${listsOf(kind)}(limit: 10) { ${fieldsOf(kind)} }`;
  if (parameter === undefined) return hasField(domain, 'Query', listsOf(kind)) ? query(list) : undefined;
  const parent = Object.values(domain.kinds).find(({ name }) => `${name}Id` === parameter);
  if (parent === undefined) throw new Error(`${operation.path} has no parent`);
  return hasField(domain, parent.type, listsOf(kind))
    ? query(`${parent.field}(id: "${ids[parameter]}") { ${list} }`)
    : undefined;
};

const hasField = (domain: Domain, type: string, field: string): boolean => {
  const found = schemaOf(domain).getType(type);
  return isObjectType(found) && field in found.getFields();
};

const mutationFor = (
  call: Call,
  { kind, command }: { readonly kind: Kind; readonly command: CommandInfo },
  domain: Domain,
): string | undefined => {
  const name = mutationName(kind, command);
  const field = schemaOf(domain).getMutationType()?.getFields()[name];
  if (field === undefined) return undefined;
  const body = membersOf(call.body ?? {}, kind, domain);
  const values = field.args.flatMap(({ name: argument, type }): readonly string[] => {
    if (argument === 'input' || argument === 'changes') return [`${argument}: ${literal(body, type)}`];
    if (argument in body) return [`${argument}: ${literal(body[argument], type)}`];
    return argument === 'ifVersion' ? [] : [`${argument}: "${lastId(call)}"`];
  });
  const isId = String(field.type) === 'ID!';
  return print(parse(`mutation { ${name}(${values.join(', ')})${isId ? '' : ` { ${fieldsOf(kind)} }`} }`));
};

/** Renames the fields of a body to their GraphQL names. */
const membersOf = (body: JsonObject, kind: Kind, domain: Domain): JsonObject => {
  const { members } = demandSource(sourcesOf(domain), kind.name);
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const member = members.find((each) => wire(each.name, each.def) === name);
      if (member === undefined) return [name, value];
      return [memberName(member), targetOf(member.def) === '' || value === null ? value : String(value)];
    }),
  );
};

const literal = (value: unknown, type: GraphQLInputType): string => {
  const node = valueToLiteral(value, type);
  if (node === undefined) throw new TypeError(`${JSON.stringify(value)} is not a valid ${String(type)}`);
  return print(node);
};
