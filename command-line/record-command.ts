import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { logsReads } from '#kernel/registry/logs-reads.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { entryText, type ReadBy } from '#shared/read-log/entry.ts';
import { migrateReadLog } from '#shared/read-log/migrate.ts';

type Reading = { readonly domain: Domain; readonly pool: Pool; readonly command: string };

/**
 * Records a command of operators that shows or copies the log, before it does: as an entry without items for each
 * aggregate whose reads are logged, because it may show all of them.
 */
export const recordCommand = async ({ domain, pool, command }: Reading): Promise<void> => {
  if (!logsReads(domain)) return;
  const by: ReadBy = {
    ...{
      actor: 'system:command-line',
      reader: null,
      client: null,
      via: 'command line' as const,
      operation: command,
    },
    ...{ query: { account: userInfo().username }, request: randomUUID() },
  };
  const at = new Date().toISOString();
  const texts = Object.values(domain.kinds).flatMap((kind) =>
    kind.reads === undefined
      ? []
      : [entryText(by, at, { kind, fields: kind.reads.only ?? allOf(kind), items: [] })],
  );
  if (texts.length === 0) return;
  await migrateReadLog(pool);
  await pool.query('select read_log.append($1::uuid, 1, $2::text[])', [randomUUID(), texts]);
};

const allOf = ({ fields, lists }: Domain['kinds'][string]): readonly string[] => [
  ...Object.keys(fields),
  ...Object.keys(lists),
];
