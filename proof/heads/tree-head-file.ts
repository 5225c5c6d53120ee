import { randomUUID } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { LogIdentity } from '#kernel/base/brands.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { fileFailure, makeFolder } from '#shared/folder.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { ownHeadIn } from '../tree/note-key.ts';
import { originOf, type TreeHead } from '../tree/tree-head.ts';
import { type Newest, writeNewest } from './write-newest.ts';

/** The newest head of the tree outside the database, where somebody who edits the log cannot change it. */
export const treeHeadFileIn = (auditDir: string): string => join(auditDir, 'checkpoint');

const WRITE_EVERY_MS = 1_000;

/** Replaces the file within a second, in the background. */
export const openTreeHeadFile = (
  path: string,
  options: { readonly clock: Clock; onFailure(error: unknown): void },
): Newest<string> =>
  writeNewest({ ...options, everyMs: WRITE_EVERY_MS, write: (note) => replaceFile(path, note) });

/** A process that has lost its lease without noticing never replaces what its successor has written. */
const replaceFile = async (path: string, text: string): Promise<void> => {
  if (sizeIn(await readFile(path, 'utf8').catch(ifAbsent), text) > sizeIn(text, text)) return;
  await makeFolder(dirname(path));
  const written = `${path}.${randomUUID()}`;
  try {
    {
      await using file = await open(written, 'w', 0o600);
      await file.writeFile(text);
      await file.sync();
    }
    await rename(written, path);
  } catch (error) {
    await rm(written, { force: true });
    throw error;
  }
};

/** The size in a note about the same log as another one; zero in any other. */
const sizeIn = (note: string | null, other: string): number => {
  const [origin, size] = (note ?? '').split('\n', 2);
  return origin === other.split('\n', 1)[0] ? Number(size) || 0 : 0;
};

export type OutsideHead = Pick<TreeHead, 'size' | 'root'>;

type Reading = { readonly pool: Pool; readonly masterKey: MasterKey; readonly log: LogIdentity };

/** The head in the file, if one of our keys has signed it for this log. */
export const readOutside = async (path: string, reading: Reading): Promise<OutsideHead | undefined> => {
  const found = await findOutside(path, reading);
  return found === 'forged' ? undefined : found;
};

/** The same, or `forged` if the file names this log, and none of our keys has signed it. */
export const findOutside = async (
  path: string,
  { pool, masterKey, log }: Reading,
): Promise<OutsideHead | 'forged' | undefined> => {
  const text = await readFile(path, 'utf8').catch(ifAbsent);
  const { head } = (await ownHeadIn({ connection: pool, masterKey }, text)) ?? {};
  if (head !== undefined) return head.origin === originOf(log) ? head : undefined;
  return text?.startsWith(`${originOf(log)}\n`) ? 'forged' : undefined;
};

const ifAbsent = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT') return null;
  throw new FileUnreadable(error);
};

/** The chain needs no file, so it goes on. */
export class FileUnreadable extends Error {
  constructor(cause: NodeJS.ErrnoException) {
    super(fileFailure(cause) ?? cause.message, { cause });
    this.name = 'FileUnreadable';
  }
}
