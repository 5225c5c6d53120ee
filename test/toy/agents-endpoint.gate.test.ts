import { readFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect } from 'vitest';
import { test } from '../engines/agent-fixture.ts';

describe('the endpoint', () => {
  const discover = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  test('tells a client without a token where to sign in', async ({ installation }) => {
    const answer = await post(`${installation.origin}/mcp`, discover);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toContain('resource_metadata="');
  });

  test('serves clients of the revisions before', async ({ agentOf, eve }) => {
    for (const revision of ['2025-11-25', '2025-06-18'])
      expect((await (await agentOf(eve.token, revision)).tools()).length).toBeGreaterThan(5);
  });

  test.for([
    ['GET', 405],
    ['DELETE', 405],
  ] as const)('refuses %s', async ([method, status], { installation }) => {
    expect((await fetch(`${installation.origin}/mcp`, { method })).status).toBe(status);
  });

  test('refuses the pages of other origins, even if any page may read REST', async ({
    installation,
    eve,
  }) => {
    const token = { Authorization: `Bearer ${eve.token}` };
    const url = `${installation.origin}/mcp`;
    for (const origin of ['https://evil.example', 'null', `${new URL(installation.url).origin}.evil.example`])
      expect((await post(url, discover, { ...token, Origin: origin })).status).toBe(403);
    for (const origin of [new URL(installation.url).origin, 'http://localhost:5173', 'http://[::1]:6274'])
      expect((await post(url, discover, { ...token, Origin: origin })).status).toBe(200);
  });

  test('refuses batches', async ({ installation, eve }) => {
    const token = { Authorization: `Bearer ${eve.token}` };
    for (const batch of [[], [discover], [discover, { ...discover, id: 2 }]]) {
      const answer = await post(`${installation.origin}/mcp`, batch, token);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        code: 'malformed_request',
        detail: 'Send one message at a time, not an array.',
      });
    }
  });

  test('refuses bad bodies, and lasts', async ({ installation, eve, agent }) => {
    const url = `${installation.origin}/mcp`;
    const token = { Authorization: `Bearer ${eve.token}` };
    for (const body of [
      '',
      '{',
      '[]',
      '{}',
      '{"jsonrpc":"2.0"}',
      '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
    ])
      expect((await post(url, body, token)).status).toBeLessThan(500);
    const odd = { ...discover, method: 'tools/call', params: { name: 'getClaim', arguments: 'x' } };
    expect((await post(url, odd, token)).status).toBeLessThan(500);
    expect((await agent.call('getMe')).item).toMatchObject({ name: 'Eve' });
  });
});

test('the lines of the README connect an agent', async ({ installation, eve }) => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [, text = ''] = /^```json\n(\{ "mcpServers": [^`]*)^```$/m.exec(readme) ?? [];
  expect(text.trimEnd().split('\n')).toHaveLength(5);
  const { url, headers, type } = JSON.parse(text).mcpServers.annals;
  expect(type).toBe('http');
  const { pathname } = new URL(url);
  const authorization = headers.Authorization.replace(/\$\{ANNALS_TOKEN\}/, eve.token);
  const client = new Client({ name: 'an-agent', version: '1' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(pathname, installation.origin), {
      requestInit: { headers: { ...headers, Authorization: authorization } },
    }),
  );
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('createClaim');
  await client.close();
});
