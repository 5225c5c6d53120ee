import { readFile } from 'node:fs/promises';
import type { LogIdentity, Version } from '#kernel/base/brands.ts';
import { openEventLog } from '#process/engines/open-event-log.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { openPool } from '#shared/database/pool.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { parseMasterKey } from '#shared/keys/master-key.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { type CommandDatabase, createCommandDatabase } from './command-side.ts';
import type { StartLog } from './log-engines.ts';

/** An event as the first release stored it. */
type StoredEvent = Omit<RecordedEvent, 'recordedAt'>;

type Keys = {
  readonly masterKey: string;
  readonly log: LogIdentity;
  /** The known value encrypted with the master key. */
  readonly check: string;
  /** Wrapped, or null if destroyed. */
  readonly persons: readonly { readonly subject: number; readonly wrapped: string | null }[];
};

const FOLDER = new URL('../fixtures/first-release/', import.meta.url);
const read = (file: string): Promise<string> => readFile(new URL(file, FOLDER), 'utf8');

export const readFirstLog = async (): Promise<readonly StoredEvent[]> =>
  (await read('log.jsonl'))
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as StoredEvent]));

export const readFirstAnswers = async <Answer>(): Promise<Answer> =>
  JSON.parse(await read('answers.json')) as Answer;

/**
 * A fresh system with a part of the log that the first release has written, with the keys of its persons, and
 * nothing else.
 */
export const loadFirstRelease = async (
  events: readonly StoredEvent[],
  startLog?: StartLog,
): Promise<CommandDatabase> => {
  const keys = JSON.parse(await read('keys.json')) as Keys;
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await createCommandDatabase({ startLog, masterKey: keys.masterKey }));
  await putKeys(database, keys);
  // The log is the same, so positions keep their meaning.
  await using pool = openPool({
    url: database.settings.DATABASE_URL ?? '',
    applicationName: 'test',
    connectionsMax: 1,
  });
  const { rows } = await pool.query<{ found: boolean }>(
    `select to_regclass('event_log.identity') is not null as found`,
  );
  if (rows[0]?.found) await pool.query('update event_log.identity set id = $1', [keys.log]);
  await appendStored(database, events);
  opening.move();
  return database;
};

const putKeys = async ({ settings }: CommandDatabase, { masterKey, check, persons }: Keys): Promise<void> => {
  await using pool = openPool({
    url: settings.DATABASE_URL ?? '',
    applicationName: 'test',
    connectionsMax: 1,
  });
  await using _store = await openPostgresKeyStore({ pool, masterKey: parseMasterKey(masterKey) });
  await using _log = await openEventLog({
    url: settings.EVENT_LOG_URL ?? settings.DATABASE_URL ?? '',
    clock: REAL_TIME,
  });
  await pool.query(`update public.master_key_check set wrapped = decode($1, 'base64')`, [check]);
  await pool.query(
    `insert into public.person_key (subject, wrapped, destroyed_at)
     select subject, decode(wrapped, 'base64'), case when wrapped is null then now() end
     from json_to_recordset($1) as p (subject bigint, wrapped text)`,
    [JSON.stringify(persons)],
  );
};

/** One after the other, unchanged. */
export const appendStored = async (
  { settings }: Pick<CommandDatabase, 'settings'>,
  events: readonly StoredEvent[],
): Promise<void> => {
  await using log = await openEventLog({
    url: settings.EVENT_LOG_URL ?? settings.DATABASE_URL ?? '',
    clock: REAL_TIME,
  });
  for (const { stream, version, id, type, data, metadata } of events)
    await log.append(stream, (version - 1) as Version, [{ id, type, data, metadata }]);
};
