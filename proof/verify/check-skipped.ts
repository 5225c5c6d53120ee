import type { StreamName, Version } from '#kernel/base/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { applyEvents } from '#shared/projection/apply-events.ts';
import { decodeAround } from '#shared/projection/decode.ts';
import { park, unpark } from '#shared/projection/parked.ts';
import { useReadModel } from '#shared/projection/schema.ts';
import type { Proving } from './proving.ts';

type Skip = { readonly stream: StreamName; readonly version: Version; readonly reason: string };

/**
 * Operators can skip only events that could not be applied. A skipped event that can be applied was added to
 * the list by hand, or unknown to an earlier release. Each is tried on the rebuilt rows and rolled back.
 */
export const checkSkipped = async ({ verification, schema, findings, passage }: Proving): Promise<void> => {
  const { pool, eventLog } = verification;
  // Positions in the list are not trusted, because whoever adds rows by hand can write anything.
  const { rows } = await pool.query<Skip>(
    'select stream, version, reason from public.projection_skip order by stream, version',
  );
  for (const [stream, skips] of Map.groupBy(rows, (row) => row.stream)) {
    const events: RecordedEvent[] = [];
    for await (const page of eventLog.read(stream))
      events.push(...page.filter(({ position }) => position <= passage.position()));
    for (const { version, reason } of skips) {
      const skipped = events.find((event) => event.version === version);
      if (!skipped || !verification.tables.isProjected(skipped) || (await isSealedForGood(pool, skipped)))
        continue;
      const others = new Set(skips.map((skip) => skip.version).filter((each) => each !== version));
      const upToIt = events.filter((event) => event.version <= version && !others.has(event.version));
      if (!(await isSound(verification, { schema, skipped, upToIt }))) continue;
      const { position, type } = skipped;
      findings.add({ kind: 'left_out_though_sound', stream, version, position, type, reason });
    }
  }
};

/**
 * After the key is destroyed, unreadable data reads as erased, and the original problem cannot be determined.
 */
const isSealedForGood = async (pool: Pool, { data }: RecordedEvent): Promise<boolean> => {
  const subject = (data as { personal?: { subject?: unknown } } | null)?.personal?.subject;
  if (!Number.isSafeInteger(subject)) return false;
  const { rows } = await pool.query(
    'select from public.person_key where subject = $1 and destroyed_at is not null',
    [subject],
  );
  return rows.length > 0;
};

type Trial = {
  readonly schema: string;
  readonly skipped: RecordedEvent;
  readonly upToIt: readonly RecordedEvent[];
};

const isSound = async (
  { pool, codec, tables }: Proving['verification'],
  { schema, skipped, upToIt }: Trial,
): Promise<boolean> => {
  const { decoded, damaged } = await decodeAround(codec, upToIt);
  if (damaged.some(({ version }) => version === skipped.version)) return false;
  return inTransaction(pool, async (connection: Connection) => {
    await useReadModel(connection, schema);
    await connection.query('savepoint trying');
    await unpark(connection, skipped.stream);
    const { stream, version, position, type } = skipped;
    await park(connection, tables, [{ stream, version, position, type, reason: 'tried' }]);
    const refused = await applyEvents(connection, tables, decoded);
    await connection.query('rollback to savepoint trying');
    return refused.length === 0;
  });
};
