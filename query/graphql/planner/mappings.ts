import { commentMapping } from './comments.ts';
import type { Mapping, Which } from './mapping.ts';
import { matchingPosts, postMapping } from './posts.ts';
import { type Readable, viewerId } from './readable.ts';
import { sql } from './sql.ts';
import { isPresent, userMapping } from './users.ts';
import { WEBHOOK } from './webhooks.ts';

/** Reads the one thing that has the id of its argument; such reads of many requests are made together. */
export const BY_ID = 'by id';

export type Mappings = {
  /** Every object type that has rows. */
  readonly types: Readonly<Record<string, Mapping>>;
  /** The fields of `Query`. */
  readonly query: Readonly<Record<string, Which | typeof BY_ID>>;
};

export const mappingsOf = (readable: Readable): Mappings => {
  const user = userMapping(readable);
  return {
    types: { User: user, Post: postMapping(readable), Comment: commentMapping(readable), Webhook: WEBHOOK },
    query: {
      node: BY_ID,
      user: BY_ID,
      post: BY_ID,
      comment: BY_ID,
      me: (row) => [sql`${row}.id = ${viewerId} and ${isPresent(row)}`],
      users: (row) => [user.isReadable(row)],
      usersConnection: (row) => [user.isReadable(row)],
      posts: (post, _query, args) => matchingPosts(readable, post, args),
      postsConnection: (post, _query, args) => matchingPosts(readable, post, args),
    },
  };
};
