import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { REAL_TIME, realTimeAhead } from '#shared/clock/real-time.ts';
import { mortal, registerUser } from '../../test/engines/command-side.ts';
import { test } from '../../test/engines/directory-fixture.ts';
import { until } from '../../testing/until.ts';
import { type Applicant, signUp } from './sign-up.ts';

const anAddress = () => `${randomUUID()}@example.com`;

const applicant = (change: Partial<Applicant> = {}): Applicant => ({
  formId: randomBytes(16).toString('base64url'),
  requestId: randomUUID(),
  name: 'Ada',
  email: anAddress(),
  password: 'correct horse battery',
  role: 'author',
  ...change,
});

test('a new person can sign in at once, even if no process follows the log', async ({
  credentials,
  open,
  pool,
  rowProofs,
  side,
}) => {
  const persons = await open();
  await persons[Symbol.asyncDispose]();
  const wanted = applicant();
  const signedUp = await signUp(
    { pool, gateway: side, persons, credentials, rowProofs, clock: REAL_TIME },
    wanted,
  );
  if (signedUp.outcome !== 'done') throw new Error(signedUp.outcome);
  expect(await persons.byEmail(wanted.email)).toEqual({
    userId: signedUp.person.userId,
    role: 'author',
    status: 'active',
    version: 1,
  });
  expect(await credentials.verify(signedUp.person.userId, wanted.password)).toBe(true);
});

test('the same form again finds the same person; with another password it is refused', async ({
  credentials,
  open,
  pool,
  rowProofs,
  side,
}) => {
  await using persons = await open();
  const dependencies = { pool, gateway: side, persons, credentials, rowProofs, clock: REAL_TIME };
  const wanted = applicant();
  const first = await signUp(dependencies, wanted);
  expect(await signUp(dependencies, wanted)).toEqual(first);
  expect(await signUp(dependencies, { ...wanted, password: 'another password' })).toEqual({
    outcome: 'repeated',
  });
  expect(await signUp(dependencies, { ...wanted, name: 'Ben' })).toEqual({ outcome: 'repeated' });
});

test('two simultaneous clicks make one person', async ({ credentials, open, pool, rowProofs, side }) => {
  await using persons = await open();
  const wanted = applicant();
  const [one, two] = await Promise.all(
    [1, 2].map(() =>
      signUp({ pool, gateway: side, persons, credentials, rowProofs, clock: REAL_TIME }, wanted),
    ),
  );
  expect(one).toEqual(two);
  expect(one?.outcome).toBe('done');
});

test('a taken address stays with its owner, with or without a password', async ({
  credentials,
  open,
  pool,
  rowProofs,
  side,
}) => {
  await using persons = await open();
  const email = anAddress();
  const owner = await registerUser(side, { email, role: 'admin' });
  expect(
    await signUp(
      { pool, gateway: side, persons, credentials, rowProofs, clock: REAL_TIME },
      applicant({ email }),
    ),
  ).toEqual({
    outcome: 'taken',
  });
  expect(await credentials.verify(owner, 'correct horse battery')).toBe(false);
});

test('a form sent again after a password change does not open the account with the old password', async ({
  credentials,
  open,
  pool,
  rowProofs,
  side,
}) => {
  await using persons = await open();
  const dependencies = { pool, gateway: side, persons, credentials, rowProofs, clock: REAL_TIME };
  const wanted = applicant();
  const signedUp = await signUp(dependencies, wanted);
  if (signedUp.outcome !== 'done') throw new Error(signedUp.outcome);
  await credentials.set(signedUp.person.userId, 'a newer password');
  expect(await signUp(dependencies, wanted)).toEqual({ outcome: 'repeated' });
});

test('a crash between the registration and the password leaves a person with a password', async ({
  credentials,
  eventLog,
  open,
  openCommands,
  pool,
  rowProofs,
}) => {
  await using dying = await openCommands(
    mortal((stream) => (stream.startsWith('user-') ? 'after' : undefined))(eventLog),
  );
  await using persons = await open();
  const wanted = applicant();
  await expect(
    signUp({ pool, gateway: dying, persons, credentials, rowProofs, clock: REAL_TIME }, wanted),
  ).rejects.toThrow();
  const person = await until(() => persons.byEmail(wanted.email), Boolean);
  expect(await credentials.verify(person?.userId, wanted.password)).toBe(true);
});

test('after a crash before the registration, sending the same form again completes the sign-up', async ({
  credentials,
  eventLog,
  open,
  openCommands,
  pool,
  rowProofs,
}) => {
  await using dying = await openCommands(
    mortal((stream) => (stream.startsWith('user-') ? 'before' : undefined))(eventLog),
  );
  await using persons = await open();
  const wanted = applicant();
  await expect(
    signUp({ pool, gateway: dying, persons, credentials, rowProofs, clock: REAL_TIME }, wanted),
  ).rejects.toThrow();
  expect(await persons.byEmail(wanted.email)).toBeUndefined();
  expect(
    await signUp(
      { pool, gateway: dying, persons, credentials, rowProofs, clock: REAL_TIME },
      { ...wanted, formId: applicant().formId },
    ).catch(() => 'died'),
  ).toBe('died');
  // The claim of the dead process expires after two seconds.
  await using later = await openCommands(
    eventLog,
    realTimeAhead(() => 3_000),
  );
  const again = await signUp(
    { pool, gateway: later, persons, credentials, rowProofs, clock: REAL_TIME },
    { ...wanted, formId: applicant().formId },
  );
  expect(again.outcome).toBe('done');
});

test('the database contains neither the password nor the address in clear', async ({
  credentials,
  open,
  pool,
  rowProofs,
  side,
}) => {
  await using persons = await open();
  const wanted = applicant();
  await signUp({ pool, gateway: side, persons, credentials, rowProofs, clock: REAL_TIME }, wanted);
  for (const table of ['auth.person', 'auth.credential', 'auth.sign_up', 'auth.attempt']) {
    const { rows } = await pool.query<{ row: string }>(`select t::text as row from ${table} t`);
    const all = rows.map(({ row }) => row).join('\n');
    expect(all, table).not.toContain(wanted.email);
    expect(all, table).not.toContain(wanted.password);
  }
});
