import { mkdtemp, readFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { callAt } from '../test/engines/call-line.ts';
import { allEvents, as, by, registerUser } from '../test/engines/command-side.ts';
import { test as base } from '../test/engines/processes.ts';

const test = base
  .extend('person', { scope: 'file' }, ({ side }) => registerUser(side, { name: 'Erasmus' }))
  .extend('folder', { scope: 'file' }, () => mkdtemp(join(tmpdir(), 'annals-person-')))
  .extend(
    'call',
    { scope: 'file' },
    ({ database }) =>
      (...args: readonly string[]) =>
        callAt({ environment: database.settings }, ['people', 'export', ...args]),
  );

test('everything about a user is printed, and the request is an event of theirs', async ({
  call,
  person,
  side,
}) => {
  const { exit, output } = await call(String(person));
  expect(exit).toBe(0);
  const exported = JSON.parse(output);
  expect(exported).toMatchObject({ userId: person, by: 'system:command-line', isComplete: true });
  expect(output).toContain('Erasmus');
  const asked = (await allEvents(side)).filter(({ type }) => type === 'account.data_exported');
  expect(asked).toMatchObject([
    {
      stream: `account-${person}`,
      data: { userId: person, format: 'json' },
      metadata: { actor: 'system:command-line' },
    },
  ]);
  // The export has its own request.
  expect(output).toContain('account.data_exported');
});

test('a page to read goes into a new file, which only its owner can read', async ({
  call,
  folder,
  person,
}) => {
  const path = join(folder, 'erasmus.html');
  expect(await call(String(person), '--html', '--output', path)).toMatchObject({
    exit: 0,
    output: `Everything about user ${person} is in ${path}.`,
  });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(path, 'utf8')).toContain('This export is complete.');
  expect(await call(String(person), '--output', path)).toMatchObject({
    exit: 1,
    complaint: `${path} exists already: name another file.`,
  });
});

test('users who never were, or were deleted, have no export, and no event', async ({ call, side }) => {
  expect(await call('77')).toMatchObject({ exit: 1, complaint: 'There is no user 77.' });
  expect((await call('Ada')).exit).toBe(64);
  const gone = await registerUser(side, { name: 'Gone' });
  await side.send({ type: 'DeleteUser', userId: gone }, by(as(gone, 'admin')));
  expect(await call(String(gone))).toMatchObject({
    exit: 1,
    complaint: expect.stringContaining('was deleted, so there is nothing to export'),
  });
  const asked = (await allEvents(side)).filter(
    ({ type, data }) => type === 'account.data_exported' && (data as { userId: number }).userId === gone,
  );
  expect(asked).toEqual([]);
});
