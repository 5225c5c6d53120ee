import { expect, test } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import type { Row } from '#kernel/registry/registry.ts';
import { type Caller, policyOf } from '#shared/policy.ts';
import { publishing } from '../../domain/publishing.ts';
import { isSeenNowBy } from './auditor.ts';

const { user } = publishing.kinds;
if (user === undefined) throw new TypeError('Every domain has users.');

/** Whether a reader sees the former name of a user, where users are read by this rule. */
const seesName = async (read: Row, isReadableNow: boolean): Promise<boolean> => {
  const domain = {
    ...publishing,
    kinds: { ...publishing.kinds, user: { ...user, rights: { ...user.rights, read } } },
  };
  const policy = policyOf(domain);
  const caller: Caller = {
    ...{ kind: 'user', policy, userId: 1 as UserId, role: 'reader', client: null },
    scopes: new Set(policy.scopes),
  };
  return isSeenNowBy({ isReadable: async () => isReadableNow }, caller)(user, 2);
};

test('the former name of a user is shown to those who may read users, also after the deletion', async () => {
  expect(await seesName({ anyone: true }, false)).toBe(true);
});

test('the former name of a living user is not shown to a caller who may not read that user now', async () => {
  expect(await seesName({ signedIn: 'caller' }, false)).toBe(false);
  expect(await seesName({ signedIn: 'caller' }, true)).toBe(true);
});
