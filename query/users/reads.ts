import type { Domain } from '#kernel/registry/registry.ts';
import { type Caller, may } from '#shared/policy.ts';
import { pathId } from '#shared/rest/path-id.ts';
import type { ItemAnswer } from '#shared/rest/reads/answer.ts';
import { readArticleList } from '../articles/reads.ts';
import { readList } from '../lists/list.ts';
import type { Order } from '../lists/walk.ts';
import type { Reads } from '../read-routes.ts';
import { poolFor, type ReadConnections } from '../searches.ts';
import type { FindUser } from './find-user.ts';
import { representUser, type UserRow, userResource } from './representation.ts';
import { listUsers } from './statements.ts';

type UserReads = Reads<'listUsers' | 'getMe' | 'getUser' | 'listArticlesOfUser'>;

export const userReads = ({
  domain,
  pool,
  searches,
  findUser,
}: ReadConnections & { readonly domain: Domain; readonly findUser: FindUser }): UserReads => ({
  listUsers: ({ caller }, asked) =>
    readList({
      path: '/users',
      asked,
      order: ORDERS[asked.sort ?? '-createdAt'],
      read: (walk) => listUsers(pool, walk),
      represent: (row) => representUser(row, caller),
      create: may(caller, 'user.register', {}) ? { href: '/users', method: 'POST' } : undefined,
    }),

  async getMe({ caller }) {
    return answerUser(await findUser(caller.kind === 'user' ? caller.userId : undefined), caller);
  },

  async getUser({ caller, id }) {
    return answerUser(await findUser(pathId(id)), caller);
  },

  async listArticlesOfUser({ caller, id }, asked) {
    const author = await findUser(pathId(id));
    const connections = { domain, pool: await poolFor({ pool, searches }, asked.q) };
    return readArticleList(connections, caller, { path: `/users/${author.id}/articles`, asked, authorId: author.id });
  },
});

const answerUser = (user: UserRow, caller: Caller): ItemAnswer => ({
  kind: 'item',
  version: may(caller, 'user.read_private', userResource(user)) ? user.version : undefined,
  item: representUser(user, caller),
});

const ORDERS = {
  '-createdAt': { column: 'created_at', descending: true },
  createdAt: { column: 'created_at', descending: false },
} as const satisfies Record<string, Order>;
