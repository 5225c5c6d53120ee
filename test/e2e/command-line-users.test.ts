import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPeople, type People, type Person } from '../../testing/people.ts';
import { until } from '../../testing/until.ts';
import { callLine } from '../engines/call-line.ts';
import { type Installation, startInstallation } from '../engines/installation.ts';

/** An operator in a terminal manages users and their accounts. */
let installation: Installation;
let people: People;
let ada: Person;
beforeAll(async () => {
  installation = await startInstallation();
  people = await openPeople(installation);
  ada = await people.signUp('Ada');
});
afterAll(() => installation?.[Symbol.asyncDispose]());

const access = () => [
  '--client',
  installation.admin.clientId,
  '--secret',
  installation.admin.secret,
  '--url',
  installation.url,
];
const call = (...args: readonly string[]) => callLine(installation.settings, ['users', ...args, ...access()]);
const told = async <Told>(...args: readonly string[]): Promise<readonly Told[]> => {
  const { exit, lines, complaint } = await call(...args, '--json');
  expect({ exit, complaint }).toEqual({ exit: 0, complaint: '' });
  return lines.map((line) => JSON.parse(line));
};

test('users are listed and found by a part of their name or address', async () => {
  const { lines, complaint } = await until(
    () => call('list'),
    (called) => called.lines.some((line) => line.startsWith(`${ada.userId} `)),
  );
  expect(lines[0]).toMatch(/^ID +Name +E-mail +Role +Since$/);
  expect(complaint).toBe(`${lines.length - 1} users`);
  expect(await told('list', '--limit', '1')).toHaveLength(1);
  for (const text of [ada.name.toLowerCase(), ada.email.split('@')[0] ?? ''])
    expect(await told('find', text)).toContainEqual(
      expect.objectContaining({ id: ada.userId, email: ada.email }),
    );
  expect(await call('find', 'nobody-is-called-so')).toMatchObject({
    exit: 0,
    lines: [],
    complaint: '0 users',
  });
});

test('one is shown by address or id', async () => {
  const { lines } = await call('show', ada.email);
  const text = lines.join('\n');
  expect(lines[0]).toBe(`${ada.name} active`);
  expect(text).toMatch(/^Signs in by +password$/m);
  expect(text).toMatch(/^Sessions +1 browser$/m);
  expect(await told('show', String(ada.userId))).toEqual([
    expect.objectContaining({ id: ada.userId, account: expect.objectContaining({ status: 'active' }) }),
  ]);
});

test('the role of a user can be changed', async () => {
  const grace = await people.signUp('Grace');
  expect(await call('role', grace.email, 'admin')).toMatchObject({
    exit: 0,
    lines: [`${grace.name} has the role admin.`],
  });
  await until(
    () => told<{ role: string }>('find', grace.email),
    ([user]) => user?.role === 'admin',
  );
});

test('a user is signed out everywhere, deactivated and reactivated', async () => {
  const mary = await people.signUp('Mary');
  const { lines } = await call('sessions', mary.email);
  expect(lines[0]).toMatch(/^Browser +Network +Signed in +Last seen$/);
  expect(lines).toHaveLength(2);
  expect(await call('sessions', mary.email, '--end')).toMatchObject({ exit: 0, lines: ['1 session ended.'] });
  expect(await told('sessions', mary.email)).toEqual([]);
  expect(await call('deactivate', mary.email)).toMatchObject({
    exit: 0,
    lines: [`The account of ${mary.name} is deactivated.`],
  });
  expect((await call('show', mary.email)).lines[0]).toBe(`${mary.name} deactivated`);
  expect(await call('reactivate', mary.email)).toMatchObject({
    exit: 0,
    lines: [`The account of ${mary.name} is active.`],
  });
  expect((await call('show', mary.email)).lines[0]).toBe(`${mary.name} active`);
});

test('a person is invited by a link', async () => {
  const { exit, lines } = await call('invite', 'joan@example.com', '--role', 'author');
  expect({ exit, lines }).toEqual({
    exit: 0,
    lines: [expect.stringContaining(`${installation.url}/account/invited`)],
  });
  expect(await call('invite', ada.email)).toMatchObject({ exit: 1, lines: [] });
});

test.each([
  [['show', 'nobody@example.com'], 1, 'Nobody has the address nobody@example.com'],
  [['show', '7'], 1, 'user_not_found'],
  [['role', '7', 'king'], 64, '<role> must be one of'],
  [['invite', 'x@example.com', '--role', 'king'], 64, '--role must be one of'],
])('%j is refused', async (args, exit, complaint) => {
  expect(await call(...args)).toMatchObject({ exit, complaint: expect.stringContaining(complaint) });
});
