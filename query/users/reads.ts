import type { Pool } from '#shared/database/pool.ts';
import type { Caller } from '#shared/policy.ts';
import { pathId } from '#shared/rest/path-id.ts';
import type { ItemAnswer } from '../answer.ts';
import { readArticleList } from '../articles/reads.ts';
import { readList } from '../lists/list.ts';
import type { Order } from '../lists/walk.ts';
import type { Reads } from '../read-routes.ts';
import type { FindUser } from './find-user.ts';
import { representUser, type UserRow } from './representation.ts';
import { listUsers } from './statements.ts';

export const userReads = ({
  pool,
  findUser,
}: {
  pool: Pool;
  findUser: FindUser;
}): Reads<'listUsers' | 'getMe' | 'getUser' | 'listArticlesOfUser'> => ({
  listUsers: ({ caller }, asked) =>
    readList({
      path: '/users',
      asked,
      order: ORDERS[asked.sort ?? '-createdAt'],
      read: (walk) => listUsers(pool, walk),
      represent: (row) => representUser(row, caller),
    }),

  async getMe({ caller }) {
    return answerUser(await findUser(caller.kind === 'user' ? caller.userId : undefined), caller);
  },

  async getUser({ caller, id }) {
    return answerUser(await findUser(pathId(id)), caller);
  },

  async listArticlesOfUser({ caller, id }, asked) {
    const author = await findUser(pathId(id));
    return readArticleList(pool, caller, { path: `/users/${author.id}/articles`, asked, authorId: author.id });
  },
});

const answerUser = (user: UserRow, caller: Caller): ItemAnswer => ({
  kind: 'item',
  version: user.version,
  item: representUser(user, caller),
});

const ORDERS = {
  '-createdAt': { column: 'created_at', descending: true },
  createdAt: { column: 'created_at', descending: false },
} as const satisfies Record<string, Order>;
