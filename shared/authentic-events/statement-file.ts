import { randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { LogIdentity } from '#kernel/base/brands.ts';
import { makeFolder } from '#shared/folder.ts';
import { removeLeftovers } from '#shared/leftovers.ts';
import { type Authenticating, closed, opened, type Statement } from './statement.ts';

const PREFIX = 'authentic-events-';

/** Each log has a file of its own, as after `log renew`. */
const pathIn = (auditDir: string, log: LogIdentity): string =>
  join(auditDir, `${PREFIX}${log.slice(0, 8)}.json`);

/** A damaged file counts as none. */
export const readFileIn = async (
  auditDir: string,
  authenticating: Authenticating,
): Promise<Statement | undefined> => {
  const text = await readFile(pathIn(auditDir, authenticating.log), 'utf8').catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return '';
      throw error;
    },
  );
  try {
    return opened(stored.parse(JSON.parse(text)), authenticating);
  } catch {
    return undefined;
  }
};

const stored = z.object({ statement: z.string(), mac: z.string() });

export const writeFileIn = async (
  auditDir: string,
  written: Statement,
  authenticating: Authenticating,
): Promise<void> => {
  await makeFolder(auditDir);
  const path = pathIn(auditDir, written.log);
  // Other processes may write it at the same time, also on other machines that share the folder.
  const fresh = `${path}.${randomUUID()}`;
  try {
    {
      await using file = await open(fresh, 'w');
      await file.writeFile(`${JSON.stringify(closed(written, authenticating))}\n`);
      await file.sync();
    }
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
};

/** Of processes that were killed while they wrote it. */
export const removeLeftoversIn = (auditDir: string, log: LogIdentity, nowMs: number): Promise<void> =>
  removeLeftovers(pathIn(auditDir, log), nowMs);

/** Whether the folder has a statement about any log. */
export const hasFile = async (auditDir: string): Promise<boolean> => {
  const names = await readdir(auditDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  return names.some((name) => name.startsWith(PREFIX) && name.endsWith('.json'));
};
