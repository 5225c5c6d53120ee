import { SCOPES, type Scope } from '#shared/policy.ts';

/** What people are told that a scope allows: completes “It asks to …”. The rest is decided by their role and by what is theirs. */
const WORDS: Readonly<Record<Scope | IdentityScope, string>> = {
  'read:users': 'See profiles, and your own e-mail address',
  'write:users': 'Change your profile, and delete your account',
  'read:articles': 'Read articles, your drafts too',
  'write:articles': 'Write, change and delete articles of yours',
  'publish:articles': 'Publish articles of yours, and take them back',
  'read:comments': 'Read comments',
  'write:comments': 'Comment in your name, and change and delete your comments',
  'manage:webhooks': 'Have changes of what else is allowed here sent to other servers by webhooks',
  'read:events': 'Follow what changes, and look at the history',
  'read:schema': 'See how the interface for programs is built',
  'manage:clients': 'Register, change and delete applications',
  'manage:operations': 'Take in again or leave out what stands still, and have the log verified',
  openid: 'Know that it is you',
  profile: 'See your name',
  email: 'See your e-mail address',
  offline_access: 'Stay connected when you are not using it',
};

type IdentityScope = 'openid' | 'profile' | 'email' | 'offline_access';

export const wordsOf = (scope: string): string | undefined => (Object.hasOwn(WORDS, scope) ? WORDS[scope as Scope] : undefined);

/** In the order of the table, whatever the order in which they were asked for. */
export const inOrder = (scopes: Iterable<string>): readonly string[] => {
  const order: readonly string[] = [...Object.keys(WORDS).filter((name) => !SCOPES.some((scope) => scope === name)), ...SCOPES];
  const rank = (scope: string) => (order.includes(scope) ? order.indexOf(scope) : order.length);
  return [...new Set(scopes)].toSorted((one, other) => rank(one) - rank(other));
};
