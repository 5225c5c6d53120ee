import type { DecodedEvent } from '#shared/events/codec.ts';
import { type Change, sealOf, type Table } from './change.ts';

type Column = 'name' | 'email' | 'seal' | 'role' | 'created_at' | 'updated_at' | 'deleted_at';

export const USERS: Table<Column> = {
  kind: 'user',
  person: 'id',
  name: 'users',
  parent: null,
  personal: ['name', 'email'],
  columns: {
    id: 'bigint',
    name: 'text',
    email: 'text',
    seal: 'text',
    role: 'text',
    version: 'integer',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    deleted_at: 'timestamptz',
  },
};

export type UserEvent = DecodedEvent<'user.registered' | 'user.updated' | 'user.email_abandoned' | 'user.deleted'>;

/** The row of a deleted user stays without the person, because articles name their author. */
export const projectUser = (event: UserEvent): Change<Column> => {
  const { version } = event;
  const at = event.metadata.at;
  const id = event.data.userId;
  switch (event.type) {
    case 'user.registered': {
      const { name, email, role } = event.data;
      return {
        kind: 'put',
        row: { id, name, email, seal: event.seal ?? null, role, version, created_at: at, updated_at: at, deleted_at: null },
      };
    }
    case 'user.updated': {
      const { userId: _, ...changed } = event.data;
      return { kind: 'patch', row: { id, ...changed, ...sealOf(event), version, updated_at: at } };
    }
    // Says nothing of the user, but counts as a version, which writers compare.
    case 'user.email_abandoned':
      return { kind: 'patch', row: { id, version } };
    case 'user.deleted':
      return { kind: 'patch', row: { id, name: null, email: null, version, updated_at: at, deleted_at: at } };
  }
};
