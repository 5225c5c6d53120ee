import { link, open, readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { timestamp } from '#kernel/base/values.ts';
import type { Clock } from '#shared/clock/clock.ts';
import { isUndefinedTable } from '#shared/database/failures.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';
import { makeFolder } from '#shared/folder.ts';
import type { Log } from '#shared/log.ts';

/** The way from a release without proofs. */
export type Upgrade = {
  /** Whether rows without proofs count. */
  isUnderWay(): Promise<boolean>;
  /** Begins it, if there are rows to convert and no process has begun it. */
  begin(hasRowsToConvert: () => Promise<boolean>): Promise<void>;
};

/**
 * Until when rows of a release without proofs count. It is outside of the database: whoever can only write
 * SQL cannot begin an upgrade.
 */
type Note = { readonly v: 1; readonly until: string };

const note = z.object({ v: z.literal(1), until: timestamp }) as unknown as z.ZodType<Note>;

const FILE = 'row-proofs.json';
/** Processes of the former release may run beside this one for so long. */
const UPGRADE_MS = 86_400_000;

type Opening = {
  readonly auditDir: string;
  readonly pool: Pool;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Pick<Log, 'warn'>;
};

export const openUpgrade = ({ auditDir, pool, clock, log }: Opening): Upgrade => {
  const path = join(auditDir, FILE);
  let hasBegun = false;
  const isUnderWay = async (): Promise<boolean> => {
    const found = await read(path);
    if (found !== undefined) return found !== 'damaged' && clock.nowMs() < Date.parse(found.until);
    // Other roles may be of this release before the authorization server is.
    hasBegun ||= await isMarked(pool);
    return !hasBegun;
  };
  return {
    isUnderWay,
    async begin(hasRowsToConvert) {
      await migrate(pool, 'row-proofs', new URL('./migrations/', import.meta.url));
      const isUpgrade = !(await isMarked(pool)) && (await hasRowsToConvert());
      if ((await read(path)) === undefined) {
        const until = new Date(clock.nowMs() + (isUpgrade ? UPGRADE_MS : 0)).toISOString();
        await write(auditDir, { v: 1, until }).catch((cause: unknown) => {
          if (isUpgrade) throw new StartRefused(`${path} cannot be written, but ${WHY_NOTED}.`, { cause });
          log.warn({ err: cause }, `${path} cannot be written.`);
        });
      } else if (isUpgrade && !(await isUnderWay()))
        throw new StartRefused(
          `Passwords, clients and tokens of an earlier release have no proofs, but by ${path} the upgrade from it is over. If you have restored its backup and trust the database, follow docs/upgrade.md, “To this release”.`,
        );
      await pool.query('insert into auth.row_proofs_begun default values on conflict do nothing');
    },
  };
};

const WHY_NOTED = 'it must say until when rows of the earlier release count without proofs';

/** A note that cannot be read begins no upgrade. */
const read = async (path: string): Promise<Note | 'damaged' | undefined> => {
  try {
    return note.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    return ['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))
      ? undefined
      : 'damaged';
  }
};

/** Keeps a note that another process has written meanwhile. */
const write = async (auditDir: string, written: Note): Promise<void> => {
  await makeFolder(auditDir);
  const path = join(auditDir, FILE);
  // Processes on other machines may share the folder.
  const fresh = `${path}.${hostname()}-${process.pid}`;
  {
    await using file = await open(fresh, 'w');
    await file.writeFile(`${JSON.stringify(written)}\n`);
    await file.sync();
  }
  try {
    await link(fresh, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(fresh, { force: true });
  }
};

const isMarked = async (pool: Pool): Promise<boolean> => {
  try {
    return (await pool.query('select from auth.row_proofs_begun')).rowCount !== 0;
  } catch (error) {
    if (isUndefinedTable(error)) return false;
    throw error;
  }
};
