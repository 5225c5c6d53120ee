// Takes minutes, so it starts first.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UserId } from '#shared/brands.ts';
import { digestOf } from '#shared/projection/digest.ts';
import {
  addComment,
  type CommandDatabase,
  type CommandSide,
  createCommandDatabase,
  draftArticle,
  registerUser,
} from '../test/engines/command-side.ts';
import { LOG_ENGINES } from '../test/engines/log-engines.ts';
import { replayed, untilProjected } from '../test/engines/projection.ts';
import { type RoleProcess, startRole } from '../test/engines/role-process.ts';

/** The lease time, plus a margin for a busy machine. */
const TAKEOVER_MAX_MS = 8_000;

describe.each(LOG_ENGINES)('on %s', (_name, startLog) => {
  let database: CommandDatabase;
  let side: CommandSide;
  let author: UserId;
  let owner: RoleProcess;
  const started: RoleProcess[] = [];
  beforeAll(async () => {
    database = await createCommandDatabase({ startLog });
    side = await database.open();
    author = await registerUser(side);
    owner = await startProjectorProcess();
  });
  afterAll(async () => {
    for (const role of started) await role[Symbol.asyncDispose]();
    await side?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  const startProjectorProcess = async (): Promise<RoleProcess> => {
    const role = startRole('projector/main.ts', database.settings);
    started.push(role);
    await role.logged('Annals is ready.');
    return role;
  };

  const write = async (): Promise<void> => {
    const articles = await Promise.all(Array.from({ length: 20 }, () => draftArticle(side, author)));
    await Promise.all(articles.map((articleId) => addComment(side, author, articleId)));
  };

  const epoch = async (): Promise<number> => {
    const { rows } = await side.pool.query<{ epoch: number }>(
      `select epoch from public.lease where name = 'projector'`,
    );
    return rows[0]?.epoch ?? 0;
  };

  const equalsReplay = async () => {
    await untilProjected(side);
    expect(await digestOf(side.pool, 'read_model')).toEqual(await replayed(side));
  };

  test('a standby takes over when the leader is killed', async () => {
    await write();
    await untilProjected(side);
    const standby = await startProjectorProcess();
    const writing = write();
    await owner.kill('SIGKILL');
    await writing;
    await untilProjected(side, TAKEOVER_MAX_MS);
    await equalsReplay();
    owner = standby;
  });

  test('a leader that was paused and replaced writes nothing when it resumes', async () => {
    const standby = await startProjectorProcess();
    const before = await epoch();
    const writing = write();
    owner.signal('SIGSTOP');
    await writing;
    await untilProjected(side, TAKEOVER_MAX_MS);
    expect(await epoch()).toBeGreaterThan(before);
    const more = write();
    owner.signal('SIGCONT');
    await more;
    // If it had written, the checkpoint would not be where the other one left it, and that one would fail.
    await equalsReplay();
    expect(standby.printed()).not.toContain('A follower of the event log failed');
    await owner.kill('SIGTERM');
    owner = standby;
  });

  test('a leader whose connections end recovers by itself', async () => {
    const writing = write();
    await side.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'annals' and datname = current_database()`,
    );
    await writing;
    await untilProjected(side, TAKEOVER_MAX_MS);
    await equalsReplay();
  });
});
