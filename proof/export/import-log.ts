import type { Position, UserId } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { MasterKeyMismatch } from '#shared/keys/key-store.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { createKeyWrap } from '#shared/keys/postgres/key-wrap.ts';
import { openPostgresKeyStore } from '#shared/keys/postgres/postgres-key-store.ts';
import { selectWithoutKey } from '#shared/keys/postgres/statements.ts';
import { type Progress, Stopped } from '#shared/projection/catch-up.ts';
import type { ChainState } from '../chain/chain-at.ts';
import type { Canonical } from '../stored/canonical.ts';
import type { Order } from './append-in-order.ts';
import { type Filled, fillLog, Present } from './fill-log.ts';
import { storePersons } from './persons.ts';
import { type OpenedExport, readEvents, readPersons } from './read-export.ts';

type Importing = {
  readonly pool: Pool;
  readonly target: EventLog;
  readonly order: Order;
  readonly masterKey: MasterKey;
  /** Import persons without a key, in the export or here, as erased. */
  readonly withoutKeys: boolean;
  readonly signal: AbortSignal;
  /** Withholds the log up to this position from webhooks. */
  keepQuiet(upTo: Position | 'everything'): Promise<void>;
  onProgress(step: 'check' | 'import', progress: Progress): void;
};

/**
 * Imports all of an export into an empty installation, or into one that contains its start. Changes nothing
 * unless the export is intact.
 */
export const importLog = async (importing: Importing, opened: OpenedExport): Promise<Filled> => {
  const { pool, target, masterKey, signal } = importing;
  const { chain } = opened.manifest;
  const before = { count: chain.before.count, head: Buffer.from(chain.before.head, 'hex') };
  const subjects = await check(importing, opened, before);
  await demandKeys(opened, masterKey);
  await using _keys = await openPostgresKeyStore({ pool, masterKey }).catch(explainKeys);
  await storeKeys(importing, opened, subjects);
  // From the first event on, until the end is known.
  await importing.keepQuiet('everything');
  const filled = await fillLog(
    {
      ...{ target, order: importing.order, signal, before },
      onEvents: (count) => importing.onProgress('import', progressOf(opened, count)),
    },
    readEvents(opened),
  );
  if (filled.head.toString('hex') !== chain.after.head)
    throw new StartRefused(
      'The imported events differ from the export: another process writes to this log. Start again with an empty one.',
    );
  await importing.keepQuiet(await target.head());
  return filled;
};

/**
 * Reads the whole export, and returns the persons of its personal data. Refuses a log with other events
 * before anything is written: otherwise keys that the export lists as destroyed would be deleted in the
 * database of that log permanently.
 */
const check = async (
  { target, signal, onProgress }: Importing,
  opened: OpenedExport,
  before: ChainState,
): Promise<ReadonlySet<UserId>> => {
  await using present = new Present(target, await target.head());
  await present.skip(before);
  const subjects = new Set<UserId>();
  let count = 0;
  for await (const events of readEvents(opened)) {
    if (signal.aborted) throw new Stopped();
    await present.matched(events);
    for (const event of events) for (const subject of subjectsIn(event)) subjects.add(subject);
    count += events.length;
    onProgress('check', progressOf(opened, count));
  }
  await present.demandEnd();
  return subjects;
};

const progressOf = ({ manifest: { after, count: upTo } }: OpenedExport, events: number): Progress => ({
  step: 'events',
  events,
  position: events as typeof after,
  from: 0 as typeof after,
  upTo: upTo as typeof after,
});

const subjectsIn = ({ data: { personal } }: Canonical): readonly UserId[] =>
  typeof personal === 'object' &&
  personal !== null &&
  'subject' in personal &&
  Number.isSafeInteger(personal.subject)
    ? [personal.subject as UserId]
    : [];

/** Before this database is bound to a master key. */
const demandKeys = async (opened: OpenedExport, masterKey: MasterKey): Promise<void> => {
  const wrap = createKeyWrap(masterKey);
  try {
    for await (const persons of readPersons(opened))
      for (const { subject, wrapped } of persons)
        if (wrapped !== null) wrap.unwrap(subject, Buffer.from(wrapped, 'base64'));
  } catch (error) {
    explainKeys(error);
  }
};

const explainKeys = (error: unknown): never => {
  if (error instanceof MasterKeyMismatch) throw new StartRefused(`${error.message}.`, { cause: error });
  throw error;
};

/** Without its key, personal data could neither be read nor written: such a person is erased here. */
const storeKeys = async (
  { pool, withoutKeys }: Importing,
  opened: OpenedExport,
  subjects: ReadonlySet<UserId>,
): Promise<void> => {
  const without = new Set(subjects);
  for await (const persons of readPersons(opened)) for (const { subject } of persons) without.delete(subject);
  const lost = await selectWithoutKey(pool, [...without]);
  if (lost.length > 0 && !withoutKeys)
    throw new StartRefused(
      `The keys of ${lost.length} persons are neither in the export nor in this database, so their personal data could never be read here: export with --keys, or import with --without-keys, which erases these persons in this copy.`,
    );
  for await (const persons of readPersons(opened)) await storePersons(pool, persons);
  const destroyedAt = new Date().toISOString();
  await storePersons(
    pool,
    lost.map((subject) => ({ subject, wrapped: null, destroyedAt })),
  );
};
