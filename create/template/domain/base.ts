import { domain } from 'annals';

/** The roles of users; `admin` always exists. A person who signs up is a member. */
export const base = domain({ name: 'my-app', roles: ['member'] });
export const { aggregate, user } = base;
