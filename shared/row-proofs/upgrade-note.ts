import { open, readFile, rename } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { timestamp } from '#kernel/declare/values.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { makeFolder } from '#shared/folder.ts';
import type { Log } from '#shared/process/log.ts';

/**
 * Until when rows of a release without proofs count. It is outside of the database: whoever can only write
 * SQL cannot begin an upgrade.
 */
type UpgradeNote = { readonly v: 1; readonly until: string };

const note = z.object({ v: z.literal(1), until: timestamp }) as unknown as z.ZodType<UpgradeNote>;

const FILE = 'row-proofs.json';
/** Processes of the former release may run beside this one for so long. */
const UPGRADE_MS = 86_400_000;

type Opening = {
  readonly auditDir: string;
  readonly pool: Pool;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Pick<Log, 'warn'>;
  /** Readers need no folder that they can write to: for them, another process begins the upgrade. */
  readonly isReader?: boolean;
};

/** Begins the upgrade at the first start of this release. Returns whether it is under way. */
export const openUpgrade = async ({
  auditDir,
  pool,
  clock,
  log,
  isReader = false,
}: Opening): Promise<() => Promise<boolean>> => {
  const path = join(auditDir, FILE);
  if (!isReader && (await read(path)) === undefined) {
    const until = clock.nowMs() + ((await hasRowsToConvert(pool)) ? UPGRADE_MS : 0);
    await write(auditDir, { v: 1, until: new Date(until).toISOString() }).catch((err: unknown) =>
      log.warn({ err }, `${path} cannot be written, so rows of an earlier release do not count.`),
    );
  }
  return async () => {
    const found = await read(path);
    return found !== undefined && found !== 'damaged' && clock.nowMs() < Date.parse(found.until);
  };
};

const read = async (path: string): Promise<UpgradeNote | 'damaged' | undefined> => {
  const text = await readFile(path, 'utf8').catch(orAbsent);
  if (text === undefined) return undefined;
  try {
    return note.parse(JSON.parse(text));
  } catch {
    return 'damaged';
  }
};

const orAbsent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error;
};

const write = async (auditDir: string, written: UpgradeNote): Promise<void> => {
  await makeFolder(auditDir);
  const path = join(auditDir, FILE);
  // Processes on other machines may share the folder.
  const fresh = `${path}.${hostname()}-${process.pid}`;
  {
    await using file = await open(fresh, 'w');
    await file.writeFile(`${JSON.stringify(written)}\n`);
    await file.sync();
  }
  await rename(fresh, path);
};

/**
 * A new database has nothing of an earlier release. One that has the columns was converted before, and the
 * folder is another one: that is no upgrade.
 */
const hasRowsToConvert = async (pool: Pool): Promise<boolean> => {
  const { rows } = await pool.query<{ isOld: boolean; isConverted: boolean }>(
    `select to_regclass('auth.person') is not null as "isOld", exists (
       select from information_schema.columns where table_schema = 'auth' and column_name = 'proof'
     ) as "isConverted"`,
  );
  return rows[0]?.isOld === true && !rows[0].isConverted;
};
