import { COMMENT } from './comments.ts';
import type { Mapping, Which } from './mapping.ts';
import { matchingPosts, POST } from './posts.ts';
import { sql } from './sql.ts';
import { isPresent, USER } from './users.ts';
import { viewerId } from './viewer.ts';
import { WEBHOOK } from './webhooks.ts';

/** Every object type that has rows. */
export const MAPPINGS: Readonly<Record<string, Mapping>> = { User: USER, Post: POST, Comment: COMMENT, Webhook: WEBHOOK };

/** Reads the one thing that has the id of its argument; such reads of many requests are made together. */
export const BY_ID = 'by id';

/** The fields of `Query`. */
export const QUERY: Readonly<Record<string, Which | typeof BY_ID>> = {
  node: BY_ID,
  user: BY_ID,
  post: BY_ID,
  comment: BY_ID,
  me: (user) => [sql`${user}.id = ${viewerId} and ${isPresent(user)}`],
  users: (user) => [USER.isReadable(user)],
  usersConnection: (user) => [USER.isReadable(user)],
  posts: (post, _query, args) => matchingPosts(post, args),
  postsConnection: (post, _query, args) => matchingPosts(post, args),
};
