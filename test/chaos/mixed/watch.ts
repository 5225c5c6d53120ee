import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from '#shared/database/pool.ts';
import type { CheckpointMove, MemorySample } from './history.ts';
import type { Supervised } from './supervised.ts';

/**
 * Records each checkpoint, and from now on each move of one, in the same transaction, with the checkpoint of
 * the read model.
 */
export const recordMoves = (pool: Pool): Promise<unknown> =>
  pool.query(`
    lock table public.follower_checkpoint in share row exclusive mode;
    create table public.checkpoint_move (n bigint generated always as identity, follower text, came_from bigint, went_to bigint, projected bigint);
    insert into public.checkpoint_move (follower, went_to, projected)
      select follower, position, (select position from public.follower_checkpoint where follower = 'projector') from public.follower_checkpoint;
    create function public.record_move() returns trigger language plpgsql as $$
      begin
        insert into public.checkpoint_move (follower, came_from, went_to, projected) values (
          new.follower, case when tg_op = 'UPDATE' then old.position end, new.position,
          (select position from public.follower_checkpoint where follower = 'projector'));
        return null;
      end $$;
    create trigger record_move after insert or update of position on public.follower_checkpoint for each row execute function public.record_move()`);

/** Before everything is verified: a trigger on our tables that is none of ours is a finding. */
export const stopRecording = (pool: Pool): Promise<unknown> =>
  pool.query('drop function if exists public.record_move() cascade');

export const readMoves = async (pool: Pool): Promise<readonly CheckpointMove[]> => {
  const { rows } = await pool.query<CheckpointMove>(
    `select follower, came_from::float8 as "from", went_to::float8 as "to", projected::float8 as projected from public.checkpoint_move order by n`,
  );
  return rows;
};

const EVERY_MS = 1_000;

/** The memory of each process, every second, until it is disposed. */
export const watchMemory = (
  processes: readonly Supervised[],
): AsyncDisposable & { readonly samples: readonly MemorySample[] } => {
  const leaving = new AbortController();
  const samples: MemorySample[] = [];
  const watch = async (): Promise<void> => {
    while (!leaving.signal.aborted) {
      for (const { name, memory } of processes) {
        const bytes = await memory();
        if (bytes !== undefined) samples.push({ name, atMs: Date.now(), bytes });
      }
      await delay(EVERY_MS, undefined, { signal: leaving.signal }).catch(() => {});
    }
  };
  const watching = watch();
  return {
    samples,
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await watching;
    },
  };
};
