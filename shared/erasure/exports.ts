import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { UserId } from '#kernel/base/brands.ts';
import type { ErasureReport } from '#shared/rest/erasure.ts';

/** The file of an export made with `--keys`, beside its events (proof/export/persons.ts). */
const PERSONS = 'persons.jsonl';

/**
 * The exports below AUDIT_DIR that contain the key of a person. The personal data in their events is sealed
 * with it.
 */
export const exportPlace = async (
  auditDir: string,
  userId: UserId,
): Promise<ErasureReport['places'][number]> => {
  const folders: string[] = [];
  for (const folder of await foldersWithKeys(auditDir))
    if (await hasKeyOf(join(folder, PERSONS), userId)) folders.push(folder);
  return {
    place: 'exports in AUDIT_DIR',
    verdict: folders.length === 0 ? 'erased' : 'left',
    rows: folders.length,
    left: folders.length,
    says:
      folders.length === 0
        ? 'no export in this folder has their key, without which nobody can decrypt their events'
        : `these exports have their key. They are signed as a whole, so a part cannot be removed: remove ${folders.join(', ')}`,
  };
};

const foldersWithKeys = async (auditDir: string): Promise<readonly string[]> => {
  try {
    const entries = await readdir(auditDir, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && entry.name === PERSONS)
      .map(({ parentPath }) => parentPath)
      .toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
};

const hasKeyOf = async (path: string, userId: UserId): Promise<boolean> => {
  await using file = await open(path);
  let hasKey = false;
  for await (const line of file.readLines())
    if (line.includes(`"subject":${userId},`)) hasKey = !line.includes('"wrapped":null');
  return hasKey;
};
