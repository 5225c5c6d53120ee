import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { pino } from 'pino';
import { expect } from 'vitest';
import { createMetrics } from '#process/observability/metrics.ts';
import type { ReadBy } from '#shared/read-log/entry.ts';
import { expire } from '#shared/read-log/expire.ts';
import { Notes } from '#shared/read-log/notes.ts';
import { openReadLog, type ReadLog } from '#shared/read-log/read-log.ts';
import { freshTest as base } from '../../test/engines/audited-log.ts';
import { checkReads, type ReadsFinding } from './check-reads.ts';
import { mendReadsFile, signReads } from './service.ts';
import { readsFileIn } from './signed-reads.ts';

const KIND = { name: 'patient', reads: { only: undefined, ifUnwritable: 'refuse' } } as const;
const BY: ReadBy = {
  ...{
    actor: 'user:7',
    reader: 7,
    client: 'console',
    via: 'rest' as const,
    operation: 'getPatient',
    query: {},
  },
  request: 'r1',
};

const KEEP_DAYS = 30;

const readOnce = (readLog: ReadLog, id: number): Promise<void> | undefined => {
  const notes = new Notes();
  notes.add(KIND, id, ['name']);
  return readLog.record(notes, BY);
};

const test = base.extend('log', async ({ audited }, { onCleanup }) => {
  const readLog = await openReadLog({ ...audited, log: pino({ level: 'silent' }), metrics: createMetrics() });
  onCleanup(() => readLog[Symbol.asyncDispose]());
  const { pool, auditDir } = audited;
  const DAY_MS = 86_400_000;
  return {
    file: readsFileIn(auditDir),
    read: async (...ids: readonly number[]) => {
      for (const id of ids) await readOnce(readLog, id);
    },
    sign: async () => {
      await mendReadsFile({ pool, auditDir });
      await signReads({ ...audited, everyMs: 0, keepDays: KEEP_DAYS, log: pino({ level: 'silent' }) });
    },
    async check({ inDays = 0, keepDays = KEEP_DAYS as number | undefined } = {}) {
      const findings: ReadsFinding[] = [];
      const nowMs = Date.now() + inDays * DAY_MS;
      await checkReads({ pool, auditDir, keepDays, nowMs }, (finding) => findings.push(finding));
      return findings;
    },
    tamper: async (statement: string) => {
      const tables = ['entry', 'head', 'signed_head'];
      await pool.query(tables.map((table) => `alter table read_log.${table} disable trigger all`).join(';'));
      await pool.query(statement);
      await pool.query(tables.map((table) => `alter table read_log.${table} enable trigger all`).join(';'));
    },
  };
});

test('a log of reads that nobody has changed is proven, also while it grows', async ({ log }) => {
  await log.read(1, 2, 3);
  expect(await log.check()).toEqual([]);
  await log.sign();
  await log.read(4);
  await log.sign();
  await log.read(5);
  expect(await log.check()).toEqual([]);
  expect((await readFile(log.file, 'utf8')).trim().split('\n')).toHaveLength(2);
});

