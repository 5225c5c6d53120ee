import { expect } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import type { StreamName } from '#kernel/base/brands.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line } from '#kernel/declare/fields.ts';
import type { Command } from '#shared/commands/command.ts';
import { findParked } from '#shared/read-model/parked.ts';
import { by, system } from '../../test/engines/command-side.ts';
import { test as processes } from '../../test/engines/processes.ts';
import { appendRaw, replayed, untilProjected, verified } from '../../test/engines/projection.ts';
import { digestOf } from './digest.ts';

/** Custom code that throws parks only the aggregate of the event it throws at. */
const base = domain({ name: 'labels', roles: ['printer'] });
const label = base.aggregate('label', {
  fields: { title: line(20), initial: line(1).optional() },
  events: { printed: { creates: ['title'] }, changed: { changes: ['title'] } },
  commands: { print: { emits: 'printed' }, change: { emits: 'changed' } },
  rights: { read: { signedIn: true }, write: { signedIn: true } },
  projects: {
    initial: { by: { printed: ({ title }) => initialOf(title), changed: ({ title }) => initialOf(title) } },
  },
});

const initialOf = (title = ''): string => {
  if (!/^[A-Z]/.test(title)) throw new TypeError(`${title} has no initial`);
  return title.slice(0, 1);
};

const test = processes
  .extend('sideOptions', { scope: 'file' }, { domain: assemble(base, [label]) })
  .extend('labels', { scope: 'file' }, ({ side }) => {
    const send = async (type: string, form: object) =>
      (await side.send({ type, ...form } as unknown as Command, by(system))).id;
    const rows = async (): Promise<readonly object[]> => {
      await untilProjected(side);
      return (await side.pool.query('select title, initial from read_model.labels order by id')).rows;
    };
    return { rows, send };
  });
test.beforeAll(({ projector: _started }) => {});

test('an event at which code throws is refused, and parks its aggregate if it is in the log', async ({
  labels: { rows, send },
  side,
}) => {
  const id = await send('PrintLabel', { title: 'Apples' });
  const other = await send('PrintLabel', { title: 'Pears' });
  await expect(send('ChangeLabel', { labelId: id, title: '5 plums' })).rejects.toThrow(
    /^the projection of label\.initial failed with TypeError$/,
  );
  await expect(send('PrintLabel', { title: '5 plums' })).rejects.toThrow(
    'the projection of label.initial failed with TypeError',
  );
  expect(await rows()).toEqual([
    { title: 'Apples', initial: 'A' },
    { title: 'Pears', initial: 'P' },
  ]);

  const stream = `label-${id}` as StreamName;
  await appendRaw(
    side,
    stream,
    { type: 'label.changed', data: { labelId: Number(id), title: '5 plums' } },
    1,
  );
  await send('ChangeLabel', { labelId: other, title: 'Quinces' });
  expect(await rows()).toContainEqual({ title: 'Quinces', initial: 'Q' });
  const parked = await findParked(side.pool, stream);
  expect(parked).toMatchObject({
    version: 2,
    reason: expect.stringMatching(/the projection of label.initial failed with TypeError$/),
  });
  await expect(send('ChangeLabel', { labelId: id, title: 'Plums' })).rejects.toThrow(
    'the projection of label.initial failed with TypeError',
  );

  expect(await replayed(side)).toEqual(await digestOf(side.pool, 'read_model'));
  expect(await verified(side)).toMatchObject({
    outcome: 'proven',
    parked: { total: 1, listed: [{ stream, version: 2 }] },
  });
});
