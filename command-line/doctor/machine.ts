import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { bytesText } from '#shared/format.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { type Diagnosis, type Examined, fail, isThere, ok, warn } from './diagnosis.ts';

const WANTED = packageJson.dependencies.node;
const majorOf = (version: string): number => Number(version.split('.', 1)[0]);

export const nodeVersion = async (): Promise<readonly Diagnosis[]> => {
  const { node } = process.versions;
  if (majorOf(node) === majorOf(WANTED)) return [ok(`Node ${node}, the version that Annals is tested with.`)];
  const remedy = `run npm start or npm run annals, which install Node ${WANTED}.`;
  return [
    majorOf(node) < majorOf(WANTED)
      ? fail(`Node ${node} is older than Node ${majorOf(WANTED)}, which Annals needs.`, remedy)
      : warn(`Node ${node} is newer than the version that Annals is tested with.`, remedy),
  ];
};

const FREE_MIN_BYTES = 1024 ** 3;
const FREE_MIN_SHARE = 0.1;

/**
 * Checks the disks of the folders that Annals writes to. The disk of a database elsewhere is its operator's
 * concern.
 */
export const diskSpace = async ({ config }: Examined): Promise<readonly Diagnosis[]> => {
  const disks = new Map<number, string>();
  for (const folder of [config.audit.dir, config.dataDir])
    disks.set((await stat(await existing(folder))).dev, folder);
  return Promise.all([...disks.values()].map(spaceOf));
};

const spaceOf = async (folder: string): Promise<Diagnosis> => {
  const { bavail, blocks, bsize } = await statfs(await existing(folder));
  const [free, share] = [bavail * bsize, blocks === 0 ? 0 : bavail / blocks];
  const says = `${bytesText(free)} (${Math.floor(share * 100)} %) are free on the disk of ${folder}.`;
  if (free < FREE_MIN_BYTES)
    return fail(says, 'free some space: a full disk stops all writes until there is space again.');
  return share < FREE_MIN_SHARE
    ? warn(says, 'free some space, or move the folder to a larger disk.')
    : ok(says);
};

/** The nearest existing folder above a folder that does not exist yet. */
const existing = async (folder: string): Promise<string> => {
  for (let path = folder; ; path = dirname(path))
    if (dirname(path) === path || (await isThere(path))) return path;
};
