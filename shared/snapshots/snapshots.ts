// Over 200 lines, because it is one store: the content of snapshots, their retention, and who can open them.
import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { EventId, Position, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { KeyStore, PersonKey } from '#shared/keys/key-store.ts';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';
import { SealBroken, seal, unseal } from '#shared/keys/seal.ts';
import type { Log } from '#shared/log.ts';
import { weigh } from '#shared/weigh.ts';

/**
 * The kinds of folds: `state` decides commands, `row` is the row of the read model, `rights` holds the facts
 * of read rights.
 */
export const FOLDS = ['state', 'row', 'rights'] as const;
export type Fold = {
  readonly fold: (typeof FOLDS)[number];
  /** Identifies the meaning of the fold that made it. */
  readonly definition: string;
};

/** The state of a stream after one of its events. */
export type Snapshot = Fold & {
  readonly stream: StreamName;
  readonly version: Version;
  readonly position: Position;
  readonly event: EventId;
  /** The persons with personal data in its events. */
  readonly persons: readonly UserId[];
  /** JSON. */
  readonly state: unknown;
};

/**
 * Stores states of long streams. A snapshot is only a start: the log shows whether it has that event, and
 * which came after. It is sealed with the master key and the keys of all persons in it, so that nobody can
 * forge one, and none opens after one of them was erased.
 */
export type Snapshots = {
  /** The latest up to a position, unless it does not open. */
  find(stream: StreamName, fold: Fold, upTo?: Position): Promise<Snapshot | undefined>;
  /**
   * Stores states of one fold of a stream, and deletes those of another definition. Stores nothing with
   * erased persons, because the state may still hold their data. After a failure the next folds take longer.
   */
  save(snapshots: readonly Snapshot[]): Promise<void>;
  /** Deletes those of a fold that are useless, or keep others out. */
  discard(stream: StreamName, fold: Fold): Promise<void>;
  /** The persons among these whose data now reads as erased. */
  erasedAmong(persons: readonly UserId[]): Promise<ReadonlySet<UserId>>;
};

const STATE_BYTES_MAX = 4 * 1_048_576;
/** The maximum of keys for one state. */
export const PERSONS_MAX = 100;

/** A stream gets a snapshot after this number of events. */
export const SNAPSHOT_EVERY_EVENTS = 512;
/**
 * Or after more, if states are large: snapshots take this space per event. With its metadata an event has
 * at least 300 bytes, so the snapshots of a fold take at most a third of the log’s space.
 */
const BYTES_PER_EVENT = 100;

export const migrateSnapshots = (pool: Pool): Promise<void> =>
  migrate(pool, 'snapshots', new URL('./migrations/', import.meta.url));

type Dependencies = {
  readonly pool: Pick<Pool, 'query'>;
  readonly keys: Pick<KeyStore, 'find'>;
  readonly masterKey: MasterKey;
  /** In a copy of it, events have other positions. */
  readonly eventLog: Pick<EventLog, 'identity'>;
  /** Gets the reason why snapshots could not be saved. */
  readonly reportUnsaved?: (error: unknown, stream: StreamName) => void;
};

export const createSnapshots = ({
  pool,
  keys,
  masterKey,
  eventLog,
  reportUnsaved,
}: Dependencies): Snapshots => {
  const own = deriveKey(masterKey, 'snapshot');
  const boundTo = ({
    stream,
    fold,
    version,
    position,
    event,
    definition,
    persons,
  }: Omit<Snapshot, 'state'>): string =>
    JSON.stringify([eventLog.identity, stream, fold, version, position, event, definition, persons]);
  const keyOf = async (persons: readonly UserId[]): Promise<KeyObject | undefined> => {
    const found = persons.length === 0 ? new Map<UserId, PersonKey>() : await keys.find(persons);
    const all = persons.map((person) => found.get(person));
    const parts = all.flatMap((key) => (key === undefined || key === 'destroyed' ? [] : [key.export()]));
    if (parts.length < all.length) return undefined;
    return createSecretKey(
      Buffer.from(
        hkdfSync('sha256', Buffer.concat([own, ...parts]), Buffer.alloc(0), 'annals/snapshot', own.length),
      ),
    );
  };
  const sealed = async (given: Snapshot): Promise<Sealed | undefined> => {
    if (given.persons.length > PERSONS_MAX || weigh(given.state) > STATE_BYTES_MAX) return undefined;
    const snapshot = { ...given, persons: given.persons.toSorted((one, other) => one - other) };
    const key = await keyOf(snapshot.persons);
    return (
      key && {
        ...snapshot,
        sealed: seal(key, Buffer.from(JSON.stringify(snapshot.state)), boundTo(snapshot)),
      }
    );
  };
  return {
    async find(stream, fold, upTo) {
      const row = await selectSnapshot(pool, stream, { ...fold, upTo });
      if (row === undefined) return undefined;
      const key = await keyOf(row.persons);
      const found = key && opened(key, row, boundTo(row));
      if (found === undefined) await deleteSnapshots(pool, stream, fold);
      return found;
    },
    async save(snapshots) {
      const [first] = snapshots;
      if (first === undefined) return;
      try {
        const rows = await Promise.all(snapshots.map(sealed));
        await saveSnapshots(
          pool,
          first,
          rows.filter((row) => row !== undefined),
        );
      } catch (error) {
        reportUnsaved?.(error, first.stream);
      }
    },
    discard: (stream, fold) => deleteSnapshots(pool, stream, fold),
    async erasedAmong(persons) {
      const found = persons.length === 0 ? undefined : await keys.find(persons);
      return new Set(persons.filter((person) => found?.get(person) === 'destroyed'));
    },
  };
};

export const unsavedTo =
  (log: Pick<Log, 'warn'>) =>
  (err: unknown, stream: StreamName): void =>
    log.warn({ err, stream }, 'Snapshots of a long stream could not be saved.');

type Row = Omit<Snapshot, 'state'> & { readonly sealed: Buffer };
type Sealed = Snapshot & Row;

/** Undefined if somebody changed it. */
const opened = (key: KeyObject, { sealed, ...row }: Row, boundTo: string): Snapshot | undefined => {
  try {
    return { ...row, state: JSON.parse(unseal(key, sealed, boundTo).toString('utf8')) };
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
};

type UpTo = Fold & { readonly upTo: Position | undefined };

const selectSnapshot = async (
  pool: Dependencies['pool'],
  stream: StreamName,
  { fold, definition, upTo = Number.MAX_SAFE_INTEGER as Position }: UpTo,
): Promise<Row | undefined> => {
  const { rows } = await pool.query<Row>({
    name: 'select-snapshot',
    text: `select stream, fold, version, position, event_id as event, definition, persons, sealed
      from snapshots.fold where stream = $1 and fold = $2 and definition = $3 and position <= $4 order by position desc limit 1`,
    values: [stream, fold, definition, upTo],
  });
  return rows[0];
};

/** The number of events that share a snapshot of this size. */
const eventsPer = ({ sealed }: Row): number => {
  let events = SNAPSHOT_EVERY_EVENTS;
  while (events * BYTES_PER_EVENT < sealed.length) events *= 2;
  return events;
};

const stretchOf = (row: Row): number => Math.ceil(row.version / eventsPer(row));

/**
 * A snapshot of another definition belongs to an earlier release, or to a later one that is being rolled
 * back: the last active release keeps its own. Of those that share their events, the latest stays.
 */
const saveSnapshots = async (
  pool: Dependencies['pool'],
  { stream, fold, definition }: Snapshot,
  given: readonly Sealed[],
): Promise<void> => {
  const rows = [...new Map(given.map((row) => [stretchOf(row), row])).values()];
  if (rows.length === 0) return;
  await pool.query({
    name: 'save-snapshots',
    text: `with given as (
        select version, position, event, persons::bigint[], sealed, events, (version - 1) / events as stretch
        from unnest($4::integer[], $5::bigint[], $6::uuid[], $7::text[], $8::bytea[], $9::integer[])
          as t (version, position, event, persons, sealed, events)
      ), outdated as (
        delete from snapshots.fold f where stream = $1 and fold = $2 and (
          definition <> $3 or exists (select from given g where (f.version - 1) / g.events = g.stretch and f.position < g.position))
      )
      insert into snapshots.fold (stream, fold, definition, version, position, event_id, persons, sealed)
      select $1, $2, $3, version, position, event, persons, sealed from given g
      where not exists (select from public.person_key where subject = any(g.persons) and destroyed_at is not null)
        and not exists (
          select from snapshots.fold f where f.stream = $1 and f.fold = $2 and f.definition = $3
            and (f.version - 1) / g.events = g.stretch and f.position > g.position)
      on conflict do nothing`,
    values: [
      stream,
      fold,
      definition,
      rows.map(({ version }) => version),
      rows.map(({ position }) => position),
      rows.map(({ event }) => event),
      rows.map(({ persons }) => `{${persons}}`),
      rows.map((row) => row.sealed),
      rows.map(eventsPer),
    ],
  });
};

const deleteSnapshots = async (
  pool: Dependencies['pool'],
  stream: StreamName,
  { fold }: Fold,
): Promise<void> => {
  await pool.query('delete from snapshots.fold where stream = $1 and fold = $2', [stream, fold]);
};

/**
 * Deletes snapshots of erased persons, which cannot be opened any more; those of earlier releases are in a
 * table of their own.
 */
export const deleteSnapshotsOf = async (
  pool: Pick<Pool, 'query'>,
  persons: readonly UserId[],
): Promise<void> => {
  await pool.query(
    `with former as (delete from snapshots.state where persons && $1::bigint[])
     delete from snapshots.fold where persons <> '{}' and persons && $1::bigint[]`,
    [persons],
  );
};
