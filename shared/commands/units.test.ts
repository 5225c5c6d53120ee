import { expect, test } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import type { Caller } from '#shared/policy.ts';
import { POLICY } from '../../test/engines/policy.ts';
import { unitsMoreOf } from './units.ts';

const userId = 7001 as UserId;
const caller = (role: 'reader' | 'admin'): Caller => ({
  kind: 'user',
  policy: POLICY,
  userId,
  role,
  scopes: new Set(),
  client: null,
});
const units = (command: object, by: Caller = caller('reader')) => unitsMoreOf(command as never, by);
const patch = (operation: object) => ({ type: 'PatchUser', userId, patch: [operation] });

test.each([
  { type: 'UpdateUser', userId, email: 'ada@example.com' },
  patch({ op: 'replace', path: '/email', value: 'ada@example.com' }),
  patch({ op: 'copy', from: '/name', path: '/email' }),
  patch({ op: 'replace', path: '', value: {} }),
])('a command that names an address is dear: %j', (command) => {
  expect(units(command)).toBe(100);
  expect(units(command, caller('admin'))).toBe(0);
  expect(units(command, { kind: 'system', name: 'sign-up' })).toBe(0);
});

test('so does a replay, which reads the log', () => {
  const replay = { type: 'ReplayWebhook', webhookId: 6001, from: '1970-01-01T00:00:00Z' };
  expect([units(replay), units(replay, caller('admin'))]).toEqual([100, 0]);
});

test.each([
  { type: 'UpdateUser', userId, name: 'Ada' },
  { type: 'UpdateUser', userId, email: null },
  { type: 'DeleteUser', userId },
  patch({ op: 'replace', path: '/name', value: 'Ada' }),
  patch({ op: 'test', path: '/email', value: 'ada@example.com' }),
  patch({ op: 'remove', path: '/email' }),
])('others are not: %j', (command) => {
  expect(units(command)).toBe(0);
});
