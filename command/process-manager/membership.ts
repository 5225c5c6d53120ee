import type { StreamName } from '#shared/brands.ts';
import type { Connection } from '#shared/database/pool.ts';

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
