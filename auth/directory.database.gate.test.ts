// Over 200 lines, because every case uses the one directory that is set up here.

import { randomInt, randomUUID } from 'node:crypto';
import { afterEach, expect } from 'vitest';
import type { EventId, StreamName, UserId } from '#kernel/base/brands.ts';
import { NO_STREAM } from '#shared/event-log/event-log.ts';
import { by, registerUser, system } from '../test/engines/command-side.ts';
import { test } from '../test/engines/directory-fixture.ts';
import { until } from '../testing/until.ts';
import { CREDENTIALS } from './accounts/credentials.ts';

const revoked: UserId[] = [];
const revoke = async (userId: UserId) => void revoked.push(userId);
afterEach(() => void revoked.splice(0));

const anAddress = () => `${randomUUID()}@example.com`;

test('a registered person is found by address, whatever its case, and by id', async ({ open, side }) => {
  await using persons = await open();
  const email = anAddress();
  const userId = await registerUser(side, { email, role: 'reader' });
  const found = await until(() => persons.byEmail(email.toUpperCase()), Boolean);
  expect(found).toEqual({ userId, role: 'reader', status: 'active', version: 1 });
  expect(await persons.byId(userId)).toEqual(found);
});

test('changes of address and role are applied, and the old address finds nobody', async ({ open, side }) => {
  await using persons = await open();
  const [email, next] = [anAddress(), anAddress()];
  const userId = await registerUser(side, { email, role: 'reader' });
  await side.send({ type: 'UpdateUser', userId, email: next, role: 'admin' }, by(system));
  expect(await until(() => persons.byEmail(next), Boolean)).toMatchObject({
    userId,
    role: 'admin',
    version: 2,
  });
  expect(await persons.byEmail(email)).toBeUndefined();
  await side.send({ type: 'UpdateUser', userId, email: null }, by(system));
  await until(
    () => persons.byEmail(next),
    (found) => found === undefined,
  );
});

test('an address can pass from one person to another', async ({ open, side }) => {
  await using persons = await open();
  const email = anAddress();
  const one = await registerUser(side, { email });
  await side.send({ type: 'UpdateUser', userId: one, email: null }, by(system));
  const two = await registerUser(side, { email });
  await until(
    () => persons.byEmail(email),
    (found) => found?.userId === two,
  );
});

test('a deleted person has no address, no password, and their tokens are revoked', async ({
  credentials,
  open,
  side,
}) => {
  await using persons = await open(revoke);
  const email = anAddress();
  const userId = await registerUser(side, { email });
  await credentials.set(userId, 'correct horse battery');
  await side.send({ type: 'DeleteUser', userId }, by(system));
  expect(
    await until(
      () => persons.byId(userId),
      (found) => found?.status === 'deleted',
    ),
  ).toMatchObject({ userId });
  expect(await persons.byEmail(email)).toBeUndefined();
  // The log says that they are deleted before the directory has deleted what they had.
  await until(
    () => credentials.verify(userId, 'correct horse battery'),
    (isRight) => !isRight,
  );
  await until(
    () => revoked,
    (all) => all.includes(userId),
  );
});

test('a start deletes what a former release has left of a deleted person', async ({ open, pool, side }) => {
  const userId = await registerUser(side, { email: anAddress() });
  await side.send({ type: 'DeleteUser', userId }, by(system));
  {
    await using _ = await open();
    await until(
      () => pool.query(`select from auth.person where user_id = $1 and status = 'deleted'`, [userId]),
      ({ rowCount }) => rowCount === 1,
    );
  }
  const living = await registerUser(side, { email: anAddress() });
  for (const id of [userId, living]) {
    await pool.query(`insert into auth.second_factor (user_id, sealed, last_step) values ($1, '', 0)`, [id]);
    await pool.query(`insert into auth.recovery_code (user_id, digest) values ($1, '')`, [id]);
    await pool.query(
      `insert into auth.passkey (id, user_id, credential_hash, sealed, counter) values ($1::text, $1::bigint, $1::text::bytea, '', 0)`,
      [id],
    );
  }
  await (await open())[Symbol.asyncDispose]();
  for (const table of ['second_factor', 'recovery_code', 'passkey']) {
    const { rows } = await pool.query(`select user_id as id from auth.${table}`);
    expect(rows).toEqual([{ id: living }]);
  }
});

