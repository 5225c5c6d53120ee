import { expect } from 'vitest';
import { isoText } from '#kernel/base/instant.ts';
import { periodOf } from '#kernel/base/period.ts';
import type { TokenHolder } from '../../testing/http/people.ts';
import { spendingDomain } from './spending.ts';
import { test as base } from './toy-fixture.ts';

/** Keys by time, averages, and lowest and highest values, over REST and GraphQL. */
type Row = Readonly<Record<string, unknown>>;

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: spendingDomain } })
  .extend('paid', { scope: 'file' }, async ({ people, session: { write } }) => {
    const serve = async (role: string): Promise<TokenHolder> =>
      people.tokenOf(await people.registerService(role));
    const [ann, accountant, eve] = [
      await serve('approver'),
      await serve('accountant'),
      await people.signUp('Eve'),
    ];
    const body = { name: 'Field work', approverId: ann.userId, budget: 100 };
    const team = (await write('POST', '/teams', { token: ann.token, body })).written.id;
    const requests: number[] = [];
    for (const [amount, weight] of [
      [30, 1],
      [10, null],
      [35, 2],
    ]) {
      const form = { purpose: 'Strasbourg', category: 'travel', teamId: team, amount, weight };
      const { id } = (
        await write('POST', '/requests', { token: eve.token, body: { ...form, neededOn: '2027-01-03' } })
      ).written;
      for (const action of ['submit', 'approve', 'pay'])
        await write('POST', `/requests/${id}/${action}`, { token: ann.token });
      requests.push(id);
    }
    return { ann, accountant, eve, team, requests };
  });

test('a view by month has averages, and the lowest and highest values of what is left', async ({
  paid: { accountant, eve, team, requests },
  graphql,
  session: { read, write },
}) => {
  const month = periodOf('month', isoText(new Date()));
  const find = async (path: string) => (await read<Row & Row[]>(path, accountant)).body;
  const row = {
    month,
    team: { id: team, name: 'Field work' },
    paid: 75,
    average: 25,
    lowest: 10,
    highest: 35,
  };
  expect(await find(`/paying/${month}/${team}`)).toMatchObject(row);
  for (const query of [`month=${month}`, `team=${team}&sort=-average`, 'sort=first', 'sort=-highest'])
    expect(await find(`/paying?${query}`)).toMatchObject([row]);
  expect(await find('/paying?month=2000-01')).toEqual([]);
  for (const [path, status] of [
    ['/paying?month=2026-13', 400],
    ['/paying?sort=lowest', 400],
    [`/paying/2026-13/${team}`, 404],
    [`/paying/2000-01/${team}`, 404],
  ])
    expect([path, (await read(String(path), accountant)).status]).toEqual([path, status]);
  const query = `{ paying(month: "${month}", team: "${team}") { paid average lowest highest first last }
    payingConnection(sort: AVERAGE_DESC, filter: { month: "${month}" }) { totalCount nodes { average } } }`;
  expect(await graphql(query, accountant)).toMatchObject({
    data: {
      paying: { paid: 75, average: 25, lowest: 10, highest: 35, first: expect.stringMatching(/Z$/) },
      payingConnection: { totalCount: 1, nodes: [{ average: 25 }] },
    },
  });
  await write('DELETE', `/requests/${requests[1]}`, { token: eve.token, headers: { 'if-match': '*' } });
  expect(await find(`/paying/${month}/${team}`)).toMatchObject({ lowest: 30, average: 32.5 });
});

test('a view by week and day leaves null out of averages', async ({
  paid: { accountant, eve, requests },
  session: { read, write },
}) => {
  const week = periodOf('week', isoText(new Date()));
  const find = async (path: string) => (await read<Row & Row[]>(path, accountant)).body;
  const row = { askedIn: week, weight: 1.5, firstNeededOn: '2027-01-03' };
  expect(await find(`/needing/${week}/2027-01-03`)).toMatchObject(row);
  expect(await find('/needing?neededOn=2027-01-03&sort=-requests')).toMatchObject([row]);
  const edit = (id: number | undefined, body: object) =>
    write('PATCH', `/requests/${id}`, { token: eve.token, body, headers: { 'if-match': '*' } });
  for (const id of [requests[0], requests[2]]) await edit(id, { weight: null });
  expect(await find(`/needing/${week}/2027-01-03`)).toMatchObject({ weight: null });
  await edit(requests[0], { neededOn: '2027-02-28' });
  expect(await find(`/needing/${week}/2027-02-28`)).toMatchObject({
    requests: 1,
    firstNeededOn: '2027-02-28',
  });
  await edit(requests[0], { neededOn: null });
  expect(await find('/needing?neededOn=2027-02-28')).toEqual([]);
});

test('the values of a deleted user leave the view', async ({
  people: { administrator },
  paid: { accountant, eve, team },
  session: { read, write },
}) => {
  await write('DELETE', `/users/${eve.userId}`, { token: administrator.token, headers: { 'if-match': '*' } });
  await expect
    .poll(async () => (await read<Row[]>(`/paying?team=${team}`, accountant)).body, { timeout: 20_000 })
    .toEqual([]);
});
