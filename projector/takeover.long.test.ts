// Takes minutes, so it starts first.
import { describe, expect } from 'vitest';
import { digestOf } from '#shared/projection/digest.ts';
import { addComment, type CommandSide, draftArticle } from '../test/engines/command-side.ts';
import { testOnEngines } from '../test/engines/processes.ts';
import { replayed, untilProjected } from '../test/engines/projection.ts';
import { type RoleProcess, startRole } from '../test/engines/role-process.ts';

/** The lease time, plus a margin for a busy machine. */
const TAKEOVER_MAX_MS = 8_000;

const engines = testOnEngines.map(([name, base]) => {
  const test = base
    .extend('startProjectorProcess', { scope: 'file' }, ({ database, side: _migrated }, { onCleanup }) => {
      const started = new AsyncDisposableStack();
      onCleanup(() => started.disposeAsync());
      return async (): Promise<RoleProcess> => {
        const role = started.use(startRole('projector/main.ts', database.settings));
        await role.logged('Annals is ready.');
        return role;
      };
    })
    .extend('write', { scope: 'file' }, ({ author, side }) => async () => {
      const articles = await Promise.all(Array.from({ length: 20 }, () => draftArticle(side, author)));
      await Promise.all(articles.map((articleId) => addComment(side, author, articleId)));
    });
  return [name, test] as const;
});

const epoch = async ({ pool }: CommandSide): Promise<number> => {
  const { rows } = await pool.query<{ epoch: number }>(
    `select epoch from public.lease where name = 'projector'`,
  );
  return rows[0]?.epoch ?? 0;
};

const equalsReplay = async (side: CommandSide) => {
  await untilProjected(side);
  expect(await digestOf(side.pool, 'read_model')).toEqual(await replayed(side));
};

describe.each(engines)('on %s', (_name, test) => {
  let owner: RoleProcess;
  test.beforeAll(async ({ startProjectorProcess }) => {
    owner = await startProjectorProcess();
  });

  test('a standby takes over when the leader is killed', async ({ side, startProjectorProcess, write }) => {
    await write();
    await untilProjected(side);
    const standby = await startProjectorProcess();
    const writing = write();
    await owner.kill('SIGKILL');
    await writing;
    await untilProjected(side, TAKEOVER_MAX_MS);
    await equalsReplay(side);
    owner = standby;
  });

  test('a leader that was paused and replaced writes nothing when it resumes', async ({
    side,
    startProjectorProcess,
    write,
  }) => {
    const standby = await startProjectorProcess();
    const before = await epoch(side);
    const writing = write();
    owner.signal('SIGSTOP');
    await writing;
    await untilProjected(side, TAKEOVER_MAX_MS);
    expect(await epoch(side)).toBeGreaterThan(before);
    const more = write();
    owner.signal('SIGCONT');
    await more;
    // If it had written, the checkpoint would not be where the other one left it, and that one would fail.
    await equalsReplay(side);
    expect(standby.printed()).not.toContain('A follower of the event log failed');
    await owner.kill('SIGTERM');
    owner = standby;
  });

  test('a leader whose connections end recovers by itself', async ({ side, write }) => {
    const writing = write();
    await side.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'annals' and datname = current_database()`,
    );
    await writing;
    await untilProjected(side, TAKEOVER_MAX_MS);
    await equalsReplay(side);
  });
});
