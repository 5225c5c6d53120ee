// Over 200 lines, because it is one check: how the live read model is compared with a rebuilt one while it
// changes.

import type { Position, StreamName } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { PROJECTOR } from '#shared/database/read-model-schemas.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { readCheckpoint } from '#shared/follower/checkpoint.ts';
import { untilAborted } from '#shared/projection/fill.ts';
import { type Prepared, prepare } from '#shared/projection/prepared.ts';
import { underWay } from '#shared/projection/rebuild.ts';
import { whileProjectorStands } from '#shared/projection/retry.ts';
import { useReadModel } from '#shared/projection/schema.ts';
import { followOperators } from '#shared/projection/swap.ts';
import { lockVersions } from '#shared/projection/versions.ts';
import type { Tables } from '#shared/read-model/tables.ts';
import type { Report } from '#shared/rest/verification-report.ts';
import { checkSkipped } from './check-skipped.ts';
import { foldComparisons } from './compare-fold.ts';
import { BOOKKEEPING, liveComparisons } from './compare-live.ts';
import { compareKeptDigest, compareSignedDigest, readSignedDigest } from './digests.ts';
import { listExceptions, reportDamaged } from './exceptions.ts';
import type { Plan } from './plan.ts';
import type { Proving } from './proving.ts';
import { readableOf, readLeaving } from './readable.ts';
import { compareRows } from './row-findings.ts';

type Checked = Pick<Report, 'readModel' | 'parked' | 'leftOut'>;

/** Rebuilds the rows, and compares them with the live ones and with the deciders’ states. */
export const checkReadModel = async (proving: Proving, plan: Plan): Promise<Checked> => {
  const { pool, isOfReadModel } = proving.verification;
  if (!isOfReadModel) return { readModel: null, parked: NONE, leftOut: NONE };
  if (!plan.isLive) return checkPast(proving, plan.upTo);
  // A swap would put other tables under the compared names.
  await using lock = await lockVersions(pool);
  if (!lock) throw underWay();
  await comeNear(proving, plan.upTo);
  await settle(proving);
  await using snapshot = await snapshotWhereLiveIs(proving);
  return await compareAll(proving, snapshot.connection, true);
};

/** For a past position there are no live rows, but perhaps a signed digest. */
const checkPast = async (proving: Proving, upTo: Position): Promise<Checked> => {
  const { verification, schema, findings } = proving;
  const signed = await readSignedDigest(verification.pool, verification.tables, upTo);
  if (signed) {
    await proving.takeUpTo(signed.position, true);
    await compareSignedDigest(verification, schema, signed, findings);
  }
  await proving.takeUpTo(upTo, true);
  await settle(proving);
  await using snapshot = await takeSnapshot(verification.pool);
  await reportDamaged(snapshot.connection, schema, findings);
  const checked = await compareAll(proving, snapshot.connection, false);
  const signedDigest = signed ? { count: signed.count, position: signed.position } : null;
  return { ...checked, readModel: checked.readModel && { ...checked.readModel, signedDigest } };
};

const NONE: Report['parked'] = { total: 0, listed: [] };

/** Few enough for the live projector to wait. */
const FEW = 1_000;
const PASSES_MAX = 100;

const comeNear = async (proving: Proving, first: Position): Promise<void> => {
  for (let upTo = first, pass = 0; pass < PASSES_MAX; pass += 1) {
    const before = proving.passage.events();
    await proving.takeUpTo(upTo, true);
    if (pass > 0 && proving.passage.events() - before <= FEW) return;
    upTo = await liveWithinLog(proving);
  }
};

/** If the end of the log was cut off, the live read model is ahead of it. */
const liveWithinLog = async ({ verification: { pool, eventLog } }: Proving): Promise<Position> => {
  const live = (await readCheckpoint(pool, PROJECTOR))?.position ?? 0;
  return Math.min(live, await eventLog.head()) as Position;
};

/** All tables of a read model with data from the log. */
const namesOf = ({ ofStreams, views }: Tables): readonly string[] => [
  ...[...ofStreams, ...views].map(({ name }) => name),
  ...BOOKKEEPING,
];

