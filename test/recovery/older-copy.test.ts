import { cp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test as base, expect } from 'vitest';
import { startEmbeddedPostgres } from '#adapters/embedded-postgres/embedded.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { type Installation, operate as operateBy, startInstallation } from '../engines/installation.ts';
import { askAs, operate, startWriter, type Written } from './operated.ts';
import { runBlock } from './page.ts';

/** The whole site crashes, and starts again on older copies of its data: nothing that runs remembers the rest. */
const crashWithCopies = async (copies: number) => {
  await using opening = new AsyncDisposableStack();
  const original = opening.use(await temporaryDataDir());
  const backups = await Promise.all(Array.from({ length: copies }, temporaryDataDir));
  for (const backup of backups) opening.use(backup);
  const startServer = (dataDir: string) => startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } });
  let admin: Installation['admin'] | undefined;
  const operated = opening.use(await operate(''));
  const settingsOn = (url: string) => ({ ...operated.settings, DATABASE_URL: url });
  const startOn = async (url: string) => {
    const installation = await startInstallation({
      ...{ ownProcess: true, settings: settingsOn(url) },
      ...(admin && { admin }),
    });
    admin = installation.admin;
    return installation;
  };
  const write = async (installation: Installation, count: number): Promise<readonly Written[]> => {
    const writer = startWriter(await askAs(installation));
    await writer.more(count);
    await writer.end();
    return writer.acknowledged;
  };
  {
    await using server = await startServer(original.path);
    await using installation = await startOn(server.url);
    await write(installation, 3);
  }
  for (const { path } of backups) await runBlock('embedded', { DATA_DIR: original.path, BACKUP: path });
  let lost: readonly Written[];
  {
    await using server = await startServer(original.path);
    await using installation = await startOn(server.url);
    const before = await notedUpTo(operated.environment.AUDIT_DIR);
    lost = await write(installation, 10);
    // Every second; what was written since is known by its cursor alone.
    await until(
      () => notedUpTo(operated.environment.AUDIT_DIR),
      (position) => position > before,
    );
    await installation.query[0]?.kill('SIGKILL');
  }
  const startCopy = async () => {
    const server = await startServer(join(backups.pop()?.path ?? '', 'data'));
    return {
      settings: settingsOn(server.url),
      start: () => startOn(server.url),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  };
  const resources = opening.move();
  return {
    ...{ lost, write, startCopy, auditDir: operated.environment.AUDIT_DIR },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const test = base
  .extend('copies', { scope: 'file' }, () => 2)
  .extend('crashed', { scope: 'file' }, async ({ copies }, { onCleanup }) => {
    const crashed = await crashWithCopies(copies);
    onCleanup(() => crashed[Symbol.asyncDispose]());
    return crashed;
  });
test.beforeAll(({ crashed: _crashed }) => {}, scaled(300_000));

const notesIn = async (auditDir: string): Promise<readonly string[]> =>
  (await readdir(auditDir))
    .filter((name) => /^newest-.*json$/.test(name))
    .map((name) => join(auditDir, name));

/** A start rewrites the note without a newer event. */
const notedUpTo = async (auditDir: string): Promise<number> => {
  const notes = await Promise.all((await notesIn(auditDir)).map((path) => readFile(path, 'utf8')));
  return Math.max(...notes.map((text) => JSON.parse(text).position));
};

test(
  'a site does not start on an older copy of its data, and verification names what is missing, until the operator has decided',
  async ({ crashed: { auditDir, lost, startCopy, write } }) => {
    await cp(auditDir, `${auditDir}-before`, { recursive: true });
    await using copy = await startCopy();
    await expect(copy.start()).rejects.toThrow('The event log has lost events');
    await expect(operateBy(['audit', 'verify'], copy.settings)).rejects.toThrow('newest event missing');
    expect(await operateBy(['log', 'renew'], copy.settings)).toContain('is now the log');
    for (const name of ['heads.jsonl', 'keys.jsonl']) await rm(join(auditDir, name));
    await using again = await copy.start();
    await write(again, 15);
    await refuses(again, lost);
  },
  scaled(300_000),
);

test(
  'the cursor of a lost event is refused by a site that has no note of it, and has written over its position',
  async ({ crashed: { auditDir, lost, startCopy, write } }) => {
    await rm(auditDir, { recursive: true });
    await using copy = await startCopy();
    await using unaware = await copy.start();
    await write(unaware, 15);
    await refuses(unaware, lost);
    expect(unaware.printed()).toContain('A client has a cursor whose event the event log does not have');
  },
  scaled(300_000),
);

const refuses = async (installation: Installation, lost: readonly Written[]): Promise<void> => {
  const { ask, token } = await askAs(installation);
  const cursor = lost.at(-1)?.cursor ?? '';
  const refused = { status: 400, body: { code: 'cursor_of_lost_history' } };
  expect(await ask('GET', `/events?after=${cursor}`, { token })).toMatchObject(refused);
  const headers = { 'consistency-token': cursor };
  expect(await ask('GET', '/articles', { token, headers })).toMatchObject(refused);
};
