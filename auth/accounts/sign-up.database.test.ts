import { randomBytes, randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { openPool, type Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { openEventLog } from '#shared/event-log/open.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { createMetrics } from '#shared/process/metrics.ts';
import { startCommandService } from '../../command/service.ts';
import { mortal, registerUser } from '../../test/engines/command-side.ts';
import { createDatabase, type TestDatabase } from '../../test/engines/database.ts';
import { NO_BLOBS } from '../../test/engines/no-blobs.ts';
import { NO_ERASURES } from '../../test/engines/no-erasures.ts';
import { until } from '../../testing/until.ts';
import { type Credentials, createCredentials } from './credentials.ts';
import { openDirectory } from './directory.ts';
import { type Applicant, signUp } from './sign-up.ts';

const masterKey = parseMasterKey(randomBytes(32).toString('base64'));
const log = pino({ level: 'silent' });

let database: TestDatabase;
let pool: Pool;
let eventLog: EventLog;
let keys: KeyStore;
let credentials: Credentials;
let side: Awaited<ReturnType<typeof openCommands>>;
const resources = new AsyncDisposableStack();

const openCommands = (over: EventLog) =>
  startCommandService({
    domain: publishing,
    pool,
    eventLog: over,
    keys,
    masterKey,
    blobs: NO_BLOBS,
    erasures: NO_ERASURES,
    log,
    metrics: createMetrics(),
  });

beforeAll(async () => {
  database = resources.use(await createDatabase());
  pool = resources.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 16 }));
  eventLog = resources.use(await openEventLog({ url: database.url }));
  keys = resources.use(await openPostgresKeyStore({ pool, masterKey }));
  side = resources.use(await openCommands(eventLog));
  // The first directory makes the tables.
  await (await open())[Symbol.asyncDispose]();
  credentials = await createCredentials(pool);
});
afterAll(() => resources.disposeAsync());

const open = () =>
  openDirectory({
    domain: publishing,
    pool,
    eventLog,
    keys,
    masterKey,
    log,
    metrics: createMetrics(),
    revokeUser: async () => {},
  });

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

test('a new person can sign in at once, even if no process follows the log', async () => {
  const persons = await open();
  await persons[Symbol.asyncDispose]();
  const wanted = applicant();
  const signedUp = await signUp({ pool, gateway: side, persons, credentials }, wanted);
  if (signedUp.outcome !== 'done') throw new Error(signedUp.outcome);
  expect(await persons.byEmail(wanted.email)).toEqual({
    userId: signedUp.person.userId,
    role: 'author',
    status: 'active',
    version: 1,
  });
  expect(await credentials.verify(signedUp.person.userId, wanted.password)).toBe(true);
});

test('the same form again finds the same person; with another password it is refused', async () => {
  await using persons = await open();
  const dependencies = { pool, gateway: side, persons, credentials };
  const wanted = applicant();
  const first = await signUp(dependencies, wanted);
  expect(await signUp(dependencies, wanted)).toEqual(first);
  expect(await signUp(dependencies, { ...wanted, password: 'another password' })).toEqual({
    outcome: 'repeated',
  });
  expect(await signUp(dependencies, { ...wanted, name: 'Ben' })).toEqual({ outcome: 'repeated' });
});

test('two simultaneous clicks make one person', async () => {
  await using persons = await open();
  const wanted = applicant();
  const [one, two] = await Promise.all(
    [1, 2].map(() => signUp({ pool, gateway: side, persons, credentials }, wanted)),
  );
  expect(one).toEqual(two);
  expect(one?.outcome).toBe('done');
});

test('a taken address stays with its owner, with or without a password', async () => {
  await using persons = await open();
  const email = anAddress();
  const owner = await registerUser(side, { email, role: 'admin' });
  expect(await signUp({ pool, gateway: side, persons, credentials }, applicant({ email }))).toEqual({
    outcome: 'taken',
  });
  expect(await credentials.verify(owner, 'correct horse battery')).toBe(false);
});

test('a form sent again after a password change does not open the account with the old password', async () => {
  await using persons = await open();
  const dependencies = { pool, gateway: side, persons, credentials };
  const wanted = applicant();
  const signedUp = await signUp(dependencies, wanted);
  if (signedUp.outcome !== 'done') throw new Error(signedUp.outcome);
  await credentials.set(signedUp.person.userId, 'a newer password');
  expect(await signUp(dependencies, wanted)).toEqual({ outcome: 'repeated' });
});

test('a crash between the registration and the password leaves a person with a password', async () => {
  await using dying = await openCommands(
    mortal((stream) => (stream.startsWith('user-') ? 'after' : undefined))(eventLog),
  );
  await using persons = await open();
  const wanted = applicant();
  await expect(signUp({ pool, gateway: dying, persons, credentials }, wanted)).rejects.toThrow();
  const person = await until(() => persons.byEmail(wanted.email), Boolean);
  expect(await credentials.verify(person?.userId, wanted.password)).toBe(true);
});

test('after a crash before the registration, sending the same form again completes the sign-up', async () => {
  await using dying = await openCommands(
    mortal((stream) => (stream.startsWith('user-') ? 'before' : undefined))(eventLog),
  );
  await using persons = await open();
  const wanted = applicant();
  await expect(signUp({ pool, gateway: dying, persons, credentials }, wanted)).rejects.toThrow();
  expect(await persons.byEmail(wanted.email)).toBeUndefined();
  expect(
    await signUp(
      { pool, gateway: dying, persons, credentials },
      { ...wanted, formId: applicant().formId },
    ).catch(() => 'died'),
  ).toBe('died');
  // The claim of the dead process expires after two seconds.
  const again = await signUp(
    { pool, gateway: side, persons, credentials },
    { ...wanted, formId: applicant().formId },
  );
  expect(again.outcome).toBe('done');
});

test('the database contains neither the password nor the address in clear', async () => {
  await using persons = await open();
  const wanted = applicant();
  await signUp({ pool, gateway: side, persons, credentials }, wanted);
  for (const table of ['auth.person', 'auth.credential', 'auth.sign_up', 'auth.attempt']) {
    const { rows } = await pool.query<{ row: string }>(`select t::text as row from ${table} t`);
    const all = rows.map(({ row }) => row).join('\n');
    expect(all, table).not.toContain(wanted.email);
    expect(all, table).not.toContain(wanted.password);
  }
});
