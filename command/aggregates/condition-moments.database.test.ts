// Each row of the table in docs/conditions.md that says what a condition sees is tested here.
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { holdsOf } from '#kernel/conditions/holds.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { ABSENT, type AggregateState } from '#kernel/decide/state.ts';
import { conditionOf, timerStatesOf } from '#kernel/decide/timers.ts';
import { domain } from '#kernel/declare/domain.ts';
import { instant, integer, list, ref, states } from '#kernel/declare/fields.ts';
import { policyOf } from '#shared/policy.ts';
import { by, registerUser, system } from '../../test/engines/command-side.ts';
import { callerIn } from '../../test/engines/policy.ts';
import { test as base } from '../../test/engines/processes.ts';

const declared = domain({ name: 'desk', roles: ['member'] });
const { aggregate, user } = declared;
const company = aggregate('company', {
  fields: { customer: integer(0, 9) },
  events: { opened: { creates: ['customer'] } },
  commands: { open: { emits: 'opened' } },
  rights: { read: { anyone: true }, write: { signedIn: true } },
});
const ticket = aggregate('ticket', {
  owner: 'agent',
  fields: {
    agent: ref(user),
    company: ref(company).optional(),
    customer: integer(0, 9),
    low: integer(0, 9).default(0),
    high: integer(0, 9).default(9),
    seenAt: instant().optional(),
    marks: list({ first: integer(0, 9), last: integer(0, 9) }, { max: 3 }),
    status: states('open', 'done'),
  },
  facts: {
    inOrder: { low: { max: { field: 'high' } } },
    zero: { low: 0 },
    sameCustomer: [{ company: null }, { company: { customer: { field: 'customer' } } }],
  },
  events: {
    opened: { creates: ['company', 'customer', 'low', 'high'] },
    changed: { changes: ['company', 'customer', 'low', 'high'] },
    lowered: { changes: ['low'], sets: { seenAt: 'now' } },
    marked: { adds: 'marks' },
    markChanged: { updates: 'marks' },
    closed: { sets: { status: 'done' } },
    reopened: { sets: { status: 'open' } },
  },
  commands: {
    open: { emits: 'opened', when: { customer: { not: 9 } } },
    change: { emits: 'changed' },
    lower: { emits: 'lowered', when: 'zero' },
    addMark: { emits: 'marked' },
    changeMark: { emits: 'markChanged', whenItem: { first: { max: { field: 'last' } } } },
    close: { emits: 'closed' },
    reopen: { emits: 'reopened' },
  },
  invariants: { inOrder: 'inOrder', sameCustomer: 'sameCustomer' },
  limits: { busy: { max: 1, per: 'agent', when: { low: 7, open: true }, says: 'One at a time.' } },
  rights: {
    read: { anyone: true },
    write: { signedIn: { low: { not: 5 } } },
    open: { signedIn: { customer: { not: 8 } } },
  },
  timers: { close: { after: 'opened', wait: '1 day', run: 'close', when: 'zero', pause: { low: 3 } } },
});
const desk = assemble(declared, [company, ticket]);
const policy = policyOf(desk);

const test = base
  .extend('sideOptions', { scope: 'file' }, { domain: desk })
  .extend('ada', { scope: 'file' }, ({ side }) => registerUser(side, { role: 'member' as never }))
  .extend('send', { scope: 'file' }, ({ side, ada }) => {
    return async (type: string, form: object = {}, caller: 'ada' | 'system' = 'ada'): Promise<number> => {
      const as = caller === 'system' ? system : callerIn(policy, { userId: ada, role: 'member' });
      return (await side.send({ type, ...form } as never, by(as))).id;
    };
  });

type Send = (type: string, form?: object) => Promise<number>;
const refused = (sent: Promise<unknown>, code: string) => expect(sent).rejects.toMatchObject({ code });

const { ticket: kind } = desk.kinds;
const { close } = kind?.timers ?? {};
if (kind === undefined || close === undefined) throw new Error('the declaration has changed');
const decider = deciderOf(desk, kind);
const after = (before: AggregateState, type: string, data: object): AggregateState =>
  decider.evolve(before, {
    type: `ticket.${type}`,
    data: { ticketId: 1, agentId: 1, ...data },
    metadata: { at: '2026-01-01T00:00:00.000Z', actor: 'user:1' },
  });
const opened = after(ABSENT, 'opened', { companyId: null, customer: 1, low: 0, high: 9 });
const moved = after(opened, 'changed', { low: 3 });