/** Writes everything to the tables and updates planner statistics, because few events remain. */
const settle = async ({
  verification: { pool, tables, onProgress },
  schema,
  fold,
}: Proving): Promise<void> => {
  onProgress({ step: 'check', what: 'the states of aggregates' });
  await fold.save();
  const analyzed = [
    ...tables.ofStreams.map(({ name }) => name),
    ...BOOKKEEPING,
    ...tables.all.map(({ name }) => `fold_${name}`),
    'fold_departed',
  ];
  await pool.query(`analyze ${analyzed.map((table) => `${schema}.${table}`).join(', ')}`);
};

type Snapshot = AsyncDisposable & { readonly connection: Connection };

/** A snapshot of the data committed now. */
const takeSnapshot = async (pool: Pool): Promise<Snapshot> => {
  const connection = await pool.connect();
  const end = async () => {
    const broken = await connection.query('rollback').then(
      () => undefined,
      (error: Error) => error,
    );
    connection.release(broken);
  };
  try {
    // The text of a timestamp depends on the time zone.
    await connection.query(
      `begin isolation level repeatable read, read only; set local timezone = 'UTC'; select 1`,
    );
  } catch (error) {
    await end();
    throw error;
  }
  return { connection, [Symbol.asyncDispose]: end };
};

/**
 * While the projector is stopped, the rebuilt rows are brought to the position of the live ones, and a
 * snapshot of both is taken; then the projector continues.
 */
const snapshotWhereLiveIs = (proving: Proving): Promise<Snapshot> => {
  const { verification, schema, fold } = proving;
  const { pool, eventLog, codec, tables } = verification;
  return whileProjectorStands(verification, async () => {
    const upTo = await liveWithinLog(proving);
    await proving.takeUpTo(upTo, true);
    await proving.reloadSkipped();
    // In a transaction of its own, because the snapshot must see its result.
    const streams = await inTransaction(pool, async (connection) => {
      await useReadModel(connection, schema);
      return followOperators(
        connection,
        { eventLog, codec, tables },
        { version: { schema }, upTo, since: proving.since },
      );
    });
    await fold.retake(preparedOf(proving, streams, upTo), new Set(streams));
    await fold.save();
    return takeSnapshot(pool);
  });
};

async function* preparedOf(
  { verification }: Proving,
  streams: readonly StreamName[],
  upTo: Position,
): AsyncGenerator<Prepared> {
  const { eventLog } = verification;
  for (const stream of new Set(streams)) {
    for await (const page of eventLog.read(stream))
      yield await prepare(
        verification,
        page.filter(({ position }) => position <= upTo),
      );
  }
}

const compareAll = async (
  proving: Proving,
  connection: Connection,
  isComparedWithLive: boolean,
): Promise<Checked> => {
  const { verification, schema, findings, passage } = proving;
  const { eventLog, tables, showPersonal, onProgress } = verification;
  const context = { eventLog, tables, showPersonal, findings, upTo: passage.position() };
  const live = isComparedWithLive ? await liveComparisons(connection, tables, schema) : [];
  const comparisons = [
    ...live.map((comparison) => ({
      against: 'row' as const,
      comparison,
      what: `${comparison.table} with those in use`,
    })),
    ...foldComparisons(tables, schema).map((comparison) => ({
      against: 'fold' as const,
      comparison,
      what: `${comparison.table} with the deciders`,
    })),
  ];
  const leaving = await readLeaving(connection, proving);
  for (const { against, comparison, what } of comparisons) {
    onProgress({ step: 'check', what });
    await untilAborted(verification, connection, () =>
      compareRows(connection, against, readableOf(tables, comparison, leaving), context),
    );
  }
  onProgress({ step: 'check', what: 'events skipped by operators' });
  await checkSkipped(proving);
  if (isComparedWithLive) {
    onProgress({ step: 'check', what: 'the stored digest' });
    await untilAborted(verification, connection, () =>
      compareKeptDigest(connection, tables, schema, findings),
    );
  }
  return {
    readModel: {
      position: passage.position(),
      rows: await countRows(connection, tables, schema),
      isComparedWithLive,
      signedDigest: null,
    },
    ...(await listExceptions(connection, schema, passage.position())),
  };
};

const countRows = async (
  connection: Connection,
  tables: Tables,
  schema: string,
): Promise<Readonly<Record<string, number>>> => {
  const counts = namesOf(tables).map((table) => `(select count(*) from ${schema}.${table}) as ${table}`);
  const { rows } = await connection.query<Record<string, number>>(`select ${counts.join(', ')}`);
  return rows[0] ?? {};
};
