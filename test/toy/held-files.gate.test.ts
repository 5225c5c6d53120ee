import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { file, line, ref, states } from '#kernel/declare/fields.ts';
import { until } from '../../testing/until.ts';
import { test as base } from './toy-fixture.ts';

const court = domain({ name: 'court', roles: ['clerk', 'counsel'] });
const { aggregate, user } = court;
const staff = { clerk: true, counsel: true } as const;

/** Under a hold its former files stay, too. */
const exhibit = aggregate('exhibit', {
  owner: 'clerk',
  fields: {
    clerk: ref(user),
    title: line(50),
    scan: file({ types: ['application/pdf'], bytesMax: 9_000 }).optional(),
  },
  events: { filed: { creates: ['title'] }, changed: { changes: ['title', 'scan'] }, ended: { ends: true } },
  commands: { file: { emits: 'filed' }, change: { emits: 'changed' }, end: { emits: 'ended' } },
  rights: { read: staff, write: staff },
  hold: { right: { counsel: true } },
  reactions: { clerk: { deleted: { run: 'end' } } },
});

/** The same as long as it must be kept. */
const deed = aggregate('deed', {
  owner: 'clerk',
  fields: {
    clerk: ref(user),
    title: line(50),
    status: states('draft', 'signed'),
    scan: file({ types: ['application/pdf'], bytesMax: 9_000 }).optional(),
  },
  events: {
    drafted: { creates: ['title'] },
    changed: { changes: ['title', 'scan'] },
    signed: { sets: { status: 'signed' } },
    ended: { ends: true },
  },
  commands: {
    draft: { emits: 'drafted' },
    change: { emits: 'changed' },
    sign: { emits: 'signed', when: 'draft' },
    end: { emits: 'ended' },
  },
  rights: { read: staff, write: staff },
  retain: { for: '10 years', after: 'signed', run: 'end' },
  reactions: { clerk: { deleted: { run: 'end' } } },
});

const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: assemble(court, [exhibit, deed]) } })
  .extend('clerk', { scope: 'file' }, ({ signUpAs }) => signUpAs('Clerk', 'clerk'))
  .extend('counsel', { scope: 'file' }, ({ signUpAs }) => signUpAs('Counsel', 'counsel'))
  .extend('second', { scope: 'file' }, ({ signUpAs }) => signUpAs('Second', 'counsel'))
  .extend('create', { scope: 'file' }, ({ clerk: { token }, session }) => async (of: string) => {
    const { written } = await session.write('POST', `/${of}`, { token, body: { title: 'One' } });
    return `/${of}/${written.id}`;
  })
  .extend('stored', { scope: 'file' }, ({ installation }) => async (path: string) => {
    const names = await readdir(join(installation.settings.DATA_DIR ?? '', 'uploads'));
    return names.filter((name) => name.startsWith(`${path.split('/').at(-1)}-`)).length;
  })
  .extend('put', { scope: 'file' }, ({ ask, clerk: { token } }) => async (path: string, text: string) => {
    const body = Buffer.from(`%PDF-1.7\n${text}`, 'latin1');
    const { status } = await ask('PUT', `${path}/scan`, { token, type: 'application/pdf', body });
    expect(status).toBe(200);
  })
  /** Waits until the files that others have lost are removed: they are removed in the order of the log. */
  .extend('settled', { scope: 'file' }, ({ create, put, stored }) => async () => {
    const other = await create('exhibits');
    await put(other, 'first');
    await put(other, 'second');
    await until(
      () => stored(other),
      (count) => count === 1,
    );
  });

test('a held item keeps every file that it has had, until the release', async ({
  ask,
  counsel,
  create,
  put,
  second,
  settled,
  stored,
}) => {
  const path = await create('exhibits');
  await put(path, 'the evidence');
  await ask('POST', `${path}/holds`, { token: counsel.token, body: { reason: 'Litigation' } });
  await put(path, 'another');
  await ask('DELETE', `${path}/scan`, { token: second.token });
  await settled();
  expect(await stored(path)).toBe(2);
  const released = await ask('DELETE', `${path}/holds/1`, {
    token: second.token,
    headers: { reason: 'Settled' },
  });
  expect(released.status).toBeLessThan(300);
  await until(
    () => stored(path),
    (count) => count === 0,
  );
});

test('an item that must be kept keeps the files that it has lost since', async ({
  ask,
  clerk,
  create,
  put,
  settled,
  stored,
}) => {
  const path = await create('deeds');
  await put(path, 'a draft');
  await put(path, 'the deed');
  await settled();
  expect(await stored(path)).toBe(1);
  expect((await ask('POST', `${path}/sign`, { token: clerk.token })).status).toBeLessThan(300);
  await put(path, 'another');
  await settled();
  expect(await stored(path)).toBe(2);
});
