import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { makeFolder } from '#shared/folder.ts';

/** The lines of a file, of which the last may be torn; none where there is no file. */
export async function* readLines(path: string): AsyncGenerator<string> {
  if ((await sizeOf(path)) === 0) return;
  yield* createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
}

/** Adds lines, and returns when they are on the disk, under a name that is on the disk as well. */
export const appendLines = async (path: string, lines: readonly string[]): Promise<void> => {
  if (lines.length === 0) return;
  const isNew = (await sizeOf(path)) === 0;
  await using file = await open(path, 'a');
  // `write` may write a part, and say nothing of it.
  await file.appendFile(lines.map((line) => `${line}\n`).join(''));
  await file.sync();
  if (!isNew) return;
  await using folder = await open(dirname(path), 'r');
  await folder.sync();
};

const TAIL_BYTES = 65_536;

/**
 * Makes the folder where it is not there yet, and takes away what a process left of a line that it died in.
 */
export const mendFile = async (path: string): Promise<void> => {
  await makeFolder(dirname(path));
  const size = await sizeOf(path);
  if (size === 0) return;
  await using file = await open(path, 'r+');
  const from = Math.max(0, size - TAIL_BYTES);
  const { buffer } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
  const end = from + buffer.lastIndexOf('\n') + 1;
  // A line longer than all of this is none of ours, and is left for whoever reads it.
  if (end < size && end > from) await file.truncate(end);
  else if (end < size && from === 0) await file.truncate(0);
};

/** Another text after each change of the file, by whomever. */
export const stampOf = async (path: string): Promise<string> => {
  const { size, mtimeMs, ino } = await stat(path).catch(orAbsent);
  return `${size} ${mtimeMs} ${ino}`;
};

const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(orAbsent)).size;

const orAbsent = (error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return { size: 0, mtimeMs: 0, ino: 0 };
  throw error;
};
