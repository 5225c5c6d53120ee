import { domain } from 'annals';

/** The roles that users can have; `admin` is always there. Who signs up is a member. */
export const base = domain({ name: 'my-app', roles: ['member'] });
export const { aggregate, user } = base;
