import { cp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmbeddedPostgres } from '#shared/database/embedded.ts';
import { scaled } from '../../testing/load.ts';
import { until } from '../../testing/until.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { type Installation, operate as operateBy, startInstallation } from '../engines/installation.ts';
import { askAs, operate, startWriter, type Written } from './operated.ts';
import { runBlock } from './page.ts';

/** The whole site crashes, and starts again on an older copy of its data: nothing that runs remembers the rest. */
const crashWithCopy = async () => {
  await using opening = new AsyncDisposableStack();
  const original = opening.use(await temporaryDataDir());
  const backup = opening.use(await temporaryDataDir());
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
  await runBlock('embedded', { DATA_DIR: original.path, BACKUP: backup.path });
  let lost: readonly Written[];
  {
    await using server = await startServer(original.path);
    await using installation = await startOn(server.url);
    const before = await noted(operated.environment.AUDIT_DIR);
    lost = await write(installation, 10);
    // Every second; what was written since is known by its cursor alone.
    await until(
      () => noted(operated.environment.AUDIT_DIR),
      (note) => note !== before,
    );
    await installation.query[0]?.kill('SIGKILL');
  }
  const server = opening.use(await startServer(join(backup.path, 'data')));
  const resources = opening.move();
  return {
    ...{ lost, write, operated, settings: settingsOn(server.url) },
    start: () => startOn(server.url),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const notesIn = async (auditDir: string): Promise<readonly string[]> =>
  (await readdir(auditDir))
    .filter((name) => /^newest-.*json$/.test(name))
    .map((name) => join(auditDir, name));

const noted = async (auditDir: string): Promise<string> =>
  (await Promise.all((await notesIn(auditDir)).map((path) => readFile(path, 'utf8')))).join('');

test(
  'a site does not start on an older copy of its data, and verification names what is missing, until the operator has decided',
  async () => {
    await using crashed = await crashWithCopy();
    await expect(crashed.start()).rejects.toThrow('The event log has lost events');
    await expect(operateBy(['audit', 'verify'], crashed.settings)).rejects.toThrow('newest event missing');
    expect(await operateBy(['log', 'renew'], crashed.settings)).toContain('is now the log');
    const { AUDIT_DIR } = crashed.operated.environment;
    await cp(AUDIT_DIR, `${AUDIT_DIR}-before`, { recursive: true });
    for (const name of ['heads.jsonl', 'keys.jsonl']) await rm(join(AUDIT_DIR, name));
    await using again = await crashed.start();
    await crashed.write(again, 15);
    const { ask, token } = await askAs(again);
    const refused = await ask('GET', `/events?after=${crashed.lost.at(-1)?.cursor}`, { token });
    expect(refused).toMatchObject({ status: 400, body: { code: 'cursor_of_lost_history' } });
  },
  scaled(300_000),
);
