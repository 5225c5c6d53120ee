import { randomUUID } from 'node:crypto';
import { logsReads } from '#kernel/registry/logs-reads.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { appendEntries } from './append.ts';
import { entryOf, type ReadBy } from './entry.ts';
import { migrateReadLog } from './migrate.ts';

type Recording = { readonly domain: Domain; readonly pool: Pool; readonly at: string };

/**
 * Records an answer that may show anything, before it does: as an entry without items for each aggregate whose
 * reads are logged. Throws if the log of reads cannot be written.
 */
export const recordWhole = async (
  { domain, pool, at }: Recording,
  by: ReadBy,
  shown: (kind: Kind) => readonly string[] = allOf,
): Promise<void> => {
  if (!logsReads(domain)) return;
  await migrateReadLog(pool);
  const entries = Object.values(domain.kinds).flatMap((kind) => {
    if (kind.reads === undefined) return [];
    const { only } = kind.reads;
    const fields = shown(kind).filter((name) => only === undefined || only.includes(name));
    return fields.length === 0 ? [] : [entryOf(by, at, { kind, fields, items: [] })];
  });
  if (entries.length > 0) await appendEntries(pool, { writer: randomUUID(), number: 1, entries });
};

const allOf = ({ fields, lists }: Kind): readonly string[] => [...Object.keys(fields), ...Object.keys(lists)];
