import type { Request, Response } from 'express';
import type { Provider } from 'oidc-provider';
import { requestIdOf } from '#edge/http/request-context.ts';
import { traceparentOf } from '#edge/http/request-span.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { Role } from '#kernel/base/events/fields.ts';
import type { Attributes } from '#kernel/conditions/holds.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { CommandContext } from '#shared/command-gateway/command-gateway.ts';
import { ACCOUNT_CLIENT_ID, type Policy, policyOf } from '#shared/policy.ts';
import type { ReadAttributes } from '#shared/read-attributes.ts';
import type { Persons } from '../directory.ts';
import type { SecurityContext } from '../security/security-log.ts';
import type { Sessions } from '../storage/sessions.ts';
import { visitOf } from '../storage/visit.ts';

/** A signed-in person who looks at their own account. */
export type Visitor = {
  readonly request: Request;
  readonly response: Response;
  /** The path of the page, however the address was written. */
  readonly path: string;
  readonly userId: UserId;
  readonly role: Role;
  readonly attributes: Attributes | undefined;
  readonly policy: Policy;
  readonly sessionUid: string;
  /** Since the person showed who they are. */
  readonly signInAgeS: number;
  /** With more than the password alone (RFC 8176, `mfa`). */
  readonly isMultiFactor: boolean;
};

type Dependencies = {
  readonly domain: Domain;
  readonly provider: Provider;
  readonly persons: Pick<Persons, 'byId'>;
  readonly sessions: Pick<Sessions, 'note'>;
  readonly readAttributes: ReadAttributes;
};

const MS_PER_SECOND = 1_000;

/** The person of this browser's session; undefined if nobody is signed in. */
export const visitorOf = async (
  { domain, provider, persons, sessions, readAttributes }: Dependencies,
  { request, response, path }: Pick<Visitor, 'request' | 'response' | 'path'>,
): Promise<Visitor | undefined> => {
  const { accountId, uid, loginTs, amr } = await provider.Session.get(
    provider.createContext(request, response),
  );
  if (accountId === undefined) return undefined;
  const userId = Number(accountId) as UserId;
  const person = await persons.byId(userId);
  if (person?.status !== 'active') return undefined;
  await sessions.note(uid, visitOf(request));
  return {
    request,
    response,
    path,
    userId,
    role: person.role,
    attributes: await readAttributes(userId),
    policy: policyOf(domain),
    sessionUid: uid,
    signInAgeS: Date.now() / MS_PER_SECOND - (loginTs ?? 0),
    isMultiFactor: amr?.includes('mfa') === true,
  };
};

/** A visitor has the rights of a token with these scopes. */
const SCOPES: ReadonlySet<string> = new Set(['read:users', 'write:users']);

export const contextOf = ({ request, userId, role, attributes, policy }: Visitor): CommandContext => ({
  caller: { kind: 'user', policy, userId, role, attributes, scopes: SCOPES, client: ACCOUNT_CLIENT_ID },
  requestId: requestIdOf(request),
  trace: traceparentOf(request),
});

export const securityContextOf = ({ request, userId }: Visitor): SecurityContext => ({
  actor: `user:${userId}`,
  client: ACCOUNT_CLIENT_ID,
  requestId: requestIdOf(request),
});
