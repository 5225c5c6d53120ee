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
import { type GrantingTable, type Proven, provenColumns, type RowProofs } from './row-proofs.ts';

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
const SILENT = pino({ level: 'silent' });

const openInstallation = async () => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase());
  const pool = opening.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 4 }));
  const auditDir = await mkdtemp(join(tmpdir(), 'row-proofs-'));
  opening.defer(() => rm(auditDir, { recursive: true }));
  await pool.query(
    'create schema auth; create table auth.granted (id text primary key, secret bytea not null, ends timestamptz not null, keys jsonb, proof bytea)',
  );
  const resources = opening.move();
  return {
    ...{ pool, auditDir },
    /** As other roles do at their start. */
    openOther: (clock: TestClock, more: { readonly auditDir?: string } = {}) =>
      openRowProofs({ pool, auditDir, masterKey: MASTER_KEY, clock, log: SILENT, ...more }),
    /** As the authorization server does. */
    async start(clock: TestClock, more: { readonly auditDir?: string } = {}) {
      const rowProofs = this.openOther(clock, more);
      const giving = await startGivingProofs({ pool, rowProofs, tables: [GRANTS], clock, log: SILENT });
      return { rowProofs, [Symbol.asyncDispose]: () => giving[Symbol.asyncDispose]() };
    },
    /** As a process of the former release does. */
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
  // A pass that began before the end of the day may still give proofs, so its end is awaited.
  await process[Symbol.asyncDispose]();
  await installation.insertOld('later');
  const later = () => installation.read('later');
  await using restarted = await installation.start(clock);
  for (const each of [process, restarted]) {
    expect(await each.rowProofs.check(GRANTS, await later())).toBe(false);
    expect(await each.rowProofs.check(GRANTS, await installation.read('old 7'))).toBe(true);
    expect(await each.rowProofs.check(GRANTS, await installation.read('beside'))).toBe(true);
  }
  await restarted[Symbol.asyncDispose]();
  expect((await later()).proof).toBeNull();
});

test('a new database has no upgrade', async ({ installation }) => {
  await using process = await installation.start(createTestClock());
  await installation.insertOld('forged');
  expect(await process.rowProofs.check(GRANTS, await installation.read('forged'))).toBe(false);
});

test('another folder, or a damaged note, begins no second upgrade', async ({ installation }) => {
  await installation.insertOld('old');
  const clock = createTestClock();
  await using _first = await installation.start(clock);
  await clock.advance(2 * DAY_MS);
  await installation.insertOld('forged');
  const auditDir = join(installation.auditDir, 'another');
  const counts = (rowProofs: RowProofs) =>
    installation.read('forged').then((row) => rowProofs.check(GRANTS, row));
  expect(await counts(installation.openOther(clock, { auditDir }))).toBe(false);
  await using other = await installation.start(clock, { auditDir });
  expect(await counts(other.rowProofs)).toBe(false);
  await writeFile(join(installation.auditDir, 'row-proofs.json'), '{"v":');
  await using again = await installation.start(clock);
  expect(await counts(again.rowProofs)).toBe(false);
});

test('if other roles start days before the authorization server, old rows count, and get their day', async ({
  installation,
}) => {
  await installation.insertOld('old');
  const clock = createTestClock();
  const rowProofs = installation.openOther(clock);
  // Such as an invitation by the command line.
  const row: Grant = { id: 'new', secret: randomBytes(9), ends: new Date(), keys: null };
  await installation.pool.query('insert into auth.granted values ($1, $2, $3, $4, $5)', [
    ...[row.id, row.secret, row.ends, row.keys],
    rowProofs.of(GRANTS, row),
  ]);
  await clock.advance(3 * DAY_MS);
  expect(await rowProofs.check(GRANTS, await installation.read('old'))).toBe(true);
  await using process = await installation.start(clock);
  await until(
    async () => process.rowProofs.isRight(GRANTS, await installation.read('old')),
    (isRight) => isRight,
  );
  await clock.advance(2 * DAY_MS);
  await installation.insertOld('forged');
  expect(await rowProofs.check(GRANTS, await installation.read('forged'))).toBe(false);
});

test('nobody is locked out by a folder that cannot be written, or a restored backup: the start is refused', async ({
  installation,
}) => {
  await installation.insertOld('old');
  const clock = createTestClock();
  const file = join(installation.auditDir, 'file');
  await writeFile(file, '');
  await expect(installation.start(clock, { auditDir: file })).rejects.toThrow('cannot be written');
  await using _first = await installation.start(clock);
  await clock.advance(2 * DAY_MS);
  await installation.pool.query('update auth.granted set proof = null; drop table auth.row_proofs_begun');
  await installation.pool.query(`delete from public.annals_migration where component = 'row-proofs'`);
  await expect(installation.start(clock)).rejects.toThrow('restored its backup');
});
