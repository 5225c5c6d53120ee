import { domain } from 'annals';

/** The roles of users; `admin` always exists. A person who signs up is a member. */
export const base = domain({
  name: 'my-app',
  roles: ['member'],
  // Members see each other’s names. Without this line, users are private.
  user: { read: { signedIn: true } },
});
export const { aggregate, user } = base;
