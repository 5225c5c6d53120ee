import { once } from 'node:events';
import { expect } from 'vitest';
import { digestOf } from '#shared/projection/digest.ts';
import { spawnAnnals } from '../test/annals-process.ts';
import { callAt } from '../test/engines/call-line.ts';
import { addComment, type CommandSide, draftArticle } from '../test/engines/command-side.ts';
import { test as base } from '../test/engines/processes.ts';
import { replayed, untilProjected } from '../test/engines/projection.ts';
import { scaled } from '../testing/load.ts';
import { until } from '../testing/until.ts';

const test = base
  .extend('call', { scope: 'file' }, ({ database }) => async (...args: readonly string[]) => {
    const { exit, output, complaint } = await callAt({ environment: database.settings }, args);
    return { exit, output: [output, complaint].filter(Boolean).join('\n') };
  })
  /** A rebuild in a process of its own, blocked just before its swap. */
  .extend('rebuildHeldUp', { scope: 'file' }, ({ database, side }) => async () => {
    const holder = await side.pool.connect();
    await holder.query(
      `begin; select from public.follower_checkpoint where follower = 'projector' for update`,
    );
    const annals = spawnAnnals(['annals.ts', 'projection', 'rebuild'], database.settings);
    await until(
      async () =>
        (
          await side.pool.query(
            `select from pg_stat_activity where application_name = 'annals-command-line' and wait_event_type = 'Lock' and datname = current_database()`,
          )
        ).rowCount,
      (waiting) => waiting === 1,
    );
    const letGo = async () => {
      await holder.query('rollback');
      holder.release();
    };
    return { annals, letGo };
  });

test.beforeAll(async ({ author, projector: _started, side }) => {
  for (let n = 0; n < 5; n += 1) await addComment(side, author, await draftArticle(side, author));
  await untilProjected(side);
});

const expectWhole = async (side: CommandSide) => {
  await untilProjected(side);
  expect(await digestOf(side.pool, 'read_model')).toEqual(await replayed(side));
};

const schemas = async ({ pool }: CommandSide) => {
  const { rows } = await pool.query<{ name: string }>(
    `select nspname as name from pg_namespace where nspname like 'read_model_%' order by 1`,
  );
  return rows.map(({ name }) => name);
};

test('there is no way back before a rebuild', async ({ call }) => {
  expect(await call('projection', 'rollback')).toMatchObject({
    exit: 1,
    output: expect.stringContaining('a rebuild leaves one'),
  });
  expect((await call('projection', 'status')).output).toContain('Previous: none');
});

test('a killed rebuild has changed nothing, and the next starts from the beginning', async ({
  call,
  rebuildHeldUp,
  side,
}) => {
  const { annals, letGo } = await rebuildHeldUp();
  await using _ = annals;
  const second = await call('projection', 'rebuild');
  expect(second).toMatchObject({ exit: 1, output: expect.stringContaining('already in progress') });
  expect((await call('projection', 'status')).output).toContain('it is being built');
  annals.child.kill('SIGKILL');
  await annals.exited;
  await letGo();
  await until(
    () => call('projection', 'status'),
    ({ output }) => output.includes('the next rebuild drops it'),
  );
  await expectWhole(side);
  expect(await call('projection', 'rebuild')).toMatchObject({
    exit: 0,
    output: expect.stringMatching(/^The read model was rebuilt: [\d,]+ events in /),
  });
  expect(await schemas(side)).toEqual(['read_model_previous']);
  await expectWhole(side);
});

test('Ctrl+C stops it, and it reports the state', async ({ rebuildHeldUp, side }) => {
  const { annals, letGo } = await rebuildHeldUp();
  await using _ = annals;
  const exited = once(annals.child, 'exit');
  annals.child.kill('SIGINT');
  await letGo();
  expect((await exited)[0]).toBe(130);
  expect(annals.output()).toContain(
    'Stopped. The read model is unchanged; the tables built so far are deleted',
  );
  expect(await schemas(side)).toEqual(['read_model_previous']);
  await expectWhole(side);
});

test('a second Ctrl+C ends it at once, even while the server is silent', async ({ rebuildHeldUp, side }) => {
  const { annals, letGo } = await rebuildHeldUp();
  await using _ = annals;
  annals.child.kill('SIGINT');
  // The first is handled before the second comes: signals of one kind do not queue.
  await until(
    () => annals.output(),
    (output) => output.includes('Ctrl+C'),
  );
  annals.child.kill('SIGINT');
  expect(await annals.exited).toBe('SIGINT');
  await letGo();
  await expectWhole(side);
});

test(
  'a switch back waits for readers of an earlier version, and says so',
  async ({ call, side }) => {
    const reader = await side.pool.connect();
    await reader.query('begin; select from read_model_previous.users');
    expect(await call('projection', 'rebuild')).toMatchObject({ exit: 0 });
    expect(await call('projection', 'rollback')).toMatchObject({
      exit: 1,
      output: expect.stringContaining('is still being read'),
    });
    await reader.query('rollback');
    reader.release();
    expect(await call('projection', 'rollback')).toMatchObject({ exit: 0 });
    expect(await schemas(side)).toEqual(['read_model_previous']);
    await expectWhole(side);
  },
  scaled(60_000),
);

test('a log that ends before the read model is refused, instead of waited for', async ({
  call,
  projector,
  side,
}) => {
  const move = (by: number) =>
    side.pool.query(
      `update public.follower_checkpoint set position = position + $1 where follower = 'projector'`,
      [by],
    );
  await projector.stop();
  await move(1_000);
  for (const command of ['rebuild', 'rollback'])
    expect(await call('projection', command)).toMatchObject({
      exit: 1,
      output: expect.stringContaining('beyond the end of the event log'),
    });
  await move(-1_000);
  await projector.start();
  await expectWhole(side);
});

test('one can switch back and forth', async ({ call, side }) => {
  for (let n = 0; n < 2; n += 1) {
    const back = await call('projection', 'rollback');
    expect(back).toMatchObject({ exit: 0, output: expect.stringContaining('in use again') });
    await expectWhole(side);
  }
  expect((await call('projection', 'status')).output).toMatch(
    /^In use: at position \d+, up to date, [\d.]+ MB\.\nParked: nothing\.\nPrevious: at position \d+/,
  );
});

test('a rebuild by a new release reads the former release’s checkpoints, and continues', async ({
  call,
  side,
}) => {
  await side.pool.query(
    'alter table public.follower_checkpoint drop column event, drop column event_position, drop column moved_position, drop column moved_at',
  );
  await side.pool.query(
    `delete from public.annals_migration where component like 'follower%' and number > 1`,
  );
  expect(await call('projection', 'rebuild')).toMatchObject({ exit: 0 });
  await expectWhole(side);
});
