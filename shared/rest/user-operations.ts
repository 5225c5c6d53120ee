import * as z from 'zod';
import { atOfList, ItemAt } from '#kernel/base/rest/at.ts';
import { PAGE, searchOfUsers, sortBy } from '#kernel/base/rest/lists.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { itemSchema } from '#kernel/rest/schemas.ts';

const Users = z.strictObject({
  ...PAGE,
  sort: sortBy('-createdAt', 'createdAt'),
  q: searchOfUsers.optional(),
  at: atOfList,
});

/**
 * The reads of users, whose fields and readers the domain declares.
 */
export const userReadsOf = (domain: Domain) => {
  const { user } = domain.kinds;
  if (user === undefined) throw new Error(`${domain.name} has no users`);
  return {
    listUsers: {
      method: 'GET',
      path: '/users',
      role: 'query',
      summary: 'The users',
      right: 'user.read',
      query: Users,
      answer: {
        status: 200,
        description: 'A page of users.',
        kind: 'list',
        get schema() {
          return itemSchema(domain, user);
        },
      },
    },
    getMe: {
      method: 'GET',
      path: '/me',
      role: 'query',
      summary: 'Yourself',
      right: 'user.read_private',
      refusals: ['user_not_found', 'parked'],
      answer: {
        status: 200,
        description: 'The user that the token stands for.',
        kind: 'item',
        get schema() {
          return itemSchema(domain, user);
        },
      },
    },
    getUser: {
      path: '/users/{userId}',
      method: 'GET',
      role: 'query',
      summary: 'A user',
      right: 'user.read',
      query: ItemAt,
      answer: {
        status: 200,
        description: 'The user.',
        kind: 'item',
        get schema() {
          return itemSchema(domain, user);
        },
      },
    },
  } as const satisfies Record<string, RestOperation>;
};
