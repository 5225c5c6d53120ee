import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { EventId, Position, StreamName, UserId, Version } from '#shared/brands.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { KeyStore, PersonKey } from '#shared/keys/key-store.ts';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';
import { SealBroken, seal, unseal } from '#shared/keys/seal.ts';

/** The state of an aggregate after one of its events. */
export type Snapshot = {
  readonly stream: StreamName;
  readonly version: Version;
  readonly position: Position;
  readonly event: EventId;
  /** What the fold means that made it. */
  readonly definition: string;
  /** Whose personal data is in its events. */
  readonly persons: readonly UserId[];
  /** JSON. */
  readonly state: unknown;
};

/**
 * Keeps states of long streams. What it returns is only a beginning: the log says whether it has that event, and what came after. A snapshot is sealed
 * under the master key and the keys of everybody who is in it, so that nobody can forge one, and none opens after one of them was erased.
 */
export type Snapshots = {
  /** The latest of this definition, unless it does not open. */
  find(stream: StreamName, definition: string): Promise<Snapshot | undefined>;
  /** Keeps a later one than there is. Of somebody who was erased nothing is kept: what was folded may still hold something of theirs. */
  save(snapshot: Snapshot): Promise<void>;
};

const STATE_BYTES_MAX = 4 * 1_048_576;
/** More persons than this are not looked up for one state. */
const PERSONS_MAX = 100;

export const migrateSnapshots = (pool: Pool): Promise<void> => migrate(pool, 'snapshots', new URL('./migrations/', import.meta.url));

type Dependencies = { readonly pool: Pick<Pool, 'query'>; readonly keys: Pick<KeyStore, 'find'>; readonly masterKey: MasterKey };

export const createSnapshots = ({ pool, keys, masterKey }: Dependencies): Snapshots => {
  const own = deriveKey(masterKey, 'snapshot');
  const keyOf = async (persons: readonly UserId[]): Promise<KeyObject | undefined> => {
    const found = persons.length === 0 ? new Map<UserId, PersonKey>() : await keys.find(persons);
    const all = persons.map((person) => found.get(person));
    const parts = all.flatMap((key) => (key === undefined || key === 'destroyed' ? [] : [key.export()]));
    if (parts.length < all.length) return undefined;
    return createSecretKey(Buffer.from(hkdfSync('sha256', Buffer.concat([own, ...parts]), Buffer.alloc(0), 'annals/snapshot', own.length)));
  };
  return {
    async find(stream, definition) {
      const row = await selectSnapshot(pool, stream, definition);
      const key = row && (await keyOf(row.persons));
      return row && key && opened(key, row);
    },
    async save(given) {
      if (given.persons.length > PERSONS_MAX) return;
      const snapshot = { ...given, persons: given.persons.toSorted((one, other) => one - other) };
      const plain = Buffer.from(JSON.stringify(snapshot.state));
      const key = plain.length > STATE_BYTES_MAX ? undefined : await keyOf(snapshot.persons);
      if (key !== undefined) await saveSnapshot(pool, snapshot, seal(key, plain, boundTo(snapshot)));
    },
  };
};

type Row = Omit<Snapshot, 'state'> & { readonly sealed: Buffer };

/** Undefined if somebody changed it. */
const opened = (key: KeyObject, { sealed, ...row }: Row): Snapshot | undefined => {
  try {
    return { ...row, state: JSON.parse(unseal(key, sealed, boundTo(row)).toString('utf8')) };
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
};

const boundTo = ({ stream, version, position, event, definition, persons }: Omit<Snapshot, 'state'>): string =>
  JSON.stringify([stream, version, position, event, definition, persons]);

const selectSnapshot = async (pool: Dependencies['pool'], stream: StreamName, definition: string): Promise<Row | undefined> => {
  const { rows } = await pool.query<Row>({
    name: 'select-snapshot',
    text: `select stream, version, position, event_id as event, definition, persons, sealed
      from snapshots.state where stream = $1 and definition = $2`,
    values: [stream, definition],
  });
  return rows[0];
};

/** One of another definition is of an earlier release, or of a later one that is being taken back: the last one that is at work keeps its own. */
const saveSnapshot = async (
  pool: Dependencies['pool'],
  { stream, version, position, event, definition, persons }: Snapshot,
  sealed: Buffer,
): Promise<void> => {
  await pool.query({
    name: 'save-snapshot',
    text: `insert into snapshots.state (stream, version, position, event_id, definition, persons, sealed)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (stream) do update
        set (version, position, event_id, definition, persons, sealed, made_at) =
          (excluded.version, excluded.position, excluded.event_id, excluded.definition, excluded.persons, excluded.sealed, now())
        where state.definition <> excluded.definition or state.position < excluded.position`,
    values: [stream, version, position, event, definition, persons, sealed],
  });
};

/** They do not open any more once the key of a person is gone; nothing is left of them either. */
export const deleteSnapshotsOf = async (pool: Pick<Pool, 'query'>, persons: readonly UserId[]): Promise<void> => {
  await pool.query('delete from snapshots.state where persons && $1::bigint[]', [persons]);
};
