import { expect } from 'vitest';
import type { TokenHolder } from '../../testing/http/people.ts';
import { helpdesk } from './helpdesk.ts';
import { test as base } from './toy-fixture.ts';

/** The items of a list, filtered by their fields. */
type Message = { readonly text: string };

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: helpdesk } })
  .extend('filled', { scope: 'file' }, async ({ people, session: { write } }) => {
    const [customer, agent] = [
      await people.signUp('Cora'),
      await people.tokenOf(await people.registerService('agent')),
    ];
    const body = { subject: 'Smoke', details: 'It burns' };
    const { id } = (await write('POST', '/tickets', { token: customer.token, body })).written;
    const path = `/tickets/${id}`;
    const add = (by: typeof agent, to: string, text: string) =>
      write('POST', `${path}/${to}`, { token: by.token, body: { text } });
    await add(customer, 'messages', 'one');
    await add(agent, 'messages', 'two');
    const { cursor } = (await add(agent, 'add-note', 'three')).written;
    await add(customer, 'messages', 'four');
    return { customer, agent, id, path, cursor };
  });

test('a list has the items with these values, of those that the caller may read', async ({
  filled: { customer, agent, path },
  session: { read },
}) => {
  const texts = async (query: string, by: TokenHolder = customer) =>
    (await read<readonly Message[]>(`${path}/messages?${query}`, by)).body.map(({ text }) => text);
  expect(await texts(`author=${customer.userId}`)).toEqual(['one', 'four']);
  expect(await texts(`author=${agent.userId}`)).toEqual(['two']);
  expect(await texts(`author=${agent.userId}`, agent)).toEqual(['two', 'three']);
  expect(await texts(`author=${agent.userId}&internal=true`, agent)).toEqual(['three']);
  expect(await texts('internal=true')).toEqual([]);
  expect(await texts('author=1')).toEqual([]);
  for (const query of ['author=x', 'internal=yes', 'text=one', 'sort=author'])
    expect([query, (await read(`${path}/messages?${query}`, customer)).status]).toEqual([query, 400]);
});

test('pages keep the filter, and former states have it too', async ({
  filled: { customer, agent, path, cursor },
  session: { read },
}) => {
  const first = await read<readonly Message[]>(
    `${path}/messages?author=${customer.userId}&limit=1`,
    customer,
  );
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  expect(next).toContain(`author=${customer.userId}`);
  const { body, headers } = await read<readonly Message[]>(next, customer);
  expect([first.body, body].flat().map(({ text }) => text)).toEqual(['one', 'four']);
  expect(headers.get('link')).not.toContain('rel="next"');
  expect((await read(next.replace(/author=\d+/, `author=${agent.userId}`), customer)).status).toBe(400);
  for (const [query, by, texts] of [
    [`author=${customer.userId}`, customer, ['one']],
    [`author=${agent.userId}`, customer, ['two']],
    ['internal=true', agent, ['three']],
  ] as const) {
    const past = await read<readonly Message[]>(`${path}/messages?${query}&at=${cursor}`, by);
    expect(past.body.map(({ text }) => text)).toEqual(texts);
  }
});

test('GraphQL takes the same filters in lists and pages, now and then', async ({
  filled: { customer, agent, id, cursor },
  graphql,
}) => {
  const ask = async (by: typeof agent, filter: string, at = '') => {
    const { data } = await graphql<{ readonly ticket: unknown }>(
      `{ ticket(id: "${id}"${at}) { messages(filter: ${filter}) { text }
        messagesConnection(first: 1, filter: ${filter}) { totalCount nodes { text } pageInfo { hasNextPage } } } }`,
      by,
    );
    return data?.ticket;
  };
  const page = (texts: readonly string[]) => ({
    messages: texts.map((text) => ({ text })),
    messagesConnection: {
      totalCount: texts.length,
      nodes: texts.slice(0, 1).map((text) => ({ text })),
      pageInfo: { hasNextPage: texts.length > 1 },
    },
  });
  const byCustomer = `{ author: "${customer.userId}" }`;
  expect(await ask(customer, byCustomer)).toEqual(page(['one', 'four']));
  expect(await ask(customer, byCustomer, `, at: "${cursor}"`)).toEqual(page(['one']));
  expect(await ask(customer, '{ internal: true }')).toEqual(page([]));
  expect(await ask(agent, `{ internal: true, author: "${agent.userId}" }`)).toEqual(page(['three']));
  expect(await ask(agent, '{ author: "x" }')).toEqual(page([]));
});
