import { randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StartRefused } from '#kernel/base/start-refused.ts';

/**
 * Creates a folder and its parents. Node’s own `recursive` never returns on a file system that answers ENOENT
 * although the parent exists, as `/proc` does.
 */
export const makeFolder = async (path: string, mode?: number): Promise<void> => {
  if (await isMade(path, mode)) return;
  if (dirname(path) !== path) await makeFolder(dirname(path), mode);
  if (!(await isMade(path, mode)))
    throw Object.assign(new Error(`ENOENT: cannot create the folder '${path}'`), { code: 'ENOENT', path });
};

/** Returns false if the parent is missing. */
const isMade = async (path: string, mode?: number): Promise<boolean> => {
  try {
    await mkdir(path, { mode });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return true;
    throw error;
  }
};

/** The modes for folders and files that no other user of the machine may read. */
export const PRIVATE_FOLDER = 0o700;
export const PRIVATE_FILE = 0o600;
/** If the present user is root, PostgreSQL runs as another user, who passes through the data folder. */
const PASSED_THROUGH = 0o711;

const dataFolderMode = (): number => (process.getuid?.() === 0 ? PASSED_THROUGH : PRIVATE_FOLDER);

/**
 * Takes the rights of other users from a folder of ours, and from its content. Skips content of other users: that of
 * PostgreSQL.
 */
export const narrowDataFolder = async (path: string): Promise<void> => {
  await narrow(path, dataFolderMode());
  for (const { name, parentPath } of await readdir(path, { withFileTypes: true }))
    await narrow(join(parentPath, name));
};

/** Takes the rights of other users from a folder or a file of this user. */
export const narrow = async (path: string, folderMode = PRIVATE_FOLDER): Promise<void> => {
  const stats = await lstat(path).catch(ifGone);
  if (stats === undefined || stats.uid !== process.getuid?.()) return;
  if (!stats.isDirectory() && !stats.isFile()) return;
  const mode = stats.mode & PERMISSIONS;
  const wanted = mode & (stats.isDirectory() ? folderMode : PRIVATE_FILE);
  if (mode !== wanted) await chmod(path, wanted).catch(ifGone);
};

const PERMISSIONS = 0o777;

/** Another process may have removed it. */
const ifGone = (error: NodeJS.ErrnoException): undefined => {
  if (error.code !== 'ENOENT') throw error;
};

/** Creates the folder of a setting, and refuses the start if it is not writable. */
export const demandFolder = async (path: string, setting: string): Promise<void> => {
  try {
    await makeFolder(path, dataFolderMode());
    const probe = join(path, `.annals-${randomBytes(4).toString('hex')}`);
    await writeFile(probe, '', { flag: 'wx' });
    await rm(probe);
  } catch (cause) {
    const reason = reasonOf(cause);
    if (reason === undefined) throw cause;
    throw new StartRefused(
      `The folder ${path} ${reason}: set ${setting} to a folder that this user can write to.`,
      { cause },
    );
  }
};

/** One sentence about a file or folder that could not be used; undefined for every other error. */
export const fileFailure = (error: unknown): string | undefined => {
  const { path } = error as NodeJS.ErrnoException;
  const reason = reasonOf(error);
  return path === undefined || reason === undefined ? undefined : `${path} ${reason}.`;
};

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'may not be used by this user',
  EPERM: 'may not be used by this user',
  EROFS: 'is on a read-only file system',
  ENOTDIR: 'is inside a file, not a folder',
  EEXIST: 'is not a folder',
  EISDIR: 'is a folder',
  ENOENT: 'does not exist',
  ENOSPC: 'is on a disk that is full',
  EDQUOT: 'is over the quota of this user',
  ENAMETOOLONG: 'has too long a name',
  ELOOP: 'is a link to itself',
};

const reasonOf = (error: unknown): string | undefined => {
  const { code, syscall } = error as NodeJS.ErrnoException;
  // A socket may refuse with the same codes.
  return code === undefined || syscall === 'listen' || syscall === 'connect' ? undefined : REASONS[code];
};
