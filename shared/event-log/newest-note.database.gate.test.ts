import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool } from '#shared/database/pool.ts';
import { cutLog } from '../../test/engines/cut-log.ts';
import { temporaryDataDir } from '../../test/engines/data-dir.ts';
import { createDatabase } from '../../test/engines/database.ts';
import { createTestClock } from '../../test/engines/test-clock.ts';
import { until } from '../../testing/until.ts';
import { demandNewest } from './demand-newest.ts';
import { type EventLog, NO_STREAM, type Standing } from './event-log.ts';
import { guardHistory } from './guard-history.ts';
import { keepNewest, noteFileIn } from './newest-note.ts';

const STEP_MS = 200;

const append = async (eventLog: EventLog) => {
  const id = randomUUID() as EventId;
  const stream = `article-${randomUUID()}` as StreamName;
  const { position } = await eventLog.append(stream, NO_STREAM, [
    { id, type: 'tried', data: {}, metadata: {} },
  ]);
  return { position, id };
};

/** A log, and the folder of the notes of its processes. */
const openNoted = async () => {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createDatabase());
  const pool = opening.use(openPool({ url: database.url, applicationName: 'test', connectionsMax: 2 }));
  const folder = opening.use(await temporaryDataDir());
  const clock = createTestClock();
  let moving = clock.keepMoving(STEP_MS);
  opening.defer(() => moving[Symbol.asyncDispose]());
  const open = () => openEventLog({ url: database.url, clock: REAL_TIME });
  const plain = opening.use(await open());
  const { identity } = plain;
  const file = noteFileIn(folder.path, identity);
  const logged: string[] = [];
  const log = { error: (_: unknown, text?: string) => logged.push(text ?? ''), warn: () => {} } as never;
  const newest = keepNewest({ file, identity, nowMs: () => clock.nowMs(), log });
  const resources = opening.move();
  return {
    ...{ pool, plain, file, logged },
    /** Stops it with as much time as it needs. */
    async stop(process: AsyncDisposable) {
      await moving[Symbol.asyncDispose]();
      await process[Symbol.asyncDispose]();
      moving = clock.keepMoving(STEP_MS);
    },
    startProcess: async () => guardHistory(await open(), { log, clock, newest }),
    /** As a process does that starts on a log. */
    demand: (eventLog: EventLog = plain) => demandNewest({ eventLog, file, clock }),
    isNoted: ({ position }: { readonly position: number }) =>
      until(
        () => file.read(),
        (note) => note?.position === position,
      ),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** The log on the server that `standing` changes it to. */
const onServer = (
  eventLog: EventLog,
  change: (server: NonNullable<Standing['server']>) => object,
): EventLog => ({
  ...eventLog,
  standing: async () => {
    const { isMarkedLost = false, server } = (await eventLog.standing?.()) ?? {};
    if (!server) throw new Error('the server does not say which one it is');
    return { isMarkedLost, server: { ...server, ...change(server) } };
  },
});

test('a running process notes the newest event and its server, and the end when it stops', async () => {
  await using noted = await openNoted();
  const process = await noted.startProcess();
  const { position, id } = await append(process);
  const note = await noted.isNoted({ position });
  expect(note).toMatchObject({ position, id, log: process.identity, isFinal: false });
  expect(note?.server).toEqual({ system: expect.stringMatching(/^\d{10,20}$/), timeline: 1 });
  await append(noted.plain);
  await noted.stop(process);
  expect(await noted.file.read()).toMatchObject({ position: 2, isFinal: true });
  await noted.demand();
  expect(await noted.file.read()).toMatchObject({ position: 2, isFinal: false });
});

test.each([
  ['with other events in their place', 4],
  ['with nothing in their place', 0],
])(
  'a process that remembers nothing does not start on a log that has lost noted events, %s',
  async (_, others) => {
    await using noted = await openNoted();
    {
      await using process = await noted.startProcess();
      const { position: kept } = await append(process);
      const last = await append(process).then(() => append(process));
      await noted.isNoted(last);
      await cutLog(noted.pool, kept);
    }
    for (let n = 0; n < others; n += 1) await append(noted.plain);
    await expect(noted.demand()).rejects.toMatchObject({
      name: 'StartRefused',
      message: expect.stringContaining('“The log went back”'),
    });
    expect(await noted.plain.standing?.()).toMatchObject({ isMarkedLost: true });
  },
);

test('a running process that has not seen the lost events learns of them from the note of another', async () => {
  await using noted = await openNoted();
  const kept = await append(noted.plain);
  const lost = await append(noted.plain);
  await cutLog(noted.pool, kept.position);
  await using process = await noted.startProcess();
  await process.demandHistory();
  const note = await noted.file.read();
  await noted.file.write({ ...(note as NonNullable<typeof note>), ...lost });
  await until(
    () => noted.logged.length,
    (length) => length > 0,
  );
  await expect(append(process)).rejects.toMatchObject({ code: 'log_went_back' });
});

test('another timeline is refused, unless a process that has run meanwhile notes it', async () => {
  await using noted = await openNoted();
  await using process = await noted.startProcess();
  const { position } = await append(process);
  const note = await noted.isNoted({ position });
  const promoted = onServer(noted.plain, ({ timeline }) => ({ timeline: timeline + 1 }));
  await expect(noted.demand(promoted)).rejects.toMatchObject({
    name: 'StartRefused',
    message: expect.stringMatching(/timeline 2.*timeline 1.*log accept-server/s),
  });
  const { server } = (await promoted.standing?.()) ?? {};
  await process[Symbol.asyncDispose]();
  await noted.file.write({ ...(note as NonNullable<typeof note>), server: server ?? null });
  await noted.demand(promoted);
});

test('another server is accepted if it has exactly the end that the last process has noted when it stopped', async () => {
  await using noted = await openNoted();
  const restored = onServer(noted.plain, () => ({ system: '1' }));
  const process = await noted.startProcess();
  await append(process);
  await noted.stop(process);
  await noted.demand(restored);
  await append(noted.plain);
  const note = await noted.file.read();
  await noted.file.write({
    ...(note as NonNullable<typeof note>),
    server: { system: '2', timeline: 1 },
    isFinal: true,
  });
  await expect(noted.demand(restored)).rejects.toMatchObject({ name: 'StartRefused' });
});

test('a damaged note counts as none, and is written again', async () => {
  await using noted = await openNoted();
  await using process = await noted.startProcess();
  await noted.isNoted(await append(process));
  const text = await readFile(noted.file.path, 'utf8');
  await writeFile(noted.file.path, text.slice(0, 20));
  await noted.demand();
  await noted.isNoted({ position: 1 });
});
