import { expect, test } from 'vitest';
import type { Domain } from '#kernel/registry/registry.ts';
import { callAt } from '../../test/engines/call-line.ts';
import { budgets } from '../../test/toy/budgets.ts';
import { expenses } from '../../test/toy/expenses.ts';
import { helpdesk } from '../../test/toy/helpdesk.ts';
import { lending } from '../../test/toy/lending.ts';
import { payouts } from '../../test/toy/payouts.ts';
import { requests } from '../../test/toy/requests.ts';
import { spendingDomain } from '../../test/toy/spending.ts';

const call = (domain: Domain, ...args: readonly string[]) =>
  callAt({ domain }, ['domain', 'describe', ...args]);

test('describes what follows from the declaration of an aggregate', async () => {
  const { exit, output } = await call(helpdesk, 'ticket');
  expect(exit).toBe(0);
  const lines = output.split('\n').map((line) => line.trim().replaceAll(/ +/g, ' '));
  for (const line of [
    'streams ticket-<id>, owned by requester',
    'details: text, personal',
    'status: states, open | solved, at first "open"',
    'POST /tickets write:tickets createTicket',
    'POST /tickets/{ticketId}/solve solve:tickets solveTicket',
    'details: String!',
    'mutation solveTicket(id: ID!, ifVersion: Int): Ticket!',
    'ticket.solved v1 sets ticketId, requesterId; status = solved',
    'ticket.opened v1 creates ticketId, requesterId, subject, details, tags; sealed: details',
    'read:tickets Anonymous may read it if its status is solved.',
    'read:tickets Customer may read it if its status is solved, or if the caller is its requester.',
    'read:tickets Agent and admin may read it.',
    'write:tickets Customer may change it if the caller is its requester, and only while its status is open.',
    'solve:tickets Agent and admin may solve it.',
    'id bigint primary key',
    'create index tickets_by_requester on tickets (requester_id, status, created_at desc, id desc)',
    'to requester deleted: withdraw if its status is open',
    'details: under the key of requesterId, in ticket.opened, ticket.changed, tickets.details; then “[deleted]”',
  ])
    expect(lines).toContain(line);
  expect(output).not.toContain('user.registered');
});

test('describes limits, and unique values', async () => {
  const linesOf = async (aggregate: string) =>
    (await call(lending, aggregate)).output.split('\n').map((line) => line.trim());
  expect(await linesOf('loan')).toEqual(
    expect.arrayContaining([
      'at most 3 with the same borrower, while its status is open, or loan_open_full',
      'at most 1 with the same book, while its status is open, or loan_out_full',
    ]),
  );
  expect(await linesOf('book')).toContain('at most 1 with the same code, or book_code_taken');
});

test('describes lists, timers, and effects of code', async () => {
  const claim = (await call(expenses, 'claim')).output;
  expect(claim).toContain('items: list of at most 5, each with itemId, category, amount, note');
  expect(claim).toContain('total: integer, at first 0, follows from its items');
  expect(claim).toMatch(
    /claim\.itemAdded +v1 +adds items +claimId, employeeId, itemId, category, amount, note, rank; sealed: note/,
  );
  expect(claim).toContain('primary key (claim_id, id)');
  expect(claim).toContain(
    'items.note: under the key of employeeId, in claim.itemAdded, claim.itemChanged, claim_items.note',
  );
  const { output } = await call(requests, 'request');
  expect(output).toContain(
    'breach: breach, 40 hours if normal or 4 hours if urgent after request.asked, while its status is not solved, paused while its status is waiting',
  );
  expect((await call(budgets)).output).toContain('to approved: code');
});

test('describes the whole domain, also as JSON', async () => {
  const { output } = await call(helpdesk);
  expect(output).toMatch(
    /^helpdesk\n {2}roles: anonymous, customer, agent, admin; users who sign up get the role customer\n {2}scopes: read:users/,
  );
  const { output: json } = await call(helpdesk, '--json');
  const { domain, aggregates } = JSON.parse(json);
  expect([domain, aggregates.map(({ name }: { name: string }) => name)]).toEqual([
    'helpdesk',
    ['user', 'ticket'],
  ]);
  expect(aggregates[1].rights).toContainEqual({
    right: 'ticket.solve',
    scope: 'solve:tickets',
    says: 'Agent and admin may solve it.',
  });
});

test('describes senders, with the commands of their messages', async () => {
  const { output } = await call(payouts);
  const lines = output.split('\n').map((line) => line.trim().replaceAll(/ +/g, ' '));
  for (const line of [
    'bank: The bank of the company.',
    'a sender to POST /inbox/bank, if inbox() is served, as bank, signed by standard-webhooks with BANK_WEBHOOK_SECRETS',
    'transfer.settled pay claim',
  ])
    expect(lines).toContain(line);
  expect(JSON.parse((await call(payouts, '--json')).output).senders).toHaveLength(6);
});

test('an unknown aggregate is refused', async () => {
  expect(await call(helpdesk, 'tickte')).toMatchObject({
    exit: 64,
    complaint: expect.stringContaining('there is no aggregate “tickte”; did you mean “ticket”?'),
  });
  expect(await call(helpdesk, 'invoice')).toMatchObject({
    exit: 64,
    complaint: expect.stringContaining('there are user, ticket'),
  });
});

test('describes what follows from the declaration of a view', async () => {
  const { exit, output } = await call(spendingDomain, 'spending');
  expect(exit).toBe(0);
  const lines = output.split('\n').map((line) => line.trim().replaceAll(/ +/g, ' '));
  for (const line of [
    'spending: The money that a team has spent of its budget.',
    'a view by team',
    'waiting sum',
    'lastPaidAt latest instant',
    'team.opened by id gives budget = budget',
    'request.submitted by team gives waiting = 1',
    'request.reminded by team changes reminders + 1',
    'request.rejected by team ends its share',
    'GET /spending read:spending listSpending',
    'GET /spending/{teamId} read:spending getSpending',
    'query spending(team: ID!): Spending',
    'read:spending Approver may read it if the caller is the approver of its team.',
    'spending_of_request',
    'primary key (team_id)',
  ])
    expect(lines).toContain(line);
  expect((await call(spendingDomain)).output).toContain(
    '\nasking\n  a view by employee (user), category (choice)',
  );
  expect((await call(spendingDomain, 'spendin')).complaint).toContain('did you mean “spending”?');
});
