import { nameToSave } from '#kernel/base/file-type.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Html } from '#shared/html.ts';
import { codeBlock, commandBlock } from '../code/block.ts';
import { tabs } from '../code/tabs.ts';
import type { ShownGraphql } from '../shown-graphql.ts';
import { clientCallOf } from './client.ts';
import type { Description, Operation } from './description.ts';
import { type Call, type Filling, fillIn, pathOf } from './filling.ts';
import { useOf } from './use.ts';

type Calls = { readonly curl: string; readonly client: string; readonly graphql: string | undefined };

/** One operation in every language that the pages show. */
export const callsOf = (
  operation: Operation,
  { domain, description, graphql }: Described,
  filling: Filling,
): Calls => {
  const call = fillIn(operation, description, filling);
  const use = useOf(domain, operation.operationId);
  return {
    curl: curlOf(call),
    client: clientCallOf(call, use),
    graphql: graphql?.documentFor(call, use, domain),
  };
};

type Described = {
  readonly domain: Domain;
  readonly description: Description;
  readonly graphql: ShownGraphql | undefined;
};

/** Shows the languages as tabs, with ids that begin with the operation’s. */
export const callTabs = (operation: Operation, described: Described, origin: string): Html => {
  const { curl, client, graphql } = callsOf(operation, described, { origin });
  return tabs(`call-${operation.operationId}`, [
    { name: 'curl', content: commandBlock(curl) },
    { name: 'client', content: codeBlock(client, 'ts') },
    ...(graphql === undefined ? [] : [{ name: 'graphql', content: codeBlock(graphql, 'graphql') } as const]),
  ]);
};

/** The request with curl, with the reader’s token in `$TOKEN`. */
const curlOf = (call: Call): string => {
  const { operation, origin, body, mediaType, needsToken } = call;
  const method = operation.method.toUpperCase();
  const isImplied = method === 'GET' || (method === 'POST' && body !== undefined);
  const isFile = mediaType !== undefined && body === undefined;
  return [
    `curl ${isImplied ? '' : `-X ${method} `}${origin}${pathOf(call)}`,
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(mediaType === undefined ? [] : [`-H 'Content-Type: ${mediaType}'`]),
    ...(body === undefined ? [] : [`-d '${quoted(JSON.stringify(body))}'`]),
    ...(isFile ? [`--data-binary @${nameOfFile(mediaType)}`] : []),
  ].join(' \\\n  ');
};

const nameOfFile = (type: string): string =>
  type.startsWith('image/') ? 'picture.png' : nameToSave({ type, name: null });

/** Escapes text within the single quotes of a shell. */
const quoted = (text: string): string => text.replaceAll("'", "'\\''");
