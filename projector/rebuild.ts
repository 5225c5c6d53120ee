import type { Position } from '#shared/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import { START } from '#shared/event-log/event-log.ts';
import { moveCheckpoint } from '#shared/follower/checkpoint.ts';
import { StartRefused } from '#shared/start-refused.ts';
import { comeNear, demandLive, read, Stopped, type Work } from './catch-up.ts';
import { readDefinition } from './definition.ts';
import { type Prepared, partOf } from './prepared.ts';
import { projectPrepared } from './project.ts';
import { useReadModel } from './service.ts';
import { swapIn } from './swap.ts';
import { beginNext, dropAside, dropNext, type Held, hold, lockVersions } from './versions.ts';

export type Rebuilt = { readonly events: number; readonly position: Position };

/**
 * Makes the read model anew from the whole log, beside the live one, and then puts it in its place; the live one stays as the
 * previous version. Until that moment nothing live is touched, and nothing but tables is written: nobody is told anything again.
 */
export const rebuild = async (work: Work): Promise<Rebuilt> => {
  const { pool, eventLog, signal } = work;
  await using lock = await lockVersions(pool);
  if (!lock) throw underWay();
  const upTo = await demandLive(work);
  const since = new Date(Date.now() - CLOCKS_DIFFER_MS);
  await demandAsideGone(pool);
  const next = await beginNext(pool, eventLog.identity);
  try {
    const events = await fill(work, next, upTo);
    await addIndexes(work, next);
    let late = 0;
    const onProgress: Work['onProgress'] = (progress) => {
      if (progress.step === 'events') late = progress.events;
      work.onProgress(progress.step === 'events' ? { ...progress, events: events + progress.events, from: START } : progress);
    };
    await comeNear({ ...work, onProgress }, next, upTo);
    const position = await swapIn(work, next, since);
    // Where somebody still reads it, the next rebuild drops it.
    await dropAside(pool);
    return { events: events + late, position };
  } catch (error) {
    await dropNext(pool, next).catch(() => {});
    throw signal.aborted ? new Stopped() : error;
  }
};

export const underWay = (): StartRefused =>
  new StartRefused('A rebuild or a rollback of the read model is under way already: let it come to its end, or stop it.');

/** The version before the previous one takes up the room that a swap needs. */
export const demandAsideGone = async (pool: Pool): Promise<void> => {
  if (await dropAside(pool)) return;
  throw new StartRefused('An earlier version of the read model is still being read: try again when that query is over.');
};

/** The server's clock, which dates what operators do, may be behind ours. */
const CLOCKS_DIFFER_MS = 60_000;

/** Takes in the log up to a position. */
const fill = async (work: Work, next: Held, upTo: Position): Promise<number> => {
  let [events, position] = [0, START];
  for await (const { prepared, last, count } of read(work, { after: START, upTo })) {
    // Each in a transaction of its own, on a core of its own: what is unfinished is begun anew.
    const written = await Promise.allSettled([
      write(work.pool, next, partOf(prepared, isOfArticle)),
      write(
        work.pool,
        next,
        partOf(prepared, (event) => !isOfArticle(event)),
      ),
    ]);
    for (const outcome of written) if (outcome.status === 'rejected') throw outcome.reason;
    await inBackground(work.pool, (connection) => moveCheckpoint(connection, next.follower, { ...next, from: position, to: last }));
    position = last;
    events += count;
    work.onProgress({ step: 'events', events, position, from: START, upTo });
  }
  return events;
};

const isOfArticle = ({ stream }: { readonly stream: string }): boolean => stream.startsWith('article-');

const write = (pool: Pool, next: Held, prepared: Prepared): Promise<unknown> =>
  inBackground(pool, async (connection) => {
    await hold(connection, next, 'share');
    await useReadModel(connection, next.schema);
    await projectPrepared(connection, prepared);
  });

/** Nobody waits for the disk: the swap does, for everything before it. */
const inBackground = (pool: Pool, work: (connection: Connection) => Promise<unknown>): Promise<unknown> =>
  inTransaction(pool, async (connection) => {
    await connection.query('set local synchronous_commit = off');
    return work(connection);
  });

const INDEX_MEMORY = '128MB';

/** And what the planner knows of the tables. */
const addIndexes = async (work: Work, next: Held): Promise<void> => {
  const { indexes } = await readDefinition();
  const statements = [...indexes, 'analyze users, articles, comments, webhooks'];
  for (const [done, statement] of statements.entries()) {
    work.onProgress({ step: 'indexes', done, of: statements.length });
    await inBackground(work.pool, (connection) =>
      untilAborted(work, connection, async () => {
        await hold(connection, next, 'share');
        await connection.query(`set local maintenance_work_mem = '${INDEX_MEMORY}'`);
        await useReadModel(connection, next.schema);
        await connection.query(statement);
      }),
    );
  }
};

/** A statement that takes long is cancelled on the server when the user has had enough. */
const untilAborted = async ({ pool, signal }: Work, connection: Connection, work: () => Promise<void>): Promise<void> => {
  const { rows } = await connection.query<{ pid: number }>('select pg_backend_pid() as pid');
  const cancel = () => void pool.query('select pg_cancel_backend($1)', [rows[0]?.pid]).catch(() => {});
  if (signal.aborted) throw new Stopped();
  signal.addEventListener('abort', cancel);
  try {
    await work();
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};