/** By the first column of the table. */
const ROWS: Readonly<Record<string, (send: Send) => Promise<void>>> = {
  '`when` of a creation': async (send) => {
    await refused(send('OpenTicket', { customer: 9 }), 'ticket_not_ready');
    await send('OpenTicket', { customer: 1 });
  },
  '`when` of another command': async (send) => {
    const ticketId = await send('OpenTicket', { customer: 1 });
    await send('LowerTicket', { ticketId, low: 2 });
    await refused(send('LowerTicket', { ticketId, low: 0 }), 'ticket_not_zero');
  },
  '`whenItem`': async (send) => {
    const ticketId = await send('OpenTicket', { customer: 1 });
    await send('AddMarkTicket', { ticketId, first: 1, last: 2 });
    await send('ChangeMarkTicket', { ticketId, markId: 1, first: 3 });
    await refused(send('ChangeMarkTicket', { ticketId, markId: 1, first: 0 }), 'ticket_mark_not_ready');
  },
  '`invariants`': async (send) => {
    const [one, two] = [
      await send('OpenCompany', { customer: 1 }),
      await send('OpenCompany', { customer: 2 }),
    ];
    await refused(send('OpenTicket', { customer: 1, low: 5, high: 4 }), 'ticket_not_in_order');
    await refused(send('OpenTicket', { customer: 1, companyId: two }), 'ticket_not_same_customer');
    const ticketId = await send('OpenTicket', { customer: 1, high: 4 });
    await refused(send('ChangeTicket', { ticketId, low: 6 }), 'ticket_not_in_order');
    await send('ChangeTicket', { ticketId, low: 6, high: 6 });
    await refused(send('ChangeTicket', { ticketId, companyId: two }), 'ticket_not_same_customer');
    await send('ChangeTicket', { ticketId, companyId: one });
    await refused(send('ChangeTicket', { ticketId, customer: 2 }), 'ticket_not_same_customer');
    await send('ChangeTicket', { ticketId, customer: 2, companyId: two });
  },
  'a right to a creation': async (send) => {
    await refused(send('OpenTicket', { customer: 8 }), 'forbidden');
  },
  'a right to another command': async (send) => {
    const ticketId = await send('OpenTicket', { customer: 1 });
    await send('ChangeTicket', { ticketId, low: 5 });
    await refused(send('ChangeTicket', { ticketId, low: 4 }), 'forbidden');
  },
  '`when` of a limit': async (send) => {
    const [first, second] = [
      await send('OpenTicket', { customer: 1 }),
      await send('OpenTicket', { customer: 1 }),
    ];
    await send('ChangeTicket', { ticketId: first, low: 7 });
    await refused(send('ChangeTicket', { ticketId: second, low: 7 }), 'ticket_busy_full');
    await send('CloseTicket', { ticketId: first });
    await send('ChangeTicket', { ticketId: second, low: 7 });
  },
  '`when` of a timer': async () => {
    const holds = holdsOf(conditionOf(desk, kind, close));
    const of = ({ status, ...state }: AggregateState) =>
      status === 'present' && 'fields' in state && holds(state.fields, null, () => undefined);
    expect([of(opened), of(moved)]).toEqual([true, false]);
  },
  '`pause` of a timer': async () => {
    const moment = (id: number, type: string, state: AggregateState) =>
      ({ id: String(id), type: `ticket.${type}`, atMs: id, state }) as never;
    const [paused] = timerStatesOf(desk, kind, [moment(1, 'opened', opened), moment(2, 'changed', moved)]);
    expect(paused).toMatchObject({ name: 'close', leftMs: 86_400_000 - 1 });
  },
};

const page = readFileSync(new URL('../../docs/conditions.md', import.meta.url), 'utf8');
const [, table = ''] = page.split('## What a condition sees\n');
const rows = [...(table.split('\n## ')[0] ?? '').matchAll(/^\| (?!Condition|---)(.+?) \|/gm)].map(
  ([, row]) => row,
);
/** Their moments are those of the reads, events and commands, which other suites compare. */
const ELSEWHERE = ['a right to read', '`when` of a reaction, and of `run`', 'a fact'];

test('the guide and these tests name the same conditions', () =>
  expect(rows.toSorted()).toEqual([...Object.keys(ROWS), ...ELSEWHERE].toSorted()));

for (const [row, check] of Object.entries(ROWS)) test(row, ({ send }) => check(send));
