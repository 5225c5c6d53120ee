import { randomUUID } from 'node:crypto';
import { inTransaction } from '#shared/database/transaction.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { digestOf } from '#shared/projection/digest.ts';
import { project } from '#shared/projection/project.ts';
import { createReadModel, useReadModel } from '#shared/projection/schema.ts';
import type { CommandSide } from './command-side.ts';

/** An event of a log that no decider made; `isCut` ends a batch. */
type Happened = {
  readonly type: string;
  readonly stream: string;
  readonly data: object;
  readonly at: string;
  readonly isCut: boolean;
};

/** Projects events one by one, and the same in batches; returns the digests of both read models. */
export const createBatchComparison = async (side: CommandSide) => {
  const { pool, tables } = side;
  const projected = async (schema: string, batches: readonly (readonly RecordedEvent[])[]) => {
    const names = [...tables.ofStreams, ...tables.views].map(({ name }) => `${schema}.${name}`);
    await pool.query(`truncate ${[...names, `${schema}.removed`, `${schema}.parked`].join()}`);
    for (const batch of batches)
      await inTransaction(pool, async (connection) => {
        await useReadModel(connection, schema);
        await project(connection, side, batch);
      });
    return digestOf(pool, schema);
  };
  for (const schema of ['singly', 'in_batches']) await createReadModel(pool, tables, schema);
  return async (happened: readonly Happened[]) => {
    const events = recordedOf(happened);
    const cuts = happened.flatMap(({ isCut }, index) => (isCut ? [index + 1] : []));
    const batches = [0, ...cuts]
      .map((from, index) => events.slice(from, cuts[index]))
      .filter(({ length }) => length > 0);
    return {
      singly: await projected(
        'singly',
        events.map((event) => [event]),
      ),
      inBatches: await projected('in_batches', batches),
    };
  };
};

const recordedOf = (happened: readonly Happened[]): readonly RecordedEvent[] => {
  const versions = new Map<string, number>();
  const metadata = { version: 1, actor: 'system:test', client: null, request: 'r' };
  return happened.map(({ type, stream, data, at }, index) => {
    const version = (versions.get(stream) ?? 0) + 1;
    versions.set(stream, version);
    return {
      ...{ id: randomUUID(), type, stream, data, version, position: index + 1 },
      metadata: { ...metadata, at, $correlationId: 'c', $causationId: null },
    } as unknown as RecordedEvent;
  });
};
