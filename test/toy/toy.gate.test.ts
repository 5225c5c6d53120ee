import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { runAnnals } from '../annals-process.ts';
import { startRole } from '../engines/role-process.ts';
import { helpdesk } from './helpdesk.ts';
import { test as base } from './toy-fixture.ts';

/**
 * Features of one declared aggregate that `describeDomain` does not cover. The tests depend on each other.
 */
const FIRE = {
  subject: 'The printer burns',
  details: `smoke-${randomUUID().replaceAll('-', '')}`,
  tags: ['fire'],
};

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: helpdesk, main: 'test/toy/main.ts' } })
  .extend('carla', { scope: 'file' }, ({ people }) => people.signUp('Carla'))
  .extend('bert', { scope: 'file' }, ({ people }) => people.signUp('Bert'))
  .extend('agent', { scope: 'file' }, ({ signUpAs }) => signUpAs('Agnes', 'agent'))
  .extend(
    'ticket',
    { scope: 'file' },
    async ({ carla, session }) =>
      (await session.write('POST', '/tickets', { token: carla.token, body: FIRE })).written.id,
  );

test('its one file starts a role alone, and runs operator commands', async ({
  agent,
  installation,
  session,
  ticket,
}) => {
  const { origin, settings } = installation;
  await session.write('POST', `/tickets/${ticket}/solve`, { token: agent.token });
  await using query = startRole('test/toy/main.ts query', {
    ...settings,
    JWKS_URL: `${origin}/jwks`,
    COMMAND_URL: origin,
  });
  const { url } = await query.logged('Annals is ready.');
  const answer = await fetch(`${url}/tickets/${ticket}`, { headers: { accept: 'application/json' } });
  expect([answer.status, await answer.json()]).toMatchObject([200, { status: 'solved' }]);
  expect((await fetch(`${url}/oauth/token`, { method: 'POST' })).status).toBe(404);
  const shown = await runAnnals(['test/toy/main.ts', 'log', 'show', `ticket-${ticket}`], settings);
  expect(shown).toEqual({ exit: 0, output: expect.stringContaining('ticket.solved') });
});

test('a webhook filtered by requester gets only their tickets', async ({
  ask,
  bert,
  byAdmin,
  carla,
  graphql,
  people,
  session,
  sink,
}) => {
  const eventTypes = ['ticket.opened', 'user.registered'];
  const hook = {
    url: `${sink.url}/of-bert`,
    eventTypes,
    payload: 'full',
    filter: { requesterId: bert.userId },
  };
  const { written } = await byAdmin('POST', '/webhooks', hook);
  const shown = await session.read(`/webhooks/${written.id}`, { token: people.administrator.token });
  expect(shown.body).toMatchObject({ filter: { requesterId: bert.userId } });
  const asked = `{ webhook(id: "${written.id}") { requesterId } }`;
  expect(await graphql(asked, { token: people.administrator.token })).toMatchObject({
    data: { webhook: { requesterId: String(bert.userId) } },
  });
  await session.write('POST', '/tickets', {
    token: carla.token,
    body: { subject: 'Of Carla', details: 'x' },
  });
  const { written: ofBert } = await session.write('POST', '/tickets', {
    token: bert.token,
    body: { subject: 'Of Bert', details: 'x' },
  });
  const received = () =>
    sink.received
      .filter(({ path }) => path === '/of-bert')
      .map(({ body }) => (JSON.parse(body) as Notification).subject);
  type Notification = { readonly subject: string };
  expect(await until(received, (subjects) => subjects.length > 0)).toEqual([`ticket-${ofBert.id}`]);
  await byAdmin('PATCH', `/webhooks/${written.id}`, { filter: { requesterId: null } });
  const { written: last } = await session.write('POST', '/tickets', {
    token: carla.token,
    body: { subject: 'Of Carla, too', details: 'x' },
  });
  expect(await until(received, (subjects) => subjects.length > 1)).toEqual([
    `ticket-${ofBert.id}`,
    `ticket-${last.id}`,
  ]);
  expect(JSON.parse(sink.received.find(({ path }) => path === '/of-bert')?.body ?? '')).toMatchObject({
    data: { ticketId: ofBert.id, subject: 'Of Bert', details: 'x' },
  });
  const url = `${sink.url}/hook`;
  for (const unknown of [
    { url, eventTypes: ['ticket.*'], filter: { articleId: 1 } },
    { url, eventTypes: ['ticket.exploded'] },
  ])
    expect(
      (await ask('POST', '/webhooks', { token: people.administrator.token, body: unknown })).status,
    ).toBe(422);
});
