import { constants, type Stats } from 'node:fs';
import { access, type FileHandle, lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { makeFolder, narrow, PRIVATE_FILE, PRIVATE_FOLDER } from '#shared/folder.ts';
import { type BlobName, parseBlobName } from '../blob-name.ts';
import { type Blobs, BlobsUnavailable, type ByteRange } from '../blobs.ts';
import { receive } from '../incoming-body.ts';

/** An upload of this age is a leftover: no request lasts so long. */
const LEFTOVER_MS = 3_600_000;

/**
 * Stores each blob as a file in a folder, which several processes may share. A file moves there only once it
 * is complete.
 */
export const openFolderBlobs = async (folder: string): Promise<Blobs> => {
  const incoming = join(folder, 'incoming');
  await makeFolder(incoming, PRIVATE_FOLDER);
  for (const each of [folder, incoming]) await narrow(each);
  await removeLeftovers(incoming);
  const fileOf = (name: BlobName) => join(folder, nameOfFile(name));
  return {
    async put(name, body, { bytes } = {}) {
      const temporary = join(incoming, nameOfFile(name));
      const received = receive(body, bytes);
      try {
        await writeDurably(temporary, received.chunks);
        await rename(temporary, fileOf(name));
        await syncFolder(folder);
      } catch (cause) {
        await rm(temporary, { force: true }).catch(() => {});
        received.throwIfFailed();
        throw new BlobsUnavailable('a file could not be written to the folder', { cause });
      }
    },
    async find(name) {
      const stats = await lstat(fileOf(name)).catch(ifAbsent);
      return stats?.isFile() ? { bytes: stats.size } : undefined;
    },
    read: (name, range) => read(fileOf(name), range),
    async remove(name) {
      await rm(fileOf(name), { force: true }).catch((cause: unknown) => {
        throw new BlobsUnavailable('a file could not be removed from the folder', { cause });
      });
    },
    async check() {
      for (const each of [folder, incoming]) await access(each, constants.W_OK | constants.X_OK);
    },
    [Symbol.asyncDispose]: async () => {},
  };
};

/** The type ensures it, but an invalid name must never become a path. */
const nameOfFile = (name: BlobName): string => {
  if (parseBlobName(name) === undefined) throw new Error('this is not the name of a blob');
  return name;
};

const writeDurably = async (file: string, chunks: AsyncIterable<Uint8Array>): Promise<void> => {
  await using handle = await open(file, 'wx', PRIVATE_FILE);
  await handle.writeFile(chunks);
  await handle.sync();
};

/** Without it a power cut could undo the rename. */
const syncFolder = async (folder: string): Promise<void> => {
  await using handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  await handle.sync();
};

/** Never follows a symbolic link out of the folder. */
const read = async (file: string, range: ByteRange | undefined): Promise<Readable | undefined> => {
  const handle: FileHandle | undefined = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW).catch(
    ifAbsent,
  );
  return handle?.createReadStream({ ...range });
};

const ABSENT = new Set(['ENOENT', 'ELOOP']);

const ifAbsent = (cause: NodeJS.ErrnoException): undefined => {
  if (ABSENT.has(cause.code ?? '')) return undefined;
  throw new BlobsUnavailable('a file could not be read from the folder', { cause });
};

/** Of processes that were killed during an upload. */
const removeLeftovers = async (incoming: string): Promise<void> => {
  for (const name of await readdir(incoming)) {
    const file = join(incoming, name);
    const stats: Stats | undefined = await lstat(file).catch(ifAbsent);
    if (stats && Date.now() - stats.mtimeMs > LEFTOVER_MS) await rm(file, { force: true });
  }
};
