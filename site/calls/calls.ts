import type { Domain } from '#kernel/registry/registry.ts';
import type { Html } from '#shared/html.ts';
import { codeBlock, commandBlock } from '../code/block.ts';
import { tabs } from '../code/tabs.ts';
import type { ShownGraphql } from '../shown-graphql.ts';
import { clientCallOf } from './client.ts';
import { curlOf } from './curl.ts';
import type { Description, Operation } from './description.ts';
import { type Filling, fillIn } from './filling.ts';
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
