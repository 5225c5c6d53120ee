import { expect } from 'vitest';
import { until } from '../../testing/until.ts';
import { callLine } from '../engines/call-line.ts';
import { test as base } from '../engines/terminal.ts';

/** An operator in a terminal manages users and their accounts, where changes must name a version. */

const test = base
  .extend('installationOptions', { scope: 'file' }, { settings: { REQUIRE_IF_MATCH: 'on' } })
  /** A new user whom lists show already, though the command line sent no write. */
  .extend('signUp', ({ call, people }) => async (name: string) => {
    const person = await people.signUp(name);
    await until(
      () => call('users', 'show', person.email),
      ({ exit }) => exit === 0,
    );
    return person;
  });

test('users are listed and found by a part of their name or address', async ({ ada, call, listed }) => {
  const { lines } = await until(
    () => call('api', 'listUsers'),
    (called) => called.lines.some((line) => line.startsWith(`${ada.userId} `)),
  );
  expect(lines[0]).toMatch(/^id +name +/);
  const first = await call('api', 'listUsers', '--limit', '1');
  expect(first.lines).toHaveLength(2);
  expect(first.complaint).toMatch(/^There are more: add --after \S+, or --all\.$/);
  expect(await listed('api', 'listUsers', '--limit', '1')).toHaveLength(1);
  expect((await listed('api', 'listUsers', '--limit', '1', '--all')).length).toBeGreaterThan(1);
  for (const text of [ada.name.toLowerCase(), ada.email.split('@')[0] ?? ''])
    expect(await listed('api', 'listUsers', '--q', text)).toContainEqual(
      expect.objectContaining({ id: ada.userId, email: ada.email }),
    );
  expect(await call('api', 'listUsers', '--q', 'nobody-is-called-so')).toMatchObject({
    exit: 0,
    lines: [],
    complaint: '',
  });
});

test('one is shown by address or id', async ({ ada, call, listed }) => {
  const { lines } = await call('users', 'show', ada.email);
  const text = lines.join('\n');
  expect(lines[0]).toBe(`${ada.name} active`);
  expect(text).toMatch(/^Signs in with +password$/m);
  expect(text).toMatch(/^Sessions +1 browser$/m);
  expect(await listed('users', 'show', String(ada.userId))).toEqual([
    expect.objectContaining({ id: ada.userId, account: expect.objectContaining({ status: 'active' }) }),
  ]);
});

test('the role of a user can be changed', async ({ call, listed, signUp }) => {
  const grace = await signUp('Grace');
  expect(await call('users', 'role', grace.email, 'admin')).toMatchObject({
    exit: 0,
    lines: [`${grace.name} has the role admin.`],
  });
  await until(
    () => listed<{ role: string }>('api', 'listUsers', '--q', grace.email),
    ([user]) => user?.role === 'admin',
  );
});

test('a user is signed out everywhere, deactivated and reactivated', async ({ call, listed, signUp }) => {
  const mary = await signUp('Mary');
  const { lines } = await call('users', 'sessions', mary.email);
  expect(lines[0]).toMatch(/^Browser +Network +Signed in +Last seen$/);
  expect(lines).toHaveLength(2);
  expect(await call('users', 'sessions', mary.email, '--end')).toMatchObject({
    exit: 0,
    lines: ['Ended: 1 session, 1 application, 0 access tokens.'],
  });
  expect(await listed('users', 'sessions', mary.email)).toEqual([]);
  expect(await call('users', 'deactivate', mary.email)).toMatchObject({
    exit: 0,
    lines: [`The account of ${mary.name} is deactivated.`],
  });
  expect((await call('users', 'show', mary.email)).lines[0]).toBe(`${mary.name} deactivated`);
  expect(await call('users', 'reactivate', mary.email)).toMatchObject({
    exit: 0,
    lines: [`The account of ${mary.name} is active.`],
  });
  expect((await call('users', 'show', mary.email)).lines[0]).toBe(`${mary.name} active`);
});

test('the webhooks of a deactivated user are named, and disabled on request', async ({
  ask,
  call,
  listed,
  signUp,
}) => {
  const joan = await signUp('Joan');
  const webhook = { url: 'https://example.com/hook', eventTypes: ['article.*'] };
  const { status } = await ask('POST', '/webhooks', { token: joan.token, body: webhook });
  expect(status).toBe(201);
  const enabled = () => listed<object>('webhooks', 'list', '--owner', String(joan.userId));
  await until(enabled, (webhooks) => webhooks.length === 1);
  const deactivated = `The account of ${joan.name} is deactivated.`;
  expect(await call('users', 'deactivate', joan.email)).toMatchObject({
    exit: 0,
    lines: [deactivated],
    complaint: 'Still enabled: 1 webhook of theirs. Repeat it with --disable-webhooks to stop them too.',
  });
  expect(await call('users', 'deactivate', joan.email, '--disable-webhooks')).toMatchObject({
    exit: 0,
    lines: [deactivated, 'Disabled: 1 webhook.'],
  });
  await until(enabled, ([found]) => found !== undefined && 'enabled' in found && found.enabled === false);
});

test('nobody is deactivated without the scope that the webhooks need', async ({
  call,
  installation,
  signUp,
}) => {
  const mae = await signUp('Mae');
  const scope = 'read:users write:users manage:accounts';
  const token = (await call('token', '--scope', scope)).lines.join('');
  const command = ['users', 'deactivate', mae.email, '--disable-webhooks', '--url', installation.url];
  expect(await callLine({ ...installation.settings, ANNALS_TOKEN: token }, command)).toMatchObject({
    exit: 1,
    lines: [],
    complaint: expect.stringContaining('manage:webhooks'),
  });
  expect((await call('users', 'show', mae.email)).lines[0]).toBe(`${mae.name} active`);
});

test('a person is invited by a link', async ({ ada, call, installation }) => {
  const { exit, lines } = await call('users', 'invite', 'joan@example.com', '--role', 'author');
  expect({ exit, lines }).toEqual({
    exit: 0,
    lines: [expect.stringContaining(`${installation.url}/account/invited`)],
  });
  expect(await call('users', 'invite', ada.email)).toMatchObject({ exit: 1, lines: [] });
});

test.for<[readonly string[], number, string]>([
  [['show', 'nobody@example.com'], 1, 'No user has the address nobody@example.com'],
  [['show', '7'], 1, 'user_not_found'],
  [['role', '7', 'king'], 64, '<role> must be one of'],
  [['invite', 'x@example.com', '--role', 'king'], 64, '--role must be one of'],
])('%j is refused', async ([args, exit, complaint], { call }) => {
  expect(await call('users', ...args)).toMatchObject({ exit, complaint: expect.stringContaining(complaint) });
});
