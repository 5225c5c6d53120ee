import { domain } from '#kernel/declare/domain.ts';

/** The roles of publishing and its users, with which its aggregates are declared. */
export const { aggregate, view, user, name, roles, signUp } = domain({
  name: 'publishing',
  roles: ['reader', 'author'],
  signUp: 'author',
  means: { reader: 'Reads, and comments.', author: 'Writes articles besides.' },
});