test.for<[name: string, statement: string, findings: readonly object[]]>([
  [
    'another reader in the text',
    `update read_log.entry set entry = replace(entry, 'user:7', 'user:8') where number = 2`,
    [{ kind: 'reads_entry_changed', number: 2 }],
  ],
  [
    'another reader in the column alone',
    'update read_log.entry set reader = 8 where number = 2',
    [{ kind: 'reads_entry_changed', number: 2 }],
  ],
  [
    'another item in the column alone',
    `update read_log.entry set items = '{9}' where number = 2`,
    [{ kind: 'reads_entry_changed', number: 2 }],
  ],
  [
    'a removed entry',
    'delete from read_log.entry where number = 2',
    [{ kind: 'reads_entry_missing', number: 2 }],
  ],
  [
    'an entry with a chain that was computed again',
    `update read_log.entry set entry = replace(entry, 'user:7', 'user:8') where number = 3;
     update read_log.entry e set hash = sha256(b.hash || int8send(e.number) || convert_to(e.entry, 'UTF8'))
       from read_log.entry b where e.number = 3 and b.number = 2;
     update read_log.head set hash = (select hash from read_log.entry where number = 3)`,
    [
      { kind: 'reads_head_wrong', number: 3, why: 'hash', source: 'file' },
      { kind: 'reads_head_wrong', number: 3, why: 'hash', source: 'database' },
    ],
  ],
  [
    'a cut end',
    `delete from read_log.entry where number = 3;
     update read_log.head set count = 2, hash = (select hash from read_log.entry where number = 2)`,
    [
      { kind: 'reads_cut', number: 3, entries: 2, source: 'file' },
      { kind: 'reads_cut', number: 3, entries: 2, source: 'database' },
    ],
  ],
  [
    'a cut end, with the signed head',
    `delete from read_log.entry where number = 3; delete from read_log.signed_head;
     update read_log.head set count = 2, hash = (select hash from read_log.entry where number = 2)`,
    [{ kind: 'reads_cut', number: 3, entries: 2, source: 'file' }],
  ],
  [
    'a forged signature',
    String.raw`update read_log.signed_head set signature = '\x00'`,
    [{ kind: 'reads_head_wrong', number: 0, why: 'signature', source: 'database' }],
  ],
])('verification finds %s', async ([, statement, findings], { log }) => {
  await log.read(1, 2, 3);
  await log.sign();
  await log.tamper(statement);
  expect(await log.check()).toEqual(findings);
});

test('a head that is in the database alone is added to the file', async ({ audited, log }) => {
  await log.read(1);
  await log.sign();
  const whole = await readFile(log.file, 'utf8');
  for (const torn of ['', whole.slice(0, 40)]) {
    await writeFile(log.file, torn);
    await mendReadsFile(audited);
    expect(await readFile(log.file, 'utf8')).toBe(whole);
  }
});

test('verification finds a file whose heads were edited or added', async ({ log }) => {
  await log.read(1);
  await log.sign();
  await writeFile(log.file, (await readFile(log.file, 'utf8')).replace('\\"reads\\":1', '\\"reads\\":9'));
  await appendFile(log.file, 'nonsense\n');
  expect(await log.check()).toEqual([
    { kind: 'reads_head_wrong', number: 0, why: 'signature', source: 'file' },
    { kind: 'reads_head_wrong', number: 0, why: 'unreadable', source: 'file' },
  ]);
});

test('after the retention period entries are gone, and the rest is proven', async ({ audited, log }) => {
  await log.read(1, 2);
  await log.sign();
  const { rows } = await audited.pool.query<{ readonly at: Date }>(
    'select max(at) as at from read_log.entry',
  );
  await log.read(3);
  expect(await expire(audited.pool, new Date((rows[0]?.at.getTime() ?? 0) + 1))).toBeGreaterThanOrEqual(2);
  expect(await log.check()).toEqual([]);
  expect(await expire(audited.pool, new Date(0))).toBe(0);
  await log.read(4);
  await log.sign();
  expect(await log.check()).toEqual([]);
});

test('verification finds a beginning that was removed before its time', async ({ audited, log }) => {
  await log.read(1);
  await log.sign();
  await log.read(2, 3);
  await log.sign();
  await audited.pool.query(`select read_log.expire('infinity', 2)`);
  const found = [{ kind: 'reads_expired_early', number: 2 }];
  expect(await log.check()).toEqual(found);
  expect(await log.check({ inDays: KEEP_DAYS - 1 })).toEqual(found);
  expect(await log.check({ inDays: KEEP_DAYS + 1 })).toEqual([]);
  // The heads name the retention that was in force.
  expect(await log.check({ inDays: KEEP_DAYS + 1, keepDays: undefined })).toEqual([]);
  // A shorter one may have removed them since.
  expect(await log.check({ inDays: 2, keepDays: 1 })).toEqual([]);
});
