import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';
import type { Log } from '#shared/log.ts';
import type { Upgrade } from './upgrade.ts';

/**
 * A table whose rows let somebody act: each row has a proof in its column `proof`, made with a key that no
 * database has. Every column that grants something is in `columns`. A field that is null counts as absent, so
 * a column that is added later leaves the proofs of existing rows valid.
 */
export type GrantingTable<Row extends object> = {
  readonly name: string;
  /** The field that is the primary key, and its type in SQL. */
  readonly key: keyof Row & string;
  readonly keyType: 'bigint' | 'bytea' | 'text';
  readonly columns: { readonly [Field in keyof Row & string]-?: string };
};

export type Proven = { readonly proof: Buffer | null };

/** Proofs that a row was written by a process with the master key, as it is. */
export type RowProofs = {
  /** The proof for a row that is written now. */
  of<Row extends object>(table: GrantingTable<Row>, row: Row): Buffer;
  isRight<Row extends object>(table: GrantingTable<Row>, row: Row & Proven): boolean;
  /**
   * Whether the row counts. One without the right proof is logged as an error, and is as good as absent;
   * only while an upgrade is under way, rows of the former release count.
   */
  check<Row extends object>(table: GrantingTable<Row>, row: Row & Proven): Promise<boolean>;
  /** From a release without proofs: while it is under way, its rows count, and are given proofs. */
  readonly upgrade: Upgrade;
};

type Dependencies = {
  readonly masterKey: MasterKey;
  readonly log: Pick<Log, 'error'>;
  /** Asked only about rows without the right proof; by default, there is none. */
  readonly upgrade?: Upgrade;
};

export const createRowProofs = ({ masterKey, log, upgrade = NO_UPGRADE }: Dependencies): RowProofs => {
  const key = createSecretKey(deriveKey(masterKey, 'row-proof'));
  const of: RowProofs['of'] = (table, row) => createHmac('sha256', key).update(formOf(table, row)).digest();
  const isRight: RowProofs['isRight'] = (table, row) =>
    row.proof?.length === PROOF_BYTES && timingSafeEqual(row.proof, of(table, row));
  return {
    of,
    isRight,
    upgrade,
    async check(table, row) {
      if (isRight(table, row) || (await upgrade.isUnderWay())) return true;
      const key: unknown = row[table.key];
      log.error(
        { table: table.name, row: Buffer.isBuffer(key) ? key.toString('base64url') : key },
        'A row has no valid proof, so it does not count: somebody has changed the table, or an earlier release has written it: docs/runbooks.md, “A row has no valid proof”.',
      );
      return false;
    },
  };
};

const PROOF_BYTES = 32;

const NO_UPGRADE: Upgrade = { isUnderWay: async () => false, begin: async () => {} };

/** For a select: all fields of the row, and its proof. */
export const provenColumns = ({ columns, name }: Columns): string =>
  [
    ...Object.entries(columns).map(([field, column]) => `${name}.${column} as "${field}"`),
    `${name}.proof`,
  ].join(', ');

type Columns = { readonly name: string; readonly columns: Readonly<Record<string, string>> };

/** The same text for equal rows, whether they are about to be written or were read. */
const formOf = <Row extends object>({ name, columns }: GrantingTable<Row>, row: Row): string => {
  const fields = (Object.keys(columns) as (keyof Row & string)[]).toSorted();
  const values = fields.flatMap((field) => ((row[field] ?? null) === null ? [] : [[field, row[field]]]));
  return JSON.stringify([name, values], inOneForm);
};

/** PostgreSQL orders the names in JSON, and UTF-8 has no halves of surrogate pairs. */
const inOneForm = (_name: string, value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
};
