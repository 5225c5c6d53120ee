import { expect } from 'vitest';
import { can } from '../../client/can.ts';
import { createClient } from '../../client/client.ts';
import { expenses } from '../../examples/expenses/domain/domain.ts';
import { until } from '../../testing/until.ts';
import { test as base } from '../engines/installation-fixture.ts';
import { startRole } from '../engines/role-process.ts';

/** The typed client against a whole system, which is killed in between. The tests depend on each other. */
const MAIN = 'test/toy/example-main.ts';
let team: number;
let claim: number;

const test = base
  .extend(
    'installationOptions',
    { scope: 'file' },
    { ownProcess: true, of: { domain: expenses, main: MAIN } },
  )
  .extend(
    'clientOf',
    { scope: 'file' },
    ({ installation }) =>
      (token: string) =>
        createClient<typeof expenses>({ url: installation.origin, token }),
  )
  .extend('administrator', { scope: 'file' }, ({ clientOf, people }) => clientOf(people.administrator.token))
  .extend('eve', { scope: 'file' }, ({ people }) => people.signUp('Eve'))
  .extend('employee', { scope: 'file' }, ({ clientOf, eve }) => clientOf(eve.token))
  .extend(
    'signUpAs',
    { scope: 'file' },
    ({ administrator, clientOf, people }) =>
      async (role: 'approver' | 'accountant', name: string) => {
        const person = await people.signUp(name);
        await administrator.users.edit(person.userId, { role });
        return clientOf((await people.signIn(person, role as never)).token);
      },
  )
  .extend('approver', { scope: 'file' }, ({ signUpAs }) => signUpAs('approver', 'Abel'))
  .extend('accountant', { scope: 'file' }, ({ signUpAs }) => signUpAs('accountant', 'Carl'));

test('a new item is visible to the next read, and typed as REST represents it', async ({
  administrator,
  approver,
  employee,
}) => {
  const { id: approverId } = await approver.me();
  ({ id: team } = await administrator.teams.create({ name: 'Field work', approverId, budget: 500_000 }));
  const created = await employee.claims.create({ teamId: team, purpose: 'Strasbourg' });
  claim = created.id;
  const added = await employee.claims
    .of(created)
    .items.add({ spentOn: '2026-11-20', category: 'travel', amount: 42_000, note: 'By train' });
  const { itemId } = added;
  await employee.claims.of(claim).items.edit(itemId, { amount: 43_000 });
  expect(await employee.claims.of(claim).items.get(itemId)).toMatchObject({
    id: itemId,
    amount: 43_000,
    note: 'By train',
  });
  const read = await employee.claims.get(claim);
  expect(read).toMatchObject({
    team: { id: team, name: 'Field work' },
    employee: { name: 'Eve' },
    status: 'draft',
    total: 43_000,
    itemCount: 1,
  });
  expect([can(read, 'submit'), can(read, 'approve')]).toEqual([true, false]);
  expect(await employee.claims.list({ status: 'draft', team }).take(5)).toHaveLength(1);
});

test('commands are refused by code, and for an outdated version', async ({ employee }) => {
  const before = await employee.claims.get(claim);
  const empty = await employee.claims.create({ teamId: team, purpose: 'Nothing' });
  const refused = await employee.claims.submit(empty).catch((error: unknown) => error);
  expect(employee.isProblem(refused, 'claim_not_filled')).toBe(true);
  await employee.claims.submit(before);
  await employee.claims.edit(empty, { purpose: 'Sooner' });
  const stale = await employee.claims.edit(empty, { purpose: 'Later' }).catch((error: unknown) => error);
  expect(employee.isProblem(stale, 'version_mismatch')).toBe(true);
  await expect(employee.claims.approve(claim)).rejects.toMatchObject({ status: 403 });
  expect(await employee.claims.delete(empty.id)).toBeUndefined();
  await expect(employee.claims.get(empty.id)).rejects.toMatchObject({ status: 404 });
});

test('views, history and time travel', async ({ accountant, approver, employee }) => {
  await approver.claims.approve(claim);
  await accountant.claims.pay(claim, undefined, { headers: { 'Consistency-Token': approver.written ?? '' } });
  expect(await accountant.spending.find({ team })).toMatchObject({
    team: { id: team },
    budget: 500_000,
    paid: 43_000,
  });
  expect(await accountant.spending.list({ sort: '-paid' }).take(1)).toMatchObject([{ paid: 43_000 }]);
  const types = (await employee.claims.history(claim).take(3)).map(({ type }) => type);
  expect(types).toEqual(['claim.paid', 'claim.approved', 'claim.submitted']);
  expect(await employee.claims.get(claim, { at: 'v3' })).toMatchObject({ status: 'draft', total: 43_000 });
});

const COUNT = 30;

test('across kills, every call takes effect once, and a subscriber gets each event once', async ({
  clientOf,
  employee,
  eve,
  installation,
  onTestFinished,
}) => {
  const following = clientOf(eve.token).follow({ types: ['claim.drafted'] });
  onTestFinished(async () => void (await following.return?.()));
  const received: number[] = [];
  const receiving = (async () => {
    for await (const { data } of following) if (received.push(data.claimId) >= COUNT) break;
  })();
  const first = await employee.claims.create({ teamId: team, purpose: '0' });
  await until(
    () => received,
    (ids) => ids.length === 1,
  );
  const purposes = Array.from({ length: COUNT - 1 }, (_, index) => String(index + 1));
  const creating = Promise.all(purposes.map((purpose) => employee.claims.create({ teamId: team, purpose })));
  const port = new URL(installation.origin).port;
  await installation.query[0]?.kill('SIGKILL');
  await using _serving = startRole(MAIN, { ...installation.settings, PORT: port });
  const created = await creating;
  await receiving;
  const ids = [first, ...created].map(({ id }) => id).toSorted((one, other) => one - other);
  expect(received.toSorted((one, other) => one - other)).toEqual(ids);
  const listed = await Array.fromAsync(
    employee.claims.list({ status: 'draft', limit: 7, sort: 'createdAt' }),
  );
  expect(listed.map(({ purpose }) => purpose).toSorted((one, other) => Number(one) - Number(other))).toEqual([
    '0',
    ...purposes,
  ]);
});
