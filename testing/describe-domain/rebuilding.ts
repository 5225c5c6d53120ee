import type { Row } from '#kernel/registry/registry.ts';
import { CHANGED } from '#kernel/rows/view-table.ts';
import { inDatabase } from '../database/search-everywhere.ts';
import { operate } from '../installation.ts';
import { until } from '../until.ts';
import type { Checks } from './checks.ts';
import { findings, tablesIn } from './proof.ts';
import type { Stage } from './stage.ts';

/** The read model has the same rows after a rebuild in use, and after a restore elsewhere. */
export const checkRebuilding = async (stage: Stage, checks: Checks): Promise<void> => {
  const { installation, served, host } = stage;
  const { settings } = installation;
  await stage.read('/me', stage.admin);
  const before = await rowsOf(stage, settings.DATABASE_URL ?? '');
  await operate(['projection', 'rebuild'], settings, served);
  checks.equal(await rowsOf(stage, settings.DATABASE_URL ?? ''), before, 'the rows after a rebuild');
  checks.equal(await findings(stage), [], 'nothing is found after a rebuild');
  await using folder = await host.createFolder();
  await operate(['log', 'export', `${folder.path}/export`, '--keys'], settings, served);
  await using database = await host.createDatabase();
  await using dataDir = await host.createFolder();
  const copy = { ...settings, DATABASE_URL: database.url, DATA_DIR: dataDir.path };
  await operate(['log', 'import', `${folder.path}/export`], copy, served);
  await using _projector = await host.startProjector(copy);
  const wanted = JSON.stringify(before);
  const look = async () => rowsOf(stage, database.url).catch(() => undefined);
  const rows = await until(look, (seen) => JSON.stringify(seen) === wanted).catch(look);
  checks.equal(rows, before, 'the rows of a copy');
};

const rowsOf = (stage: Stage, url: string): Promise<Readonly<Record<string, readonly Row[]>>> =>
  inDatabase(url, async (client) => {
    const all: Record<string, readonly Row[]> = {};
    for (const { table } of tablesIn(stage)) {
      const { rows } = await client.query<{ row: Row }>(
        `select to_jsonb(t) - '${CHANGED}' as row from ${table} t order by 1`,
      );
      all[table] = rows.map(({ row }) => row);
    }
    return all;
  });
