import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A younger one may be of another process, which is writing it. */
const YOUNG_MS = 3_600_000;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Removes what processes have left beside a file if they were killed while they replaced it: the new content, in
 * `<file>.<UUID>`. A file that cannot be removed stays, because it harms nobody.
 */
export const removeLeftovers = async (path: string, nowMs: number): Promise<void> => {
  const names = await readdir(dirname(path)).catch(() => []);
  for (const name of names) {
    const prefix = `${basename(path)}.`;
    if (!name.startsWith(prefix) || !UUID.test(name.slice(prefix.length))) continue;
    const left = join(dirname(path), name);
    const { mtimeMs } = await stat(left).catch(() => ({ mtimeMs: nowMs }));
    if (mtimeMs < nowMs - YOUNG_MS) await rm(left, { force: true }).catch(() => {});
  }
};
