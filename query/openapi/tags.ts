import type { JsonObject } from '#kernel/base/json.ts';
import { capital, spaced } from '#kernel/base/names.ts';
import type { RestOperation } from '#kernel/base/rest/operation.ts';
import { isUser } from '#kernel/base/users.ts';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';

type Tag = { readonly name: string; readonly description?: string | undefined };
export type Tags = Readonly<Record<string, Tag>>;

/** By the segment of a path that names the resource. */
export const tagsOf = (domain: Domain): Tags => {
  const kinds = Object.values(domain.kinds).filter((kind) => !isUser(kind));
  const ofKinds = kinds.map(
    ({ path, plural, says = '' }) => [path, { name: capital(spaced(plural)), description: says }] as const,
  );
  const views = domain.views.map(
    ({ path, name, says = '' }) => [path, { name: capital(spaced(name)), description: says }] as const,
  );
  return { ...Object.fromEntries([...ofKinds, ...views]), ...kernelTagsOf(domain) };
};

const kernelTagsOf = (domain: Domain) => ({
  users: {
    name: 'Users',
    description: 'Everybody sees names. Only the user and administrators see the rest of a profile.',
  },
  events: {
    name: 'Events',
    description: `The event log, in pages${serves(domain, 'streams') ? ' and as a stream' : ''}.`,
  },
  webhooks: {
    name: 'Webhooks',
    description: 'Endpoints that receive changes, the state of each delivery, and replays.',
  },
  deliveries: { name: 'Webhooks' },
  inbox: {
    name: 'Inbox',
    description: 'Signed messages of other services, which become commands.',
  },
  clients: {
    name: 'Clients',
    description:
      'The applications that may request tokens. The authorization server stores them; they are not in the log.',
  },
  account: {
    name: 'Account',
    description:
      'Accounts at the authorization server: personal access tokens, sessions, applications and invitations.',
  },
  'event-types': { name: 'Events' },
  audit: { name: 'Audit', description: 'The proof of the log and the read model.' },
  operations: { name: 'Operations', description: 'System status, parked items, and operator commands.' },
  me: { name: 'Users' },
});

export const tagOf = ({ path }: RestOperation, tags: Tags): string => {
  const named = path.split('/').findLast((part) => part in tags) ?? '';
  const tag = tags[named];
  if (tag === undefined) throw new Error(`no tag of the OpenAPI document fits ${path}`);
  return tag.name;
};

/** A part that is not served has tags without operations. */
export const tagsUsedIn = (paths: JsonObject): ReadonlySet<string> =>
  new Set(
    Object.values(paths as Readonly<Record<string, Readonly<Record<string, Tagged>>>>).flatMap((path) =>
      Object.values(path).flatMap(({ tags }) => tags),
    ),
  );

type Tagged = { readonly tags: readonly string[] };
