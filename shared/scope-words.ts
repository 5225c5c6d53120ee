import { capital, spaced } from '#kernel/base/names.ts';
import { operationOf } from '#kernel/conditions/rights.ts';
import type { CommandInfo, Domain, Kind } from '#kernel/registry/registry.ts';
import { policyOf } from './policy.ts';

/**
 * The meaning of a scope: in the description of the interface, and on the consent page, as “It asks to …”.
 */
type ScopeWords = { readonly described: string; readonly asked: string };

const KERNEL: Readonly<Record<string, ScopeWords>> = {
  'read:users': { described: 'Read profiles', asked: 'See profiles, and your own e-mail address' },
  'write:users': {
    described: 'Change and delete profiles',
    asked: 'Change your profile, and delete your account',
  },
  'manage:webhooks': {
    described: 'Manage webhooks',
    asked: 'Send changes of the data that is allowed here to other servers, by webhooks',
  },
  'read:events': {
    described: 'Read events and histories',
    asked: 'Follow changes, and read the history',
  },
  'read:schema': {
    described: 'Read the GraphQL schema if INTROSPECTION is off',
    asked: 'Read the schema of the GraphQL interface',
  },
  'manage:clients': { described: 'Manage applications', asked: 'Register, change and delete applications' },
  'manage:tokens': {
    described: 'Manage your personal access tokens',
    asked: 'See, create and revoke your personal access tokens',
  },
  'manage:accounts': {
    described:
      'Manage accounts: invitations, sessions, applications and tokens of others, and who may sign in',
    asked:
      'Invite people, end the sessions, applications and tokens of others, and keep others from signing in',
  },
  'manage:operations': {
    described: 'Operate the installation',
    asked: 'Retry or skip parked items, and start verifications',
  },
};

/** By scope, in the order of the policy. The domain’s scopes are described by their commands. */
export const scopeWordsOf = (domain: Domain): ReadonlyMap<string, ScopeWords> =>
  new Map(policyOf(domain).scopes.map((scope) => [scope, KERNEL[scope] ?? derivedWords(domain, scope)]));

const derivedWords = (domain: Domain, scope: string): ScopeWords => {
  const { rights } = policyOf(domain);
  const kind = [...Object.values(domain.kinds), ...domain.views.map(({ asked }) => asked)].find(({ path }) =>
    scope.endsWith(`:${path}`),
  );
  if (kind === undefined) throw new Error(`The scope ${scope} belongs to no aggregate or view`);
  const commands = Object.values(kind.commands).filter(
    ({ name, internal }) => !internal && rights.get(operationOf(kind, name))?.scope === scope,
  );
  const isOwned = kind.owner !== undefined;
  if (commands.length === 0) {
    const described = `Read ${spaced(kind.plural)}`;
    return {
      described,
      asked:
        isOwned && hasHidden(domain, kind)
          ? `${described}, including yours that others cannot see`
          : described,
    };
  }
  const described = capital(
    `${new Intl.ListFormat('en-GB').format([...new Set(commands.map(verbOf))])} ${spaced(kind.plural)}`,
  );
  return { described, asked: isOwned ? `${described} of yours` : described };
};

/** Whether owners can read more of them than others. */
const hasHidden = (domain: Domain, kind: Kind): boolean =>
  policyOf(domain)
    .rights.get(operationOf(kind, 'read'))
    ?.alternatives.some(({ op }) => op === 'caller') ?? false;

const verbOf = (command: CommandInfo): string => {
  if (command.list !== undefined) return 'change';
  switch (command.kind) {
    case 'create':
      return 'write';
    case 'edit':
      return 'change';
    case 'end':
      return 'delete';
    default:
      return spaced(command.name);
  }
};
