import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UserId } from '#kernel/base/brands.ts';
import { arbitrary } from '../../test/arbitrary-event.ts';
import { describeDecider } from '../../test/decider-properties.ts';
import { given } from '../../test/given.ts';
import { type UserCommand, type UserEvent, user } from '../../test/users.ts';
import { userStream } from './user.ts';

const userId = 1 as UserId;
const profile = { name: 'Ada', email: 'ada@example.com', role: 'author' } as const;
const registered: UserEvent = { type: 'user.registered', data: { userId, ...profile } };
const deleted: UserEvent = { type: 'user.deleted', data: { userId } };
const abandoned: UserEvent = { type: 'user.email_abandoned', data: { userId, claim: 'email-x@0' } };
const erased: UserEvent = {
  type: 'user.registered',
  data: { userId, name: null, email: null, role: 'author' },
};
const register: UserCommand = { type: 'RegisterUser', userId, ...profile };
const remove: UserCommand = { type: 'DeleteUser', userId };
const abandon: UserCommand = { type: 'AbandonEmail', userId, claim: 'email-x@0' };
const update = (
  changes: Partial<Omit<Extract<UserCommand, { type: 'UpdateUser' }>, 'type' | 'userId'>>,
): UserCommand => ({
  type: 'UpdateUser',
  userId,
  ...changes,
});
const updated = (
  changes: Partial<Omit<Extract<UserEvent, { type: 'user.updated' }>['data'], 'userId'>>,
): UserEvent => ({
  type: 'user.updated',
  data: { userId, ...changes },
});

test('the stream', () => expect(userStream(userId)).toBe('user-1'));

describe('registering', () => {
  test('a new user', () => given(user, []).when(register).yields([registered]));
  test('without an e-mail address', () =>
    given(user, [])
      .when({ ...register, email: null })
      .yields([{ type: 'user.registered', data: { userId, ...profile, email: null } }]));
  test('under the id of a user', () => given(user, [registered]).when(register).refuses('id_taken'));
  test('under the id of a deleted user', () =>
    given(user, [registered, deleted]).when(register).refuses('id_taken'));
  test('after the claim made for it was given up', () =>
    given(user, [abandoned]).when(register).refuses('id_taken'));
});

describe('updating', () => {
  test('one thing names only that', () =>
    given(user, [registered])
      .when(update({ name: 'Ada L.' }))
      .yields([updated({ name: 'Ada L.' })]));
  test('everything', () =>
    given(user, [registered])
      .when(update({ name: 'A', email: 'a@example.com', role: 'admin' }))
      .yields([updated({ name: 'A', email: 'a@example.com', role: 'admin' })]));
  test('leaves out what is as it was', () =>
    given(user, [registered])
      .when(update({ ...profile, role: 'reader' }))
      .yields([updated({ role: 'reader' })]));
  test('removes the e-mail address', () =>
    given(user, [registered])
      .when(update({ email: null }))
      .yields([updated({ email: null })]));
  test('the case of the e-mail address', () =>
    given(user, [registered])
      .when(update({ email: 'Ada@example.com' }))
      .yields([updated({ email: 'Ada@example.com' })]));
  test('to what it is', () => given(user, [registered]).when(update(profile)).changesNothing());
  test('nothing', () => given(user, [registered]).when(update({})).changesNothing());
  test('to what an earlier update made of it', () =>
    given(user, [registered, updated({ name: 'B', role: 'admin' })])
      .when(update({ name: 'B', role: 'admin' }))
      .changesNothing());
  test('nobody', () =>
    given(user, [])
      .when(update({ name: 'B' }))
      .refuses('user_not_found'));
  test('somebody who never came to be', () =>
    given(user, [abandoned])
      .when(update({ name: 'B' }))
      .refuses('user_not_found'));
  test('a deleted user', () =>
    given(user, [registered, deleted])
      .when(update({ name: 'B' }))
      .refuses('user_deleted'));
  test('a user whose key was destroyed', () =>
    given(user, [erased])
      .when(update({ role: 'admin' }))
      .refuses('user_deleted'));
});

describe('deleting', () => {
  test('a user', () => given(user, [registered]).when(remove).yields([deleted]));
  test('a user whose key was destroyed', () => given(user, [erased]).when(remove).yields([deleted]));
  test('a deleted user', () => given(user, [registered, deleted]).when(remove).changesNothing());
  test('nobody', () => given(user, []).when(remove).refuses('user_not_found'));
  test('somebody who never came to be', () =>
    given(user, [abandoned]).when(remove).refuses('user_not_found'));
});

describe('giving up a claim of an e-mail address', () => {
  const other: UserCommand = { ...abandon, claim: 'email-x@1' };
  const otherAbandoned: UserEvent = { type: 'user.email_abandoned', data: { userId, claim: 'email-x@1' } };

  test('spends the id of a user to be', () => given(user, []).when(abandon).yields([abandoned]));
  test('moves the version of a user on', () => given(user, [registered]).when(abandon).yields([abandoned]));
  test('again', () => given(user, [abandoned]).when(abandon).changesNothing());
  test('again, of a user', () => given(user, [registered, abandoned]).when(abandon).changesNothing());
  test('again, after the user was changed', () =>
    given(user, [registered, abandoned, updated({ name: 'B' })])
      .when(abandon)
      .changesNothing());
  test('made at another version', () =>
    given(user, [registered, abandoned]).when(other).yields([otherAbandoned]));
  test('made for the same registration of another address', () =>
    given(user, [abandoned]).when(other).yields([otherAbandoned]));
  test('of a deleted user', () => given(user, [registered, deleted]).when(abandon).changesNothing());
});

describe('the state', () => {
  test('of a deleted user knows nothing of the person', () =>
    given(user, [registered, deleted]).is({ status: 'ended', fields: { id: userId } }));
  test('of a user who gave up a claim is otherwise as it was', () =>
    given(user, [registered, abandoned, updated({ role: 'admin' })]).is({
      status: 'present',
      fields: { id: userId, ...profile, role: 'admin' },
      lostUploads: '',
      abandoned: 'email-x@0',
    }));
});

describe('in general', () => {
  const { name, email, role } = arbitrary;
  const names = fc.oneof(name, fc.constantFrom('Ada', 'Ben'));
  const emails = fc.option(fc.oneof(email, fc.constant('ada@example.com')));
  describeDecider<typeof user.initial, UserCommand, UserEvent>(
    user,
    fc.oneof<fc.Arbitrary<UserCommand>[]>(
      fc.record({
        type: fc.constant('RegisterUser'),
        userId: fc.constant(userId),
        name: names,
        email: emails,
        role,
      }),
      fc.record(
        { type: fc.constant('UpdateUser'), userId: fc.constant(userId), name: names, email: emails, role },
        { requiredKeys: ['type', 'userId'] },
      ),
      fc.constant(remove),
      fc.record({
        type: fc.constant('AbandonEmail'),
        userId: fc.constant(userId),
        claim: fc.constantFrom('a', 'b'),
      }),
    ),
  );
});
