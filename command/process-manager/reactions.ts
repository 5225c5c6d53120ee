import type { Following } from '#kernel/decide/reactions.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Position } from '#shared/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import { inTransaction } from '#shared/database/transaction.ts';
import type { EventLog, RecordedEvent } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { migrateFollowers, readCheckpoint } from '#shared/follower/checkpoint.ts';
import { type FollowerOptions, startFollowing } from '#shared/follower/follower.ts';
import { type Happened, notePage, pagesOf, type ReactionPage } from './fan-out.ts';
import { meaningOf, noteReactions } from './note-reactions.ts';

/** The follower's name. */
const REACTIONS = 'reactions';

type Dependencies = Pick<FollowerOptions, 'pool' | 'eventLog' | 'log' | 'metrics' | 'committed'> & {
  readonly domain: Domain;
  readonly following: Following;
};

/** Has what is known and to be done be that of this declaration; nothing if it declares no reaction but ends, and no timer. */
export const declareReactions = async (pool: Pool, eventLog: EventLog, following: Following | undefined): Promise<void> => {
  await migrateFollowers(pool);
  await (following === undefined ? forget(pool) : beginWith(pool, eventLog, following));
};

/** Follows the log and notes what is to be done because of it. */
export const startReactions = (dependencies: Dependencies): Promise<AsyncDisposable> => {
  const { domain, following, pool, eventLog, log, metrics, committed } = dependencies;
  const catalogue = catalogueOf(domain);
  const tellDamaged = (err: unknown, { id, type, stream, version, position }: RecordedEvent): void =>
    log.error({ err, event: { id, type, stream, version, position } }, 'The process manager cannot read an event and passes it over.');
  const happened = (event: RecordedEvent): Happened | undefined => {
    const { stream, type, position } = event;
    const references = following.reactions.get(type) ?? [];
    const meaning = references.length > 0 ? meaningOf({ following, catalogue }, event, () => {}) : undefined;
    return meaning && { parent: stream, type, position, references, cause: meaning.cause, isEnd: following.lastingEnds.has(type) };
  };
  return startFollowing<ReactionPage>({
    ...{ name: REACTIONS, pool, eventLog, log, metrics },
    ...(committed && { committed }),
    follow: (after, signal, event) => pagesOf({ pool, eventLog, happened }, { after, signal, event }),
    async write(page, connection) {
      const after = await actsAfter(connection, following);
      if ('before' in page) await notePage(connection, page.before);
      else await noteReactions(connection, { following, after, catalogue }, page.events, tellDamaged);
    },
  });
};

/**
 * What is known by another declaration is forgotten, and made anew of the log from its beginning; what followed by it stays. Nothing new
 * follows from what was before.
 */
const beginWith = async (pool: Pool, eventLog: EventLog, { fingerprint }: Following): Promise<void> => {
  const head = await eventLog.head();
  await inTransaction(pool, async (connection) => {
    await connection.query('lock table process_manager.reacting');
    const { rows } = await connection.query<{ fingerprint: string }>('select fingerprint from process_manager.reacting');
    if (rows[0]?.fingerprint === fingerprint) return;
    await connection.query(
      `insert into process_manager.reacting (fingerprint, after_position) values ($1, $2)
       on conflict (only_one) do update set fingerprint = $1, after_position = greatest(reacting.after_position, $2)`,
      [fingerprint, (await readCheckpoint(connection, REACTIONS))?.position ?? head],
    );
    await connection.query(
      'truncate process_manager.reference, process_manager.ended, process_manager.timer, process_manager.timer_mark, process_manager.fan_out',
    );
    // A process that goes by the other declaration finds that it is not where it left it.
    await connection.query(`update public.follower_checkpoint set position = 0, event = null, event_position = null where follower = $1`, [
      REACTIONS,
    ]);
  });
};

/** Whatever is declared again later begins anew: nothing follows from what happens meanwhile. */
const forget = async (pool: Pool): Promise<void> => {
  await inTransaction(pool, async (connection) => {
    const { rowCount } = await connection.query('delete from process_manager.reacting');
    if (rowCount === 0) return;
    await connection.query('delete from process_manager.task where skipped_at is null');
    await connection.query('delete from public.follower_checkpoint where follower = $1', [REACTIONS]);
  });
};

const actsAfter = async (connection: Connection, { fingerprint }: Following): Promise<Position> => {
  const { rows } = await connection.query<{ after: Position }>(
    'select after_position as after from process_manager.reacting where fingerprint = $1 for share',
    [fingerprint],
  );
  if (rows[0] === undefined) throw new Error('another release, whose domain declares other reactions, has taken over');
  return rows[0].after;
};
