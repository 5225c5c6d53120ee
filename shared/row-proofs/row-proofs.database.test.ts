import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { test as base, expect } from 'vitest';
import { openPool } from '#shared/database/pool.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { createTestClock, type TestClock } from '../../test/engines/test-clock.ts';
import { until } from '../../testing/until.ts';
import { startGivingProofs } from './give-proofs.ts';
import { openRowProofs } from './open.ts';
import { type GrantingTable, type Proven, provenColumns } from './row-proofs.ts';

type Grant = {
  readonly id: string;
  readonly secret: Buffer;
  readonly ends: Date;
  readonly keys: object | null;
};

const GRANTS: GrantingTable<Grant> = {
  name: 'auth.granted',
  key: 'id',
  keyType: 'text',
  columns: { id: 'id', secret: 'secret', ends: 'ends', keys: 'keys' },
};

const MASTER_KEY = parseMasterKey(randomBytes(32).toString('base64'));
const DAY_MS = 86_400_000;

const openInstallation = async () => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase());
  const pool = opening.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 4 }));
  const auditDir = await mkdtemp(join(tmpdir(), 'row-proofs-'));
  opening.defer(() => rm(auditDir, { recursive: true }));
  await pool.query(
    'create schema auth; create table auth.granted (id text primary key, secret bytea not null, ends timestamptz not null, keys jsonb)',
  );
  const resources = opening.move();
  return {
    ...{ pool, auditDir },
    /** As each process does at its start. */
    async start(clock: TestClock, more: { readonly isReader?: boolean; readonly auditDir?: string } = {}) {
      const log = pino({ level: 'silent' });
      const rowProofs = await openRowProofs({ pool, auditDir, masterKey: MASTER_KEY, clock, log, ...more });
      await pool.query('alter table auth.granted add column if not exists proof bytea');
      const giving = startGivingProofs({ pool, rowProofs, tables: [GRANTS], clock, log });
      return { rowProofs, [Symbol.asyncDispose]: () => giving[Symbol.asyncDispose]() };
    },
    /** As a process of the former release does. */
    becomeOld: () => pool.query('create table auth.person (user_id bigint)'),
    insertOld: (id: string) =>
      pool.query(`insert into auth.granted values ($1, '\\x01', now(), '{"b":{"d":1,"c":"ü"},"a":[2,1]}')`, [
        id,
      ]),
    async read(id: string): Promise<Grant & Proven> {
      const text = `select ${provenColumns(GRANTS)} from auth.granted where id = $1`;
      const row = (await pool.query<Grant & Proven>(text, [id])).rows[0];
      if (row === undefined) throw new Error(`${id} is not there`);
      return row;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const test = base
  .extend('open', () => openInstallation)
  .extend('installation', async ({ open }, { onCleanup }) => {
    const installation = await open();
    onCleanup(() => installation[Symbol.asyncDispose]());
    return installation;
  });

test('a row has the same proof before it is written and after it is read', async ({ installation }) => {
  await using process = await installation.start(createTestClock());
  const row: Grant = {
    id: 'a',
    secret: randomBytes(9),
    ends: new Date(),
    keys: { b: '\ud800', a: [{ d: 1, c: null }] },
  };
  const values = [
    row.id,
    row.secret,
    row.ends,
    { ...row.keys, b: '\ufffd' },
    process.rowProofs.of(GRANTS, row),
  ];
  await installation.pool.query('insert into auth.granted values ($1, $2, $3, $4, $5)', values);
  const found = await installation.read('a');
  expect(process.rowProofs.isRight(GRANTS, found)).toBe(true);
  expect(process.rowProofs.isRight(GRANTS, { ...found, secret: randomBytes(9) })).toBe(false);
  expect(process.rowProofs.isRight({ ...GRANTS, name: 'auth.another' }, found)).toBe(false);
  expect(process.rowProofs.isRight(GRANTS, { ...found, proof: null })).toBe(false);
});

test('rows of the former release count and get proofs for a day, and later ones do not', async ({
  installation,
}) => {
  await installation.becomeOld();
  await installation.pool.query(
    `insert into auth.granted select 'old ' || n, '\\x01', now(), null from generate_series(1, 2100) as n`,
  );
  const clock = createTestClock();
  await using process = await installation.start(clock);
  const { rowProofs } = process;
  await until(
    async () => rowProofs.isRight(GRANTS, await installation.read('old 2100')),
    (isRight) => isRight,
  );
  await installation.insertOld('beside');
  expect(await rowProofs.check(GRANTS, await installation.read('beside'))).toBe(true);
  await until(async () => {
    await clock.advance(600_000);
    return rowProofs.isRight(GRANTS, await installation.read('beside'));
  }, Boolean);
  await clock.advance(DAY_MS);
  await installation.insertOld('later');
  await using restarted = await installation.start(clock);
  for (const each of [process, restarted]) {
    expect(await each.rowProofs.check(GRANTS, await installation.read('later'))).toBe(false);
    expect(await each.rowProofs.check(GRANTS, await installation.read('old 7'))).toBe(true);
    expect(await each.rowProofs.check(GRANTS, await installation.read('beside'))).toBe(true);
  }
  expect((await installation.read('later')).proof).toBeNull();
});

test('a new database has no upgrade', async ({ installation }) => {
  await using process = await installation.start(createTestClock());
  await installation.insertOld('forged');
  expect(await process.rowProofs.check(GRANTS, await installation.read('forged'))).toBe(false);
});

test('another folder, or a damaged note, begins no second upgrade', async ({ installation }) => {
  await installation.becomeOld();
  const clock = createTestClock();
  await using _first = await installation.start(clock);
  await clock.advance(2 * DAY_MS);
  await installation.insertOld('forged');
  const auditDir = join(installation.auditDir, 'another');
  await using other = await installation.start(clock, { auditDir });
  expect(await other.rowProofs.isUpgrading()).toBe(false);
  await writeFile(join(installation.auditDir, 'row-proofs.json'), '{"v":');
  await using again = await installation.start(clock);
  expect(await again.rowProofs.check(GRANTS, await installation.read('forged'))).toBe(false);
});

test('a reader begins no upgrade, and knows of one that another process begins', async ({ installation }) => {
  await installation.becomeOld();
  await installation.insertOld('old');
  const clock = createTestClock();
  const { rowProofs } = await openReader(installation, clock);
  expect(await rowProofs.isUpgrading()).toBe(false);
  await using _process = await installation.start(clock);
  expect(await rowProofs.isUpgrading()).toBe(true);
});

const openReader = async (
  { pool, auditDir }: Pick<Awaited<ReturnType<typeof openInstallation>>, 'pool' | 'auditDir'>,
  clock: TestClock,
) => {
  const log = pino({ level: 'silent' });
  return {
    rowProofs: await openRowProofs({ pool, auditDir, masterKey: MASTER_KEY, clock, log, isReader: true }),
  };
};
