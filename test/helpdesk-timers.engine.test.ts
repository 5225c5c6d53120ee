import { expect, test } from 'vitest';
import { helpdesk } from '../examples/helpdesk/domain/domain.ts';
import { startForTest } from '../package/testing/for-test.ts';

test('an urgent ticket is breached after four hours, in which it did not wait for the customer', async () => {
  await using annals = await startForTest(helpdesk);
  const [customer, agent, lead] = await Promise.all([
    annals.as('customer'),
    annals.as('agent'),
    annals.as('lead'),
  ]);
  const { id: agentId } = await agent.me();
  const { id: teamId } = await lead.teams.create({ name: 'Printers' });
  await lead.teams.of(teamId).members.add({ agentId });
  const { id } = await customer.tickets.create({ subject: 'Smoke', priority: 'urgent', teamId });
  const isBreached = async () => (await agent.tickets.get(id)).breached;
  await agent.tickets.answer(id, { text: 'Is it still burning?' });
  await annals.advance('2 days');
  expect(await isBreached()).toBe(false);
  await customer.tickets.of(id).messages.add({ text: 'Only a little.' });
  await annals.advance('3 hours');
  expect(await isBreached()).toBe(false);
  await annals.advance('61 minutes');
  expect(await isBreached()).toBe(true);
  expect(await agent.workload.list().take(1)).toMatchObject([{ open: 1, breached: 1 }]);
  // A reply opens a solved ticket again, and notes of agents are not among its messages.
  await agent.tickets.addNote(id, { text: 'She has said that before.' });
  await agent.tickets.solve(id);
  expect(await agent.workload.list().take(1)).toMatchObject([{ open: 0, breached: 1 }]);
  await customer.tickets.of(id).messages.add({ text: 'Again.' });
  expect(await customer.tickets.get(id)).toMatchObject({ status: 'open', breached: true });
  expect(await customer.tickets.of(id).messages.list().take(9)).toHaveLength(3);
  expect(await customer.tickets.of(id).messages.list({ author: agentId }).take(9)).toMatchObject([
    { text: 'Is it still burning?' },
  ]);
});
