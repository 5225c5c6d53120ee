import { createHash } from 'node:crypto';
import { factsOfFile, storedPathOf } from '#kernel/base/file-address.ts';
import { column } from '#kernel/base/names.ts';
import { isFileField } from '#kernel/decide/accepted-files.ts';
import type { Defs } from '#kernel/registry/registry.ts';
import { blobOfUpload } from '#shared/blobs/blob-name.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import type { Pool } from '#shared/database/pool.ts';
import { LIVE_SCHEMA } from '#shared/database/read-model-schemas.ts';
import type { OfStreams, Tables } from '#shared/read-model/tables.ts';
import { keyOf } from './compare-live.ts';
import type { Findings } from './findings.ts';

type Checking = {
  readonly pool: Pool;
  readonly tables: Tables;
  readonly blobs: Pick<Blobs, 'read'>;
  readonly findings: Pick<Findings, 'add'>;
  readonly signal: AbortSignal;
};

/**
 * Compares the content of each file that the live read model names with the digest in its address, which the events
 * contain. Returns the number of files.
 */
export const checkFiles = async (checking: Checking): Promise<number> => {
  let compared = 0;
  for (const table of checking.tables.ofStreams)
    for (const name of fileColumnsOf(table)) compared += await checkColumn(checking, table, name);
  return compared;
};

const fileColumnsOf = (table: OfStreams): readonly string[] => {
  const defs: Defs = 'aggregate' in table ? table.aggregate.fields : 'list' in table ? table.list.fields : {};
  return Object.entries(defs).flatMap(([name, def]) => (isFileField(def) ? [column(name, def)] : []));
};

type Named = { readonly key: string; readonly of: number; readonly address: string };

const PAGE_ROWS = 1_000;

const checkColumn = async (checking: Checking, table: OfStreams, name: string): Promise<number> => {
  const { pool, signal } = checking;
  let after = '';
  for (let compared = 0; ; ) {
    const { rows } = await pool.query<Named>(
      `select ${named(table, name)} where ${name} is not null and ${name} collate "C" > $1
       order by ${name} collate "C" limit ${PAGE_ROWS}`,
      [after],
    );
    for (const row of rows) {
      signal.throwIfAborted();
      await checkFile(checking, table, { ...row, name });
    }
    compared += rows.length;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) return compared;
    after = last.address;
  }
};

const named = (table: OfStreams, name: string): string => {
  const of = 'list' in table ? table.key[0] : 'id';
  return `(${keyOf(table)})::text as key, ${of}::float8 as of, ${name} as address from ${LIVE_SCHEMA}.${table.name}`;
};

const checkFile = async (
  { pool, blobs, findings }: Checking,
  table: OfStreams,
  { key, of, address, name }: Named & { readonly name: string },
): Promise<void> => {
  const facts = factsOfFile(address);
  const blob = blobOfUpload(of, address);
  const found = blob === undefined ? undefined : await digestOf(blobs, blob);
  if (facts !== undefined && found === facts.sha256) return;
  // The file may have been replaced or removed meanwhile.
  const { rows } = await pool.query<Named>(
    `select ${named(table, name)} where ${name} = $1 and (${keyOf(table)})::text = $2`,
    [address, key],
  );
  if (rows.length === 0) return;
  const place = { table: table.name, key, column: name, path: storedPathOf(address) };
  if (found === undefined) findings.add({ kind: 'file_missing', ...place });
  else findings.add({ kind: 'file_different', ...place, recorded: facts?.sha256 ?? '', found });
};

const digestOf = async (
  blobs: Pick<Blobs, 'read'>,
  blob: Parameters<Blobs['read']>[0],
): Promise<string | undefined> => {
  const content = await blobs.read(blob);
  if (content === undefined) return undefined;
  const hash = createHash('sha256');
  for await (const chunk of content) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
};
