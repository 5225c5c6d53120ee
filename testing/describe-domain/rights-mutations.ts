import {
  type GraphQLArgument,
  type GraphQLField,
  getNamedType,
  isInputObjectType,
  isLeafType,
  isNonNullType,
} from 'graphql';
import { kebab, wire } from '#kernel/base/names.ts';
import { reasonOf } from '#kernel/decide/reasons.ts';
import { type UploadField, uploadFieldsOf } from '#kernel/decide/upload-fields.ts';
import { mutationName, uploadMutations } from '#kernel/registry/mutations.ts';
import type { Domain, Row } from '#kernel/registry/registry.ts';
import { idArgument, itemArgument, memberName } from '../../query/graphql/rules/names.ts';
import { schemaOf } from '../../query/graphql/schema/schema.ts';
import type { Member } from '../../query/rows/source.ts';
import { sourcesOf } from '../../query/rows/sources.ts';
import type { GraphqlReply } from '../graphql/graphql-client.ts';
import { type SampleFile, sampleFor } from '../sample-file.ts';
import type { Attempt } from './attempts.ts';
import type { Stage } from './stage.ts';
import { REASON_OF_TESTS } from './with-reasons.ts';

/** One root field with its arguments. */
export type RootField = {
  readonly of: 'query' | 'mutation';
  readonly name: string;
  readonly values: Row;
  /** Of an upload. */
  readonly file?: SampleFile | undefined;
  /** Instead of the shortest selection. */
  readonly selection?: string;
};

/** The mutation that does the same as a write by REST with this body. */
export const mutationOf = (
  domain: Domain,
  attempt: Attempt,
  { id, body }: { readonly id: number | undefined; readonly body: Row },
): RootField => {
  const { kind, command, does, on } = attempt;
  const source = sourcesOf(domain).of(kind.name);
  if (source === undefined) throw new RangeError(`${kind.name} has no source`);
  const items = source.items.find(({ list }) => list === command.list);
  const isOnItem = items !== undefined && command.kind !== 'addItem';
  const upload = does === 'putFile' || does === 'removeFile' ? uploadOf(attempt) : undefined;
  const name =
    upload === undefined
      ? mutationName(kind, command)
      : (uploadMutations(kind, upload)[does === 'putFile' ? 'set' : 'remove'] ?? '');
  const form = inputOf(items?.members ?? source.members, body);
  const { parent } = source;
  return {
    of: 'mutation',
    name,
    file: upload && sampleFor(upload.accepts),
    values: {
      ...form,
      ...(id !== undefined && { id: String(id) }),
      ...(does === 'create' && parent && { [idArgument(parent)]: String(id) }),
      ...(isOnItem && { [itemArgument(items)]: decodeURIComponent(on.split('/').at(-1) ?? '') }),
      ...(command.kind === 'moveItem' && { before: null }),
      ...(reasonOf(kind, command) !== undefined && { reason: REASON_OF_TESTS }),
      input: form,
      changes: form,
      file: null,
    },
  };
};

const uploadOf = ({ kind, command, path }: Attempt): UploadField => {
  const upload = uploadFieldsOf(kind).find(
    (each) => each.command === command && path.endsWith(`/${kebab(each.name)}`),
  );
  if (upload === undefined) throw new RangeError(`${path} is no file of ${kind.name}`);
  return upload;
};

/** References are ids under the names of GraphQL. */
const inputOf = (members: readonly Member[], body: Row): Row => {
  const known = members.flatMap((member) => {
    const value = body[wire(member.name, member.def)];
    return value === undefined
      ? []
      : [[memberName(member), member.target && value !== null ? String(value) : value] as const];
  });
  const names = new Set(members.map(({ name, def }) => wire(name, def)));
  return {
    ...Object.fromEntries(Object.entries(body).filter(([name]) => !names.has(name))),
    ...Object.fromEntries(known),
  };
};

const rootField = (
  domain: Domain,
  { of, name }: Pick<RootField, 'of' | 'name'>,
): GraphQLField<unknown, unknown> => {
  const schema = schemaOf(domain);
  const type = of === 'query' ? schema.getQueryType() : schema.getMutationType();
  const field = type?.getFields()[name];
  if (field === undefined) throw new RangeError(`the schema has no ${of} ${name}`);
  return field;
};

/** Sends a root field as `tried`. */
export const tryField = async (
  { domain, installation }: Pick<Stage, 'domain' | 'installation'>,
  asked: RootField,
  { token }: { readonly token: string | undefined },
): Promise<GraphqlReply<Row | null | undefined>> => {
  const { text, variables, isUpload } = operationOf(domain, asked);
  const body = JSON.stringify({ query: text, variables });
  const response = await installation.fetch(`${installation.url}/graphql`, {
    method: 'POST',
    headers: {
      accept: 'application/graphql-response+json',
      ...(isUpload ? { 'graphql-require-preflight': '1' } : { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: isUpload ? withFile(body, asked.file ?? NO_FILE) : body,
  });
  const { data, errors, extensions } = (await response.json()) as GraphqlReply<Row | null | undefined>;
  return { data, errors, extensions, status: response.status, headers: response.headers };
};

const operationOf = (domain: Domain, { of, name, values, selection }: RootField) => {
  const field = rootField(domain, { of, name });
  const given = field.args.filter(
    ({ name, type }) =>
      values[name] !== undefined && (values[name] !== null || !isNonNullType(type) || name === FILE),
  );
  const inBrackets = (parts: readonly string[]): string =>
    parts.length === 0 ? '' : `(${parts.join(', ')})`;
  const declared = inBrackets(given.map(({ name, type }) => `$${name}: ${String(type)}`));
  const passed = inBrackets(given.map(({ name }) => `${name}: $${name}`));
  const selected = selection ?? (isLeafType(getNamedType(field.type)) ? '' : '{ __typename }');
  return {
    text: `${of} ${declared} { tried: ${name}${passed} ${selected} }`,
    variables: Object.fromEntries(given.map((argument) => [argument.name, valueFor(argument, values)])),
    isUpload: given.some(({ name }) => name === FILE),
  };
};
const FILE = 'file';

const valueFor = ({ name, type }: GraphQLArgument, values: Row): unknown => {
  const named = getNamedType(type);
  const value = values[name];
  if (!isInputObjectType(named) || typeof value !== 'object' || value === null) return value;
  const fields = named.getFields();
  return Object.fromEntries(
    Object.entries(value).filter(
      ([member, of]) => fields[member] !== undefined && (of !== null || !isNonNullType(fields[member].type)),
    ),
  );
};

const NO_FILE: SampleFile = { body: Buffer.from('x'), type: 'application/octet-stream' };

/** The GraphQL multipart request specification. */
const withFile = (operations: string, { body, type }: SampleFile): FormData => {
  const form = new FormData();
  form.append('operations', operations);
  form.append('map', JSON.stringify({ 0: ['variables.file'] }));
  form.append('0', new Blob([body], { type }), 'sample');
  return form;
};
