import { expect } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, ref, states } from '#kernel/declare/fields.ts';
import { graphqlClientOf } from '../../testing/graphql/graphql-client.ts';
import { test as base } from './toy-fixture.ts';

const shop = domain({ name: 'drawers', roles: ['clerk'] });
const box = shop.aggregate('box', {
  names: { plural: 'boxes' },
  fields: {
    name: line(20).search('A'),
    note: line(20).optional().search('B'),
    lidState: states('open', 'shut'),
  },
  events: { put: { creates: ['name', 'note'] } },
  commands: { put: { emits: 'put' } },
  rights: { read: { anyone: true }, write: { clerk: true } },
});
/** Its parent has another name than the aggregate, and another reference has that name. */
const drawer = shop.aggregate('drawer', {
  parent: 'inside',
  fields: { inside: ref(box), box: ref(box).optional(), name: line(20) },
  events: { opened: { creates: ['name', 'box'] } },
  commands: { open: { emits: 'opened' } },
  rights: { read: { as: 'inside' }, write: { clerk: true } },
});
const drawers = assemble(shop, [box, drawer]);

const test = base.extend('installationOptions', { scope: 'file' }, { of: { domain: drawers } });

test('a parent may have another name than its aggregate', async ({
  byAdmin,
  session,
  installation,
  people,
}) => {
  const { id: above } = (await byAdmin('POST', '/boxes', { name: 'Big' })).written;
  const { id: other } = (await byAdmin('POST', '/boxes', { name: 'Small' })).written;
  const { id } = (await byAdmin('POST', `/boxes/${above}/drawers`, { name: 'Top', boxId: other })).written;
  const wanted = { id, insideId: above, boxId: other, name: 'Top' };
  expect((await session.read(`/drawers/${id}`)).body).toMatchObject(wanted);
  expect((await session.read(`/boxes/${above}/drawers`)).body).toMatchObject([wanted]);
  expect((await session.read(`/boxes/${other}/drawers`)).body).toEqual([]);
  const { data, errors } = await graphqlClientOf(installation)(
    `mutation { addDrawer(insideId: "${above}", input: { name: "Low" }) { name inside { id } } }`,
    { token: people.administrator.token },
  );
  expect([errors, data]).toEqual([undefined, { addDrawer: { name: 'Low', inside: { id: String(above) } } }]);
});

test('a text that is null does not hide the words of the others', async ({ byAdmin, session }) => {
  const { id } = (await byAdmin('POST', '/boxes', { name: 'Wooden' })).written;
  const { id: noted } = (await byAdmin('POST', '/boxes', { name: 'Iron', note: 'not wooden' })).written;
  const { body } = await session.read<readonly { id: number }[]>('/boxes?q=wooden');
  expect(body.map((each) => each.id).toSorted()).toEqual([id, noted].toSorted());
});

test('the field with the states may have a name of several words', async ({
  byAdmin,
  session,
  installation,
}) => {
  const { id } = (await byAdmin('POST', '/boxes', { name: 'Grey' })).written;
  await session.read(`/boxes/${id}`);
  const { data, errors } = await graphqlClientOf(installation)('{ boxes { lidState } }');
  expect([errors, data]).toEqual([undefined, { boxes: expect.arrayContaining([{ lidState: 'open' }]) }]);
});
