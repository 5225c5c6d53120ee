import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Pool } from '#shared/database/pool.ts';
import { listMigrations } from '#shared/database/usable.ts';
import { plural } from '#shared/format.ts';
import { type Diagnosis, ok, warn } from './diagnosis.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Checks whether the tables are those of this release. A part that was never used here, such as another
 * engine, has none.
 */
export const migrations = async (pool: Pool): Promise<readonly Diagnosis[]> => {
  const { rows: tables } = await pool.query<{ isThere: boolean }>(
    `select to_regclass('public.annals_migration') is not null as "isThere"`,
  );
  if (!tables[0]?.isThere) return [ok('The database is empty: the first start creates the tables.')];
  const { rows } = await pool.query<{ checksum: string }>('select checksum from public.annals_migration');
  const applied = new Set(rows.map(({ checksum }) => checksum));
  const files = await Promise.all((await listMigrations()).map(read));
  const used = new Set(files.filter(({ checksum }) => applied.has(checksum)).map(({ folder }) => folder));
  const pending = files.filter(({ folder, checksum }) => used.has(folder) && !applied.has(checksum));
  const known = new Set(files.map(({ checksum }) => checksum));
  const strange = rows.filter(({ checksum }) => !known.has(checksum)).length;
  return [
    pending.length === 0
      ? ok(`All ${plural(rows.length - strange, 'migration')} of this release that are in use are applied.`)
      : warn(
          `${plural(pending.length, 'migration')} of this release ${pending.length === 1 ? 'is' : 'are'} not applied: ${pending.map(({ name }) => name).join(', ')}.`,
          'start this release: it applies them.',
        ),
    ...(strange === 0
      ? []
      : [
          warn(
            `The database has ${plural(strange, 'migration')} that this release does not know.`,
            'run the release that added them, or a newer one (docs/upgrade.md).',
          ),
        ]),
  ];
};

const read = async (path: string) => {
  const sql = await readFile(join(ROOT, path), 'utf8');
  return {
    folder: dirname(path),
    name: basename(path, '.sql'),
    checksum: createHash('sha256').update(sql).digest('hex'),
  };
};
