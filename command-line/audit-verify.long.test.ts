import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { formatCursor } from '#kernel/base/cursor.ts';
import { report } from '#shared/rest/verification-report.ts';
import { spawnAnnals } from '../test/annals-process.ts';
import { ageLog } from '../test/engines/age-log.ts';
import { callAt } from '../test/engines/call-line.ts';
import { addComment, type CommandSide, draftArticle, registerUser } from '../test/engines/command-side.ts';
import { temporaryDataDir } from '../test/engines/data-dir.ts';
import { test as base } from '../test/engines/processes.ts';
import { untilProjected } from '../test/engines/projection.ts';
import { until } from '../testing/until.ts';

const test = base
  .extend('folder', { scope: 'file' }, async ({ database: _beside }, { onCleanup }) => {
    const folder = await temporaryDataDir();
    onCleanup(() => folder[Symbol.asyncDispose]());
    return folder.path;
  })
  .extend('environment', { scope: 'file' }, ({ database, folder }) => ({
    ...database.settings,
    AUDIT_DIR: folder,
  }))
  .extend('call', { scope: 'file' }, ({ environment }) => (...args: readonly string[]) => {
    return callAt({ environment }, ['audit', 'verify', ...args]);
  });

test.beforeAll(async ({ author, projector: _running, side }) => {
  for (let n = 0; n < 3; n += 1) await addComment(side, author, await draftArticle(side, author));
  await untilProjected(side);
});

test('a proof says what it has proven, up to which event, and what still needs outside evidence', async ({
  call,
}) => {
  const { exit, output } = await call();
  expect(output).toMatch(/^Proven, up to position \d+: \d+ events in \d+ s, [\d,]+ a second\.\n/);
  expect(output).toContain('users 1, articles 3, comments 3, webhooks 0');
  expect(output).toContain('There is no signed head outside the database yet');
  expect(exit).toBe(0);
});

test('a difference is printed with the events behind it, and sets the exit code', async ({
  call,
  folder,
  side,
}) => {
  await side.pool.query(
    `update read_model.articles set title = 'Forged' where id = (select min(id) from read_model.articles)`,
  );
  const { exit, output, complaint } = await call();
  expect({ exit, complaint }).toEqual({
    exit: 1,
    complaint: 'Not proven: verification found the differences above.',
  });
  expect(output).toContain('NOT PROVEN');
  expect(output).toContain('title: by the log "On engines", found "Forged"');
  expect(output).toMatch(/ {4}\d+ {2}@1 {2}article\.drafted {2}2\S+Z {2}user:\d+ {2}through test-client/);
  const json = await call('--json', '--report', join(folder, 'proof.json'));
  expect(report.parse(JSON.parse(json.output))).toMatchObject({
    outcome: 'different',
    findings: { byKind: { row_different: 1 } },
  });
  expect(report.parse(JSON.parse(await readFile(join(folder, 'proof.json'), 'utf8')))).toMatchObject({
    outcome: 'different',
  });
  const { position } = JSON.parse(json.output).log;
  const earlier = await call('--at', formatCursor(side.eventLog.identity, (position - 1) as never));
  expect(earlier).toMatchObject({ exit: 0, output: expect.stringContaining('were not compared') });
  await side.pool.query(`update read_model.articles set title = 'On engines' where title = 'Forged'`);
});

test('the read model is not plainly proven if the projector has not moved for more than a minute', async ({
  call,
  projector,
  side,
}) => {
  await projector.stop();
  await draftArticle(side, await registerUser(side));
  await side.pool.query(`update public.follower_checkpoint set moved_at = moved_at - interval '1 hour'`);
  // The read model lags for a moment.
  expect(await call()).toMatchObject({ exit: 0 });
  await ageLog(side.pool, 2);
  const { exit, output } = await call();
  expect(output).toMatch(/^NOT PROVEN/);
  expect(output).toMatch(/read model stands still: {"head":\d+,"readModel":\d+,"seconds":12\d}/);
  expect(exit).toBe(1);
  await projector.start();
  await untilProjected(side);
  expect(await call()).toMatchObject({ exit: 0 });
});

test('a verification that fails to run has an exit code of its own', async ({ call, folder, side }) => {
  expect(await call('--at', '999999')).toMatchObject({
    exit: 2,
    complaint: expect.stringContaining('beyond the end'),
  });
  expect(await call('--heads', '/nowhere/heads.jsonl')).toMatchObject({
    exit: 2,
    complaint: expect.stringContaining('--heads: /nowhere/heads.jsonl does not exist'),
  });
  await writeFile(join(folder, 'keys'), '{}\n');
  expect(await call('--keys', join(folder, 'keys'))).toMatchObject({
    exit: 2,
    complaint: expect.stringContaining('--keys: the file contains'),
  });
  const report = await call('--no-read-model', '--report', '/nowhere/report.json');
  expect(report).toMatchObject({ exit: 2, complaint: '--report: /nowhere/report.json does not exist.' });
  expect(await call('--nothing')).toMatchObject({ exit: 64 });
  await side.pool.query(
    `update public.follower_checkpoint set log = gen_random_uuid() where follower = 'projector'`,
  );
  expect(await call()).toMatchObject({
    exit: 2,
    complaint: expect.stringContaining('has followed the event log'),
  });
  await side.pool.query(
    `update public.follower_checkpoint set log = '${side.eventLog.identity}' where follower = 'projector'`,
  );
});

const scratches = async ({ pool }: CommandSide) =>
  (await pool.query(`select nspname from pg_namespace where nspname like 'verify\\_%'`)).rowCount;

/** A verification in a process of its own, blocked just before it compares. */
const verifyHeldUp = async (environment: Readonly<Record<string, string>>, side: CommandSide) => {
  const holder = await side.pool.connect();
  await holder.query(`begin; select from public.follower_checkpoint where follower = 'projector' for update`);
  const annals = spawnAnnals(['annals.ts', 'audit', 'verify'], environment);
  await until(
    () => scratches(side),
    (found) => found === 1,
    60_000,
  );
  const letGo = async () => {
    await holder.query('rollback');
    holder.release();
  };
  return { annals, letGo };
};

test('Ctrl+C drops the tables of the verification', async ({ environment, side }) => {
  const { annals, letGo } = await verifyHeldUp(environment, side);
  await using _ = annals;
  const exited = once(annals.child, 'exit');
  annals.child.kill('SIGINT');
  await letGo();
  expect((await exited)[0]).toBe(130);
  expect(await scratches(side)).toBe(0);
});

test('the next verification drops the tables of a killed one', async ({ call, environment, side }) => {
  const { annals, letGo } = await verifyHeldUp(environment, side);
  await using _ = annals;
  annals.child.kill('SIGKILL');
  await annals.exited;
  await letGo();
  await until(
    async () => {
      await call();
      return scratches(side);
    },
    (found) => found === 0,
  );
  expect((await call()).exit).toBe(0);
});
