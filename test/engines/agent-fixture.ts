import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import { createClient } from '../../client/client.ts';
import { expenses } from '../../examples/expenses/domain/domain.ts';
import { test as base } from './installation-fixture.ts';

/** Agents of users, by the client of the official SDK. */
export const test = base
  .extend(
    'installationOptions',
    { scope: 'file' },
    { of: { domain: expenses }, settings: { CORS_ORIGINS: 'any' } },
  )
  .extend('administrator', { scope: 'file' }, ({ installation, people }) =>
    createClient<typeof expenses>({ url: installation.origin, token: people.administrator.token }),
  )
  .extend('eve', { scope: 'file' }, ({ people }) => people.signUp('Eve'))
  .extend('agentOf', { scope: 'file' }, ({ installation }, { onCleanup }) => {
    const clients: Client[] = [];
    onCleanup(async () => void (await Promise.all(clients.map((client) => client.close()))));
    return async (token: string, protocol?: string) => {
      const client = new Client(
        { name: 'an-agent', version: '1' },
        protocol === undefined
          ? { versionNegotiation: { mode: 'auto' } }
          : { supportedProtocolVersions: [protocol] },
      );
      clients.push(client);
      const headers = { Authorization: `Bearer ${token}` };
      const url = new URL('/mcp', installation.origin);
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
      return agentBy(client);
    };
  })
  .extend('agent', { scope: 'file' }, ({ agentOf, eve }) => agentOf(eve.token));

export type Answer = {
  readonly isError: boolean;
  readonly item: Readonly<Record<string, unknown>> & { readonly id: number };
  readonly next: Readonly<Record<string, { readonly tool: string; readonly arguments: object }>>;
  readonly items: readonly Pick<Answer, 'item' | 'next'>[];
  readonly etag: string;
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly { readonly pointer: string }[];
  readonly more?: { readonly after: string };
};

const agentBy = (client: Client) => ({
  client,
  tools: async () => (await client.listTools()).tools,
  async call(name: string, args: Record<string, unknown> = {}, meta?: Record<string, unknown>) {
    const answer = await client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) });
    const { structuredContent, isError = false, content } = answer;
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);
    return { isError, ...(structuredContent as object) } as Answer;
  },
});
