import type { UserId } from '#kernel/base/brands.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { email as emailField } from '#kernel/base/values.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { isRoleOfKernel } from '#kernel/registry/roles.ts';
import type { Upstream } from '#process/upstreams.ts';
import {
  type CommandGateway,
  type CommandResult,
  CommandUnavailable,
} from '#shared/command-gateway/command-gateway.ts';
import { name as nameField } from '#shared/commands/fields.ts';
import type { Pool } from '#shared/database/pool.ts';
import { confirm, isConfirmed } from '../accounts/confirmed.ts';
import type { Persons } from '../directory.ts';
import type { Identities } from '../identities/identities.ts';
import { type NotifyDependencies, notifyOfChange } from '../mail/notify-of-change.ts';
import type { Person } from '../persons/person-table.ts';
import type { UpstreamPerson } from './connection.ts';
import { roleFor, trustedEmail } from './trusted-email.ts';

export type AdmitDependencies = NotifyDependencies & {
  readonly domain: Domain;
  readonly pool: Pool;
  readonly gateway: CommandGateway;
  readonly persons: Persons;
  readonly identities: Identities;
  readonly emailHash: (email: string) => string;
};

/** The person to sign in, or the sentence for the page. */
type Admitted =
  | { readonly person: Person }
  | { readonly person?: undefined; readonly problem: string; readonly status: number };

type Asked = {
  readonly upstream: Upstream;
  readonly known: UpstreamPerson;
  readonly requestId: string;
  readonly trace?: string | undefined;
};

/** Finds the account of somebody who has signed in elsewhere; creates or links one if the settings say so. */
export const admit = async (dependencies: AdmitDependencies, asked: Asked): Promise<Admitted> => {
  const { persons, identities } = dependencies;
  const { upstream, known } = asked;
  const holder = await identities.holderOf(known);
  if (holder !== undefined) return ifActive(await persons.byId(holder));
  const email = trustedEmail(upstream, known);
  if (email === undefined || !emailField.safeParse(email).success) return notLinked(upstream);
  const held = await persons.byEmail(email);
  // The account may be the one of this subject, whose creation a crash interrupted before the link.
  if (held !== undefined && !(await identities.isBegun(known))) return linkByEmail(dependencies, asked, held);
  const role = roleFor(upstream, { email, claims: known.claims });
  const created =
    role === undefined ? notLinked(upstream) : await create(dependencies, asked, { email, role });
  if (created !== 'taken') return created;
  return held === undefined ? inUse(upstream) : linkByEmail(dependencies, asked, held);
};

const ifActive = (person: Person | undefined): Admitted =>
  person?.status === 'active' ? { person } : { problem: DEACTIVATED, status: 403 };

const DEACTIVATED = 'This account is deactivated. Ask an administrator.';

const notLinked = ({ label, accounts }: Upstream): Admitted => ({
  status: 403,
  problem:
    accounts.length === 0
      ? `Your account at ${label} is linked to no account here. Sign in in another way, and link it in your account.`
      : `Your account at ${label} is linked to no account here, and gets none by the rules of this site. Ask an administrator.`,
});

const linkByEmail = async (
  { domain, pool, identities, ...dependencies }: AdmitDependencies,
  { upstream, known, requestId }: Asked,
  person: Person,
): Promise<Admitted> => {
  const { userId, role, status } = person;
  // A stranger may have created an account with an address that they do not own. Those who see everything link by hand.
  const mayLink = upstream.linkByEmail && !isRoleOfKernel(domain, role) && (await isConfirmed(pool, userId));
  if (!mayLink) return inUse(upstream);
  if (status !== 'active') return { problem: DEACTIVATED, status: 403 };
  const link = { ...linkOf(upstream, known), by: 'email' } as const;
  const outcome = await identities.link(userId, link, byPerson(userId, requestId));
  if (outcome === 'taken' || outcome === 'refused') return { problem: BUSY, status: 409 };
  notifyOfChange(
    dependencies,
    { userId },
    `An account at ${upstream.label} with your address signed in to your account: it was linked because of the address.`,
  );
  return { person };
};

const inUse = ({ label }: Upstream): Admitted => ({
  status: 409,
  problem: `An account here already has the address of your account at ${label}. Sign in to it in another way, and link ${label} there.`,
});

const BUSY =
  'The account may not have been created yet. Try again in a moment: you will not get two accounts.';

type Applicant = { readonly email: string; readonly role: string };

const create = async (
  dependencies: AdmitDependencies,
  asked: Asked,
  { email, role }: Applicant,
): Promise<Admitted | 'taken'> => {
  const { pool, persons, identities, emailHash } = dependencies;
  const { upstream, known, requestId } = asked;
  const id = await identities.begin(known, upstream.name);
  // Another request has just linked it.
  if (id === undefined) return { problem: BUSY, status: 409 };
  const registered = await register(dependencies, asked, { email, role, id });
  if (registered === 'taken') return registered;
  if (registered === 'busy') return { problem: BUSY, status: 503 };
  const userId = registered.id as UserId;
  await persons.register({ userId, version: registered.version, email, role });
  const link = { ...linkOf(upstream, known), by: 'creation' } as const;
  const outcome = await identities.link(userId, link, byPerson(userId, requestId));
  if (outcome === 'taken' || outcome === 'refused') return { problem: BUSY, status: 409 };
  await confirm(pool, { userId, emailHash: emailHash(email) });
  return ifActive(await persons.byId(userId));
};

/** The id of the pending row makes it repeatable: a second request, or one after a crash, gets the same user. */
const register = async (
  { gateway }: AdmitDependencies,
  { known, requestId, trace }: Asked,
  { email, role, id }: Applicant & { readonly id: string },
): Promise<CommandResult | 'taken' | 'busy'> => {
  const key = `upstream-${id}`;
  const caller = { kind: 'system', name: 'upstream' } as const;
  const context = { caller, requestId, trace, correlationId: key, idempotencyKey: key };
  return gateway
    .send({ type: 'RegisterUser', name: nameOf(known, email), email, role }, context)
    .catch(refusalOf);
};

const refusalOf = (error: unknown): 'taken' | 'busy' => {
  if (error instanceof CommandUnavailable) return 'busy';
  if (!(error instanceof Rejection)) throw error;
  if (error.code === 'email_taken') return 'taken';
  // The provider may give another name or address with the second request.
  const isBusy = ['idempotency_key_in_use', 'idempotency_key_reused', 'conflict'].includes(error.code);
  if (isBusy) return 'busy';
  throw error;
};

const NAME_MAX = 100;

/** Names elsewhere may be longer or have other characters than ours. */
const nameOf = ({ name = '' }: UpstreamPerson, email: string): string => {
  const wanted = [...name.replaceAll(/\p{C}+/gu, ' ').trim()].slice(0, NAME_MAX).join('').trim();
  return nameField.safeParse(wanted).success ? wanted : email.slice(0, email.lastIndexOf('@'));
};

export const linkOf = (
  { name, label }: Upstream,
  { issuer, subject, email, name: called }: UpstreamPerson,
) => ({
  issuer,
  subject,
  upstream: name,
  shownAs: email ?? called ?? label,
});

const byPerson = (userId: UserId, requestId: string) =>
  ({ actor: `user:${userId}`, client: null, requestId }) as const;
