import { describe, expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { digestOf } from '#shared/projection/digest.ts';
import { rebuild } from '#shared/projection/rebuild.ts';
import { runCommandLine } from '../../command-line/program.ts';
import { ALL_PARTS } from '../../parts.ts';
import { migrateProjector } from '../../projector/migrate.ts';
import { until } from '../../testing/until.ts';
import { openBackend } from '../engines/backend.ts';
import { appendStored, loadFirstRelease, readFirstAnswers, readFirstLog } from '../engines/first-release.ts';
import { LOG_ENGINES } from '../engines/log-engines.ts';
import { replayed, startProjecting, untilProjected } from '../engines/projection.ts';

/**
 * A log that the first release has written, with its answers of that time: nearly every type, an erased user,
 * disabled webhooks, and a damaged event at the end. The files never change, because such logs exist in the
 * field.
 */
type Answers = {
  readonly askers: Readonly<Record<string, { readonly id: UserId; readonly role: Role } | null>>;
  readonly answers: readonly {
    readonly by: string;
    readonly path: string;
    readonly query?: string;
    readonly status: number;
    readonly body: unknown;
  }[];
};

const log = await readFirstLog();
const [whole, damaged] = [log.slice(0, -1), log.slice(-1)];

test('gives the recorded answers, except for later additions', async () => {
  const { askers, answers } = await readFirstAnswers<Answers>();
  await using database = await loadFirstRelease(whole);
  await using reading = await openBackend({}, { on: database });
  for (const { by, path, query, status, body } of answers) {
    const asked =
      query === undefined
        ? {}
        : { method: 'POST', body: { query }, headers: { accept: 'application/graphql-response+json' } };
    const reply = await reading.ask(path, { by: askers[by] ?? null, ...asked });
    expect(reply.status, `${by} ${path}`).toBe(status);
    expect(reply.body, `${by} ${path}`).toMatchObject(
      path.startsWith('/events') ? laterVersions(body) : (body as object),
    );
  }
  const [damage] = damaged;
  const ofDamage = `/articles/${damage?.data.articleId}`;
  const author = { id: damage?.data.authorId as UserId, role: 'author' as const };
  expect((await reading.ask(ofDamage, { by: author })).status).toBe(200);
  await appendStored(database, damaged);
  expect(await reading.ask(ofDamage, { by: author })).toMatchObject({
    status: 503,
    body: { code: 'parked' },
  });
});

/** An event is shown in its current version, and its cursor names it now. */
const laterVersions = (events: unknown): object[] =>
  (events as { version: number; cursor: string }[]).map(({ version, cursor, ...event }) => ({
    ...event,
    cursor: expect.stringMatching(new RegExp(`^${cursor}(-[0-9a-f]{8})?$`)),
    version: expect.toSatisfy((now) => now >= version),
  }));

describe.each(LOG_ENGINES)('on %s', (_engine, startLog) => {
  test('gives the same read model in batches of any size, live, and rebuilt', async () => {
    await using database = await loadFirstRelease(log, startLog);
    await using side = await database.open();
    await using _projector = await startProjecting(side);
    await untilProjected(side);
    const live = await digestOf(side.pool, 'read_model');
    expect(live.parked).toMatch(/^1 rows/);
    expect(await replayed(side, 1)).toEqual(live);
    expect(await replayed(side, 1_000)).toEqual(live);
    await rebuild({ ...side, signal: new AbortController().signal, onProgress() {} });
    await untilProjected(side);
    expect(await digestOf(side.pool, 'read_model')).toEqual(live);
  });
});

test('is verified', async () => {
  await using database = await loadFirstRelease(whole);
  await using side = await database.open();
  await using _projector = await startProjecting(side);
  await untilProjected(side);
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const exit = await runCommandLine(['audit', 'verify'], {
    domain: publishing,
    parts: ALL_PARTS,
    environment: { NODE_ENV: 'test', ...database.settings },
    clock: REAL_TIME,
    signal: new AbortController().signal,
    write: async (line) => print(line),
    complain: print,
  });
  expect(exit, lines.join('\n')).toBe(0);
});

test('has no new consequences', async () => {
  await using database = await loadFirstRelease(log);
  await using side = await database.open();
  const head = await side.eventLog.head();
  const reached = async () => {
    const { rows } = await side.pool.query<{ position: number }>(
      `select position from public.follower_checkpoint where follower = 'process-manager'`,
    );
    return rows[0]?.position ?? 0;
  };
  await until(reached, (position) => position >= head);
  expect(await side.eventLog.head()).toBe(head);
});

test('gives the same read model on every engine', async () => {
  const digests = [];
  for (const [, startLog] of LOG_ENGINES) {
    await using database = await loadFirstRelease(whole, startLog);
    await using side = await database.open();
    await migrateProjector(side.pool);
    digests.push(await replayed(side));
  }
  expect(digests[1]).toEqual(digests[0]);
});
