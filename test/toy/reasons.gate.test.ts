import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, list, ref, states } from '#kernel/declare/fields.ts';
import { createClient } from '../../client/client.ts';
import type { Problem } from '../../client/problem.ts';
import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { test as base } from './toy-fixture.ts';

/** Commands with a reason, by every interface. */
const clinic = domain({ name: 'reasons', roles: ['nurse'] });
const { aggregate, user } = clinic;
const sample = aggregate('sample', {
  owner: 'nurse',
  fields: {
    nurse: ref(user),
    code: line(20),
    status: states('taken', 'discarded'),
    notes: list({ text: line(50) }, { max: 9 }),
  },
  events: {
    took: { creates: ['code'] },
    relabelled: { changes: ['code'] },
    discarded: { sets: { status: 'discarded' } },
    noted: { adds: 'notes' },
    noteRemoved: { removes: 'notes' },
    destroyed: { ends: true },
  },
  commands: {
    take: { emits: 'took', next: ['discard'] },
    relabel: { emits: 'relabelled', reason: 'required' },
    discard: { emits: 'discarded', reason: 'required' },
    note: { emits: 'noted', reason: 'optional' },
    removeNote: { emits: 'noteRemoved', reason: 'required' },
    destroy: { emits: 'destroyed', reason: 'required' },
  },
  rights: { read: { nurse: true }, write: { nurse: 'own' } },
  reactions: { nurse: { deleted: { run: 'destroy' } } },
});
const reasons = assemble(clinic, [sample]);

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: reasons } })
  .extend('nora', { scope: 'file' }, ({ signUpAs }) => signUpAs('Nora', 'nurse'))
  .extend('client', { scope: 'file' }, ({ installation, nora }) =>
    createClient<typeof reasons>({ url: installation.origin, token: nora.token }),
  );

const WHY = 'Étiquette illisible, 50 %';

test('a command that demands a reason is refused without one, and nothing happens', async ({ client }) => {
  const { id } = await client.samples.create({ code: 'A' });
  const edit = (options: { readonly reason?: string }) =>
    client.samples.edit(id, { code: 'B' }, options).then(
      () => undefined,
      (error: Problem) => error,
    );
  expect(await edit({})).toMatchObject({ status: 422, code: 'reason_required' });
  for (const reason of ['', ' \u200b ', '…', '…\u3164', 'two\nlines', 'x'.repeat(501)])
    expect([reason, await edit({ reason })]).toMatchObject([
      reason,
      { status: 422, code: 'invalid_request', errors: [{ pointer: '/reason' }] },
    ]);
  expect(await client.samples.get(id)).toMatchObject({ code: 'A' });
});

test('history, events, their search and GraphQL show it', async ({ client, installation, nora }) => {
  const { id } = await client.samples.create({ code: 'A' });
  await client.samples.edit(id, { code: 'B' }, { reason: ` ${WHY} ` });
  const [entry, first] = await Array.fromAsync(client.samples.history(id));
  expect([entry?.reason, first?.reason]).toEqual([WHY, undefined]);
  const found = await Array.fromAsync(client.events.list({ subject: `sample-${id}`, text: 'ILLISIBLE' }));
  expect(found).toMatchObject([{ type: 'sample.relabelled', reason: WHY }]);
  const { data, errors } = await graphqlClientOf(installation)(
    `mutation { discardSample(id: "${id}", reason: "Too warm") { history { nodes { type reason } } } }`,
    { token: nora.token },
  );
  expect(errors).toBe(undefined);
  expect(data).toEqual({
    discardSample: {
      history: {
        nodes: [
          { type: 'sample.discarded', reason: 'Too warm' },
          { type: 'sample.relabelled', reason: WHY },
          { type: 'sample.took', reason: null },
        ],
      },
    },
  });
});

test('an export has it, and the state of the clock that gave the times', async ({
  ask,
  client,
  people: { administrator },
}) => {
  const { id } = await client.samples.create({ code: 'A' });
  await client.samples.edit(id, { code: 'B' }, { reason: WHY });
  const { body } = await ask('GET', '/audit/export', {
    token: administrator.token,
    headers: { accept: 'application/x-ndjson' },
  });
  const lines = String(body).trim().split('\n');
  const line = lines.find((each) => each.includes(`"sample-${id}"`) && each.includes('sample.relabelled'));
  expect(line).toContain(WHY);
  const { data } = JSON.parse(lines.at(-1) ?? '') as { readonly data: object };
  expect(data).toMatchObject({ clock: { source: null, measurements: expect.any(Number) } });
});

