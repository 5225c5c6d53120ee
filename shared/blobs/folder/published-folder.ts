import { randomUUID } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '#shared/folder.ts';
import type { PublishedFiles } from '../published-files.ts';

/** Other users of the machine read it: a web server, for one. */
const PUBLIC_FOLDER = 0o755;
const PUBLIC_FILE = 0o644;

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;

export const openPublishedFolder = (folder: string, { isPrivate = false } = {}): PublishedFiles => ({
  read: (path) => readFile(join(folder, path)).catch(ifAbsent),
  async write(path, content) {
    const file = join(folder, path);
    await makeFolder(dirname(file), isPrivate ? PRIVATE_FOLDER : PUBLIC_FOLDER);
    const written = `${file}.${randomUUID()}`;
    try {
      {
        await using handle = await open(written, 'wx', isPrivate ? PRIVATE_FILE : PUBLIC_FILE);
        await handle.writeFile(content);
        await handle.sync();
      }
      await rename(written, file);
    } catch (error) {
      await rm(written, { force: true }).catch(() => {});
      throw error;
    }
  },
  remove: (path) => rm(join(folder, path), { force: true }),
  [Symbol.asyncDispose]: async () => {},
});

const ifAbsent = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error;
};
