import { appendFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { pino } from 'pino';
import { expect } from 'vitest';
import { createMetrics } from '#process/observability/metrics.ts';
import { type AuditedLog, createAuditedLog, freshTest } from '../../test/engines/audited-log.ts';
import { until } from '../../testing/until.ts';
import { readAllHeads, readStatement } from '../stored/signed-head.ts';
import {
  endorsementText,
  isSignedBy,
  readAuditKeys,
  rotateAuditKey,
  thumbprint,
} from '../stored/signing-keys.ts';
import { readHeadFile, readKeyFile } from './head-files.ts';
import { ChainBehind, HeadsDisagree } from './reconcile.ts';
import { createPublisher, startHeads } from './service.ts';

const test = freshTest.extend('fill', { scope: 'file' }, () => async (audited) => {
  await audited.append(3);
  await audited.prove();
});

const inFile = (audited: AuditedLog) => Array.fromAsync(readHeadFile(audited.files));
const inDatabase = (audited: AuditedLog) => Array.fromAsync(readAllHeads(audited.pool));
const publish = (audited: AuditedLog) => createPublisher(audited).publish();
const counts = async (audited: AuditedLog) => (await inFile(audited)).map(({ says }) => says.count);
const problem = async (audited: AuditedLog) =>
  (await audited.pool.query('select problem from audit.publication')).rows[0]?.problem;

test('a head states its coverage, and can be verified with the files beside it', async ({ audited }) => {
  const [head] = await inFile(audited);
  const [key] = await readKeyFile(audited.files);
  expect(head?.says).toMatchObject({ v: 1, log: audited.eventLog.identity, count: 3, key: key?.id });
  expect(key && head && isSignedBy(key.publicKey, head.statement, head.signature)).toBe(true);
  expect(key && head && isSignedBy(key.publicKey, `${head.statement} `, head.signature)).toBe(false);
  expect(key && thumbprint(key.publicKey)).toBe(key?.id);
  expect(key).toMatchObject({ endorsedBy: null, endorsement: null });
});

test('an unchanged chain is not signed again, and an extended one is', async ({ audited }) => {
  await publish(audited);
  expect(await counts(audited)).toEqual([3]);
  await audited.append(2);
  await audited.prove();
  expect(await counts(audited)).toEqual([3, 5]);
  expect((await inDatabase(audited)).map(({ count }) => count)).toEqual([3, 5]);
});

test('a new key is endorsed by the previous one, and signs from then on', async ({ audited }) => {
  const id = await rotateAuditKey(audited);
  await audited.append(1);
  await audited.prove();
  const [first, second] = await readKeyFile(audited.files);
  expect(second).toMatchObject({ id, endorsedBy: first?.id });
  expect(
    first && second && isSignedBy(first.publicKey, endorsementText(second), second.endorsement ?? ''),
  ).toBe(true);
  const heads = await inFile(audited);
  expect(heads.map(({ says }) => says.key)).toEqual([first?.id, id]);
  expect(second && heads[1] && isSignedBy(second.publicKey, heads[1].statement, heads[1].signature)).toBe(
    true,
  );
});

test('a head is added to the file after a crash between database and file', async ({ audited }) => {
  const whole = await readFile(audited.files.heads, 'utf8');
  await rm(audited.files.heads);
  await publish(audited);
  expect(await readFile(audited.files.heads, 'utf8')).toBe(whole);
  await truncate(audited.files.heads, whole.length - 20);
  await truncate(audited.files.keys, 10);
  await publish(audited);
  expect(await readFile(audited.files.heads, 'utf8')).toBe(whole);
  expect(await readKeyFile(audited.files)).toEqual(await readAuditKeys(audited.pool));
});

test('a head that the database has lost is restored if it matches the chain', async ({ audited }) => {
  await audited.append(2);
  await audited.prove();
  const before = await inDatabase(audited);
  await audited.tamper('delete from audit.head');
  await publish(audited);
  expect(await inDatabase(audited)).toEqual(before);
  expect(await counts(audited)).toEqual([3, 5]);
});

const REPLACE_HEAD = [`update audit.head set statement = replace(statement, '"count":3', '"count": 3')`];
const REPLACE_KEY = [`update audit.signing_key set made_at = made_at - interval '1 day'`];
const CUT = [
  'delete from event_log.event where position > 3',
  'delete from audit.head where count > 3',
  'delete from audit.block where count > 3',
  'update public.follower_checkpoint set position = 3',
];

test.for<[string, readonly string[], string]>([
  ['a head was replaced', REPLACE_HEAD, 'different heads'],
  ['the key was replaced', REPLACE_KEY, 'contradict each other about the key'],
  ['the ends of log, chain and heads were cut off together', CUT, 'its end was cut off'],
])(
  'if %s in the database, nothing more is published, and the reason is reported',
  async ([_what, statements, why], { audited }) => {
    await audited.append(2);
    await audited.prove();
    for (const statement of statements) await audited.tamper(statement);
    await expect(publish(audited)).rejects.toThrow(HeadsDisagree);
    await using _heads = await startHeads({
      ...audited,
      log: pino({ level: 'silent' }),
      metrics: createMetrics(),
      everyMs: 100,
    });
    expect(
      await until(
        () => problem(audited),
        (text) => typeof text === 'string',
      ),
    ).toContain(why);
    expect(await counts(audited)).toEqual([3, 5]);
  },
);

test('a chain that reaches a head outside of the database while that is looked up is behind, not cut', async ({
  audited,
}) => {
  await audited.append(2);
  await audited.prove();
  const [, ...restored] = CUT;
  for (const statement of restored) await audited.tamper(statement);
  const { pool } = audited;
  let isLookedUp = false;
  const query = async (...given: Parameters<typeof pool.query>) => {
    const found = await pool.query(...given);
    if (!isLookedUp && String(given[0]).includes('from audit.block where count >= $1')) {
      isLookedUp = true;
      await audited.prove();
    }
    return found;
  };
  const slow = new Proxy(pool, {
    get: (target, name) => (name === 'query' ? query : Reflect.get(target, name, target)),
  });
  await expect(createPublisher({ ...audited, pool: slow }).publish()).rejects.toThrow(ChainBehind);
  expect(isLookedUp).toBe(true);
  await publish(audited);
  expect(await counts(audited)).toEqual([3, 5]);
});

test('nothing is written to a file that was tampered with, even meanwhile', async ({ audited }) => {
  const publisher = createPublisher(audited);
  await publisher.publish();
  await appendFile(audited.files.heads, '{"statement":"mine"}\n');
  await expect(publisher.publish()).rejects.toThrow('line 2');
  const [head] = (await readFile(audited.files.heads, 'utf8')).split('\n');
  await writeFile(
    audited.files.heads,
    `${head?.replace(/"signature":"(.)/, (_, first) => `"signature":"${first === 'A' ? 'B' : 'A'}`)}\n`,
  );
  await expect(publisher.publish()).rejects.toThrow('different heads');
});

test('a line that was removed from the middle of the file is not appended', async ({ audited }) => {
  await audited.append(2);
  await audited.prove();
  const [, second] = (await readFile(audited.files.heads, 'utf8')).split('\n');
  await writeFile(audited.files.heads, `${second}\n`);
  await expect(publish(audited)).rejects.toThrow('lacks the head over 3 events');
});

test('the file of another log is left alone', async ({ audited }) => {
  await using other = await createAuditedLog();
  await other.append(1);
  await other.prove();
  await writeFile(audited.files.heads, await readFile(other.files.heads));
  await expect(publish(audited)).rejects.toThrow('belongs to the event log');
});

test('heads are signed periodically, and a last one over everything at the end', async ({ audited }) => {
  {
    await using _heads = await startHeads({
      ...audited,
      log: pino({ level: 'silent' }),
      metrics: createMetrics(),
      everyMs: 86_400_000,
    });
    await using _chain = await audited.startChain();
    await audited.append(4);
    await audited.untilChained();
  }
  expect((await counts(audited)).at(-1)).toBe(7);
  const [newest] = (await inDatabase(audited)).slice(-1);
  expect(readStatement(newest?.statement ?? '')).toMatchObject({ count: 7 });
});