test('a creation needs the reason of a command that its form runs too', async ({ ask, nora }) => {
  const take = (reason?: string) =>
    ask('POST', '/samples', {
      token: nora.token,
      body: { code: 'C', discard: true },
      headers: reason === undefined ? {} : { reason },
    });
  expect(await take()).toMatchObject({ status: 422, body: { code: 'reason_required' } });
  expect(await take('Broken%20glass')).toMatchObject({ status: 201 });
});

test('a key belongs to a request with its reason', async ({ ask, client, nora }) => {
  const { id } = await client.samples.create({ code: 'D' });
  const discard = (reason: string) =>
    ask('POST', `/samples/${id}/discard`, {
      token: nora.token,
      headers: { reason, 'idempotency-key': `discard-${id}` },
    });
  expect((await discard('Warm')).status).toBe(200);
  expect((await discard('Warm')).status).toBe(200);
  expect(await discard('Cold')).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
});

test('a reason that is not encoded, or that nothing records, is refused in a sentence', async ({
  ask,
  client,
  nora,
}) => {
  const { id } = await client.samples.create({ code: 'E' });
  const { token } = nora;
  const bad = await ask('POST', `/samples/${id}/discard`, { token, headers: { reason: '50 %' } });
  expect(bad).toMatchObject({ status: 400, body: { code: 'malformed_request' } });
  const idle = await ask('POST', '/samples', { token, body: { code: 'F' }, headers: { reason: 'x' } });
  expect(idle.status).toBe(201);
  const other = await ask('PATCH', `/users/${nora.userId}`, {
    ...{ token, type: 'application/merge-patch+json', body: { name: 'Nora' } },
    headers: { reason: 'x' },
  });
  expect(other).toMatchObject({ status: 400, body: { code: 'malformed_request' } });
});

test('items of lists have reasons too, and an optional one may be missing', async ({ client }) => {
  const { id } = await client.samples.create({ code: 'G' });
  const ofItems = (method: string, path: string, reason?: string) =>
    client.request(method, `/samples/${id}/notes${path}`, method === 'POST' ? { text: 'n' } : undefined, {
      idempotencyKey: randomUUID(),
      ...(reason !== undefined && { reason }),
    });
  await ofItems('POST', '');
  await ofItems('POST', '', 'Asked');
  await expect(ofItems('DELETE', '/1')).rejects.toMatchObject({ code: 'reason_required' });
  await ofItems('DELETE', '/1', 'Wrong sample');
  const entries = await Array.fromAsync(client.samples.history(id));
  expect(entries.map(({ reason }) => reason)).toEqual(['Wrong sample', 'Asked', undefined, undefined]);
});

test('an agent has an argument for it, which its call must contain', async ({
  client,
  installation,
  nora,
}) => {
  const { id } = await client.samples.create({ code: 'H' });
  await using opened = new AsyncDisposableStack();
  const agent = new Client({ name: 'an-agent', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  opened.defer(() => agent.close());
  await agent.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', installation.origin), {
      requestInit: { headers: { Authorization: `Bearer ${nora.token}` } },
    }),
  );
  const { tools } = await agent.listTools();
  const { inputSchema } = tools.find(({ name }) => name === 'discardSample') ?? {};
  expect(inputSchema?.required).toEqual(['sampleId', 'reason']);
  const call = async (more: object) =>
    (await agent.callTool({ name: 'discardSample', arguments: { sampleId: id, ...more } })).structuredContent;
  expect(await call({})).toMatchObject({ code: 'reason_required' });
  expect(await call({ reason: WHY })).toMatchObject({ item: { status: 'discarded' } });
  const [entry] = await Array.fromAsync(client.samples.history(id));
  expect(entry?.reason).toBe(WHY);
});

test('a reaction needs none: its cause is recorded', async ({ client, byAdmin, nora, people, ask }) => {
  const { id } = await client.samples.create({ code: 'I' });
  await byAdmin('DELETE', `/users/${nora.userId}`);
  const { token } = people.administrator;
  await expect
    .poll(async () => (await ask('GET', `/samples/${id}`, { token })).status, { timeout: 20_000 })
    .toBe(404);
});
