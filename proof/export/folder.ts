import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { fileFailure, makeFolder } from '#shared/folder.ts';

/** The suffix of a file that is being written; a file without it is complete and on the disk. */
const UNFINISHED = '.unfinished';

/** For the owner only, because the folder contains persons’ keys and sealed data. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

export const openFolder = async (folder: string): Promise<readonly string[]> => {
  try {
    await makeFolder(folder, FOLDER_MODE);
    return await readdir(folder);
  } catch (cause) {
    throw new StartRefused(fileFailure(cause) ?? `${folder} cannot be used: ${(cause as Error).message}.`, {
      cause,
    });
  }
};

type WrittenFile = { readonly bytes: number; readonly sha256: string };

/** Writes a file line by line; it gets its name once all of it is on the disk. */
export class LinesFile implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #folder: string;
  readonly #name: string;
  readonly #hash = createHash('sha256');
  bytes = 0;

  private constructor(handle: FileHandle, folder: string, name: string) {
    this.#handle = handle;
    this.#folder = folder;
    this.#name = name;
  }

  static async create(folder: string, name: string): Promise<LinesFile> {
    return new LinesFile(await open(join(folder, name + UNFINISHED), 'w', FILE_MODE), folder, name);
  }

  async write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    this.#hash.update(bytes);
    this.bytes += bytes.length;
    await this.#handle.writeFile(bytes);
  }

  async finish(): Promise<WrittenFile> {
    await this.#handle.sync();
    await this.#handle.close();
    await rename(join(this.#folder, this.#name + UNFINISHED), join(this.#folder, this.#name));
    await syncFolder(this.#folder);
    return { bytes: this.bytes, sha256: this.#hash.digest('hex') };
  }

  /** A resumed export rewrites the unfinished file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close().catch(() => {});
  }
}

export const writeWhole = async (folder: string, name: string, text: string): Promise<WrittenFile> => {
  await using file = await LinesFile.create(folder, name);
  await file.write(text);
  return await file.finish();
};

export const readWhole = async (folder: string, name: string): Promise<string | undefined> => {
  try {
    return await readFile(join(folder, name), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

export const removeFile = async (folder: string, name: string): Promise<void> => {
  await rm(join(folder, name), { force: true });
  await syncFolder(folder);
};

/** Undefined if the file does not exist. */
export const digestOf = async (folder: string, name: string): Promise<string | undefined> => {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(join(folder, name))) hash.update(chunk as Buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return hash.digest('hex');
};

const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