test('events from before the start are applied, once', async ({ open, side }) => {
  const before = await open(revoke);
  await before[Symbol.asyncDispose]();
  const emails = [anAddress(), anAddress(), anAddress()];
  for (const email of emails) await registerUser(side, { email });
  const leaving = await registerUser(side, { email: anAddress() });
  await side.send({ type: 'DeleteUser', userId: leaving }, by(system));
  await using persons = await open(revoke);
  for (const email of emails) await until(() => persons.byEmail(email), Boolean);
  await until(
    () => persons.byId(leaving),
    (found) => found?.status === 'deleted',
  );
  await until(
    () => revoked.filter((userId) => userId === leaving),
    ({ length }) => length === 1,
  );
});

test('one of several processes follows the log, and the next takes over', async ({ open, side }) => {
  const first = await open();
  await using second = await open();
  await first[Symbol.asyncDispose]();
  const email = anAddress();
  await registerUser(side, { email });
  await until(() => second.byEmail(email), Boolean);
});

test('a failure to end the tokens of a deleted person is retried', async ({ open, side }) => {
  let refusals = 2;
  const revokeUser = async () => {
    refusals -= 1;
    if (refusals >= 0) throw new Error('not now');
  };
  await using persons = await open(revokeUser);
  const userId = await registerUser(side, { email: anAddress() });
  await side.send({ type: 'DeleteUser', userId }, by(system));
  await until(
    () => persons.byId(userId),
    (found) => found?.status === 'deleted',
  );
  await until(
    () => refusals,
    (left) => left === -1,
  );
});

test('an older event that arrives late does not undo a direct write', async ({ open, side }) => {
  await using persons = await open();
  const email = anAddress();
  const userId = await registerUser(side, { email, role: 'reader' });
  await until(() => persons.byId(userId), Boolean);
  await side.send({ type: 'UpdateUser', userId, role: 'author' }, by(system));
  await until(
    () => persons.byId(userId),
    (found) => found?.role === 'author',
  );
  await persons.register({ userId, version: 1 as never, email: anAddress(), role: 'reader' });
  expect(await persons.byEmail(email)).toMatchObject({ userId, role: 'author' });
});

test('a poison event blocks nobody else', async ({ eventLog, open, side }) => {
  await using persons = await open();
  const damaged = {
    id: randomUUID() as EventId,
    type: 'user.registered',
    data: { userId: 'x' },
    metadata: {},
  };
  await eventLog.append(`user-${randomInt(1_000_000)}` as StreamName, NO_STREAM, [damaged]);
  const email = anAddress();
  await registerUser(side, { email });
  await until(() => persons.byEmail(email), Boolean);
});

test('a checkpoint beyond the end of the log prevents the start', async ({ open, pool }) => {
  await pool.query(
    `update public.follower_checkpoint set position = position + 1000000 where follower = 'auth-directory'`,
  );
  await expect(open()).rejects.toThrow('beyond the end of the event log');
  await pool.query(
    `update public.follower_checkpoint set position = position - 1000000 where follower = 'auth-directory'`,
  );
});

test('a password hashed with other parameters is hashed again at the next sign-in', async ({
  credentials,
  pool,
  rowProofs,
  side,
}) => {
  const userId = await registerUser(side, { email: anAddress() });
  const outdated = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
  await pool.query('insert into auth.credential (user_id, phc, proof) values ($1, $2, $3)', [
    userId,
    outdated,
    rowProofs.of(CREDENTIALS, { userId, phc: outdated }),
  ]);
  expect(await credentials.verify(userId, 'password')).toBe(true);
  const { rows } = await pool.query<{ phc: string }>('select phc from auth.credential where user_id = $1', [
    userId,
  ]);
  expect(rows[0]?.phc).toMatch(/^\$argon2id\$v=19\$m=19456,/);
  expect(await credentials.verify(userId, 'password')).toBe(true);
});

test('a changed role ends the tokens with the earlier one; other changes do not', async ({
  open,
  pool,
  side,
}) => {
  await using directory = await open();
  const userId = await registerUser(side, { role: 'admin' });
  await until(
    () => directory.byId(userId),
    (person) => person?.role === 'admin',
  );
  const endedTokens = async () =>
    (await pool.query(`select from auth.revoked where kind = 'user' and value = $1`, [String(userId)]))
      .rowCount;
  const email = anAddress();
  await side.send({ type: 'UpdateUser', userId, name: 'Another', email }, by(system));
  await until(
    () => directory.byEmail(email),
    (person) => person?.userId === userId,
  );
  expect(await endedTokens()).toBe(0);
  await side.send({ type: 'UpdateUser', userId, role: 'reader' }, by(system));
  await until(
    () => directory.byId(userId),
    (person) => person?.role === 'reader',
  );
  expect(await endedTokens()).toBe(1);
});
