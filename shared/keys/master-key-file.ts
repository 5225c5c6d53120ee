import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { demandFolder, narrowDataFolder } from '#shared/folder.ts';
import { type MasterKey, parseMasterKey } from './master-key.ts';

const KEY_BYTES = 32;

type Settings = { readonly masterKey: string | undefined; readonly dataDir: string };

/** The master key, if the settings or the data folder have one: for commands that do without. */
export const findMasterKey = async (settings: Settings): Promise<MasterKey | undefined> =>
  settings.masterKey !== undefined || (await read(join(settings.dataDir, 'master.key'))) !== undefined
    ? openMasterKey(settings)
    : undefined;

/**
 * The master key of the settings, or else the one of the data folder, which is created on the first start.
 */
export const openMasterKey = async ({ masterKey, dataDir }: Settings): Promise<MasterKey> => {
  if (masterKey !== undefined) return parseMasterKey(masterKey);
  const path = join(dataDir, 'master.key');
  const text = (await read(path)) ?? (await make(path, dataDir));
  // The key shows that the folder is ours alone.
  await narrowDataFolder(dataDir);
  try {
    return parseMasterKey(text);
  } catch (cause) {
    throw new StartRefused(
      `${path} is damaged: restore it from a copy, or set MASTER_KEY; without it no personal field can be read.`,
      {
        cause,
      },
    );
  }
};

const read = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new StartRefused(
      `Cannot read ${path}: start as the user who owns it, or set DATA_DIR to another folder.`,
      { cause: error },
    );
  }
};

/**
 * A hard link appears complete and never replaces another, so that two concurrent first starts get the same
 * key.
 */
const make = async (path: string, dataDir: string): Promise<string> => {
  await demandFolder(dataDir, 'DATA_DIR');
  const temporary = `${path}.${randomBytes(4).toString('hex')}`;
  await writeFile(temporary, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flush: true });
  try {
    await link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  return readFile(path, 'utf8');
};
