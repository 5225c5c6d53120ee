import type { LogIdentity, Position, StreamName } from '#shared/brands.ts';
import type { Connection, Pool } from '#shared/database/pool.ts';
import type { Checkpoint } from '#shared/event-log/demand-checkpoint.ts';

/** Another owner has moved the checkpoint on: whatever this one was about to write is void. */
class LostCheckpoint extends Error {
  constructor() {
    super('another process manager has taken over');
    this.name = 'LostCheckpoint';
  }
}

/** Who belongs to whom, for parents still there. The answers are of the moment of the checkpoint. */
export type Membership = {
  join(parent: StreamName, child: StreamName): Promise<'joined' | 'parent_is_gone'>;
  leave(parent: StreamName, child: StreamName): Promise<void>;
  /** Marks the parent as gone and tells who is left behind, at most `limit` at a time: ask again until none is. */
  orphansOf(parent: StreamName, limit: number): Promise<readonly StreamName[]>;
};

export const membershipIn = (client: Connection): Membership => ({
  async join(parent, child) {
    const { rowCount } = await client.query('select from process_manager.deleted_parent where parent = $1', [parent]);
    if (rowCount) return 'parent_is_gone';
    await client.query('insert into process_manager.member (parent, child) values ($1, $2) on conflict do nothing', [parent, child]);
    return 'joined';
  },
  async leave(parent, child) {
    await client.query('delete from process_manager.member where parent = $1 and child = $2', [parent, child]);
  },
  async orphansOf(parent, limit) {
    await client.query('insert into process_manager.deleted_parent (parent) values ($1) on conflict do nothing', [parent]);
    const { rows } = await client.query<{ child: StreamName }>(
      `delete from process_manager.member
       where parent = $1 and child in (select child from process_manager.member where parent = $1 order by child limit $2)
       returning child`,
      [parent, limit],
    );
    return rows.map(({ child }) => child);
  },
});

export const readCheckpoint = async (pool: Pool): Promise<Checkpoint | undefined> => {
  const { rows } = await pool.query<Checkpoint>('select log, position from process_manager.checkpoint');
  return rows[0];
};

/** Moves the checkpoint, or throws where it is not where this owner left it. */
export const moveCheckpoint = async (
  client: Connection,
  log: LogIdentity,
  { from, to, epoch }: { from: Position; to: Position; epoch: number },
): Promise<void> => {
  const { rowCount } = await client.query(
    `insert into process_manager.checkpoint as held (log, position, epoch) values ($1, $3, $4)
     on conflict (only_one) do update set position = $3, epoch = $4 where held.log = $1 and held.position = $2 and held.epoch <= $4`,
    [log, from, to, epoch],
  );
  if (rowCount !== 1) throw new LostCheckpoint();
};
