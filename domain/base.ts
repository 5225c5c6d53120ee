import { domain } from '#kernel/declare/domain.ts';

/** The roles and users of the publishing domain, and the functions that declare its aggregates and views. */
export const { aggregate, view, user, name, roles, signUp } = domain({
  name: 'publishing',
  roles: { reader: 'Reads, and comments.', author: 'Also writes articles.' },
  signUp: 'author',
  // Everybody sees who wrote something.
  user: { read: { anyone: true } },
});
