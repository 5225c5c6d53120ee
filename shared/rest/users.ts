import * as z from 'zod';
import type { Domain } from '#kernel/registry/registry.ts';
import { itemSchema } from '#kernel/rest/schemas.ts';
import { atOfList, ItemAt } from './at.ts';
import { PAGE, sortBy } from './lists.ts';
import type { RestOperation } from './operation.ts';

const Users = z.strictObject({ ...PAGE, sort: sortBy('-createdAt', 'createdAt'), at: atOfList });

/** The reads of users, whose fields are those of the domain; everybody sees the name, the rest only who has the right to it. */
export const userReadsOf = (domain: Domain) => {
  if (domain.kinds.user === undefined) throw new Error(`${domain.name} has no users`);
  const schema = itemSchema(domain, domain.kinds.user);
  return {
    listUsers: {
      method: 'GET',
      path: '/users',
      role: 'query',
      summary: 'The users',
      right: 'user.read',
      query: Users,
      answer: { status: 200, description: 'A page of users.', kind: 'list', schema },
    },
    getMe: {
      method: 'GET',
      path: '/me',
      role: 'query',
      summary: 'Yourself',
      right: 'user.read_private',
      answer: { status: 200, description: 'The user that the token stands for.', kind: 'item', schema },
    },
    getUser: {
      path: '/users/{userId}',
      method: 'GET',
      role: 'query',
      summary: 'A user',
      right: 'user.read',
      query: ItemAt,
      answer: { status: 200, description: 'The user.', kind: 'item', schema },
    },
  } as const satisfies Record<string, RestOperation>;
};
