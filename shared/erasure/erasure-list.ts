import { open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import type { EventId, UserId } from '#kernel/base/brands.ts';
import { userId } from '#kernel/base/events/fields.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { timestamp } from '#kernel/base/values.ts';
import { makeFolder } from '#shared/folder.ts';

/** A person whose data was erased, by their number alone. */
export type Erasure = {
  readonly userId: UserId;
  readonly at: string;
  /** The deletion; null if it is unknown by now. */
  readonly event: EventId | null;
};

/**
 * The erased persons, outside the database: a backup of the database knows nothing of later erasures, and
 * would restore the data. It is written before a key is destroyed, so that every person without a key is on
 * it. Several processes may write.
 */
export type ErasureList = {
  /** Adds those who are not on it, and returns when they are on the disk. Repeating it is harmless. */
  note(erasures: readonly Erasure[]): Promise<void>;
  /** Each person once, in the order of erasure. */
  read(): Promise<readonly Erasure[]>;
  readonly path: string;
};

const FILE = 'erasures.jsonl';
const line = z.object({ userId, at: timestamp, event: z.uuid().nullable() }) as unknown as z.ZodType<Erasure>;

export const openErasureList = (auditDir: string): ErasureList => {
  const path = join(auditDir, FILE);
  const read = async (): Promise<readonly Erasure[]> => {
    const erasures = new Map<UserId, Erasure>();
    for (const erasure of (await textOf(path)).split('\n').flatMap(parse))
      if (!erasures.has(erasure.userId)) erasures.set(erasure.userId, erasure);
    return [...erasures.values()];
  };
  const noted = new Set<UserId>();
  return {
    path,
    read,
    async note(erasures) {
      if (erasures.some(({ userId }) => !noted.has(userId)))
        for (const { userId } of await read()) noted.add(userId);
      const missing = erasures.filter(({ userId }) => !noted.has(userId));
      if (missing.length === 0) return;
      await append(path, missing.map((each) => `${JSON.stringify(each)}\n`).join(''));
      for (const { userId } of missing) noted.add(userId);
    },
  };
};

/**
 * A line in which a process died is skipped: the process destroys no key before the line is complete, and
 * writes it again.
 */
const parse = (text: string): readonly Erasure[] => {
  try {
    return [line.parse(JSON.parse(text))];
  } catch {
    return [];
  }
};

const textOf = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    const detail = 'start as the user who owns it, or set AUDIT_DIR to another folder';
    throw new StartRefused(
      `Cannot read the erasure list ${path}: ${detail}; without it, erased data could come back.`,
      {
        cause: error,
      },
    );
  }
};

/**
 * Appends in one write if the disk has room, so that concurrent writers do not mix; the file is on the disk
 * with its name before anybody relies on it.
 */
const append = async (path: string, lines: string): Promise<void> => {
  await makeFolder(dirname(path));
  await using file = await open(path, 'a+');
  const { size } = await file.stat();
  const { buffer } = size === 0 ? { buffer: NEWLINE } : await file.read(Buffer.alloc(1), 0, 1, size - 1);
  // `write` may silently write only a part.
  await file.appendFile(buffer.equals(NEWLINE) ? lines : `\n${lines}`);
  await file.sync();
  await using folder = await open(dirname(path), 'r');
  await folder.sync();
};

const NEWLINE = Buffer.from('\n');
