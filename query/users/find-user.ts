import { coalesce } from '#shared/database/coalesce.ts';
import type { Pool } from '#shared/database/pool.ts';
import { streamName } from '#shared/events/streams.ts';
import { Rejection } from '#shared/rejection.ts';
import { refuseParked } from '../parked.ts';
import type { UserRow } from './representation.ts';
import { findUsers } from './statements.ts';

/** Finds a user by id; no id is nobody's. */
export type FindUser = (id: number | undefined) => Promise<UserRow>;

export const createUserFinder = (pool: Pool): FindUser => {
  const find = coalesce<number, UserRow>((ids) => findUsers(pool, ids));
  return async (id) => {
    const user = id === undefined ? undefined : await find(id);
    if (user !== undefined) return user;
    if (id !== undefined) await refuseParked(pool, streamName('user', id));
    throw new Rejection('user_not_found');
  };
};
