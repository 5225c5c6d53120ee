import type { Provider } from 'oidc-provider';
import type { RecordSecurityEvent, SecurityContext } from '../security/security-log.ts';
import { CONSOLE } from '../storage/client.ts';
import type { Chosen, EndAccess, EndedAccess } from '../storage/end-access.ts';
import type { SettleResult } from '../storage/keyed-writes.ts';
import { duringVisit } from '../storage/visit.ts';
import { securityContextOf, type Visitor } from './visitor.ts';

export type EndDependencies = { readonly endAccess: EndAccess; readonly record: RecordSecurityEvent };

/** Whose access ends, and who ends it. */
type Ending = { readonly userId: Visitor['userId']; readonly by: SecurityContext };

/** A visitor ends their own access. */
export const byVisitor = (visitor: Visitor): Ending => ({
  userId: visitor.userId,
  by: securityContextOf(visitor),
});

/** Ends access, and then records it: what the log refuses has ended anyway. */
export const end = async (
  { endAccess, record }: EndDependencies,
  { userId, by }: Ending,
  chosen: Chosen,
  settle?: SettleResult<EndedAccess>,
): Promise<EndedAccess> => {
  const ended = await endAccess(userId, chosen, settle);
  for (const { uid } of ended.sessions)
    await record({ type: 'session.signed_out', data: { sessionId: uid, userId } }, by);
  for (const { grantId, clientId } of ended.grants)
    await record({ type: 'grant.revoked', data: { grantId, userId, clientId } }, by);
  for (const tokenId of ended.tokenIds)
    await record({ type: 'account.token_revoked', data: { userId, tokenId } }, by);
  return ended;
};

export const oneSession = (uid: string): Chosen => ({ isSession: (session) => session.uid === uid });

/**
 * All sessions but `kept`, and every console outside of it: one of an earlier release is bound to no session.
 */
export const allSessions = (kept?: string): Chosen => ({
  isSession: ({ uid }) => uid !== kept,
  isGrant: ({ clientId, isInSession }) => clientId === CONSOLE && !isInSession,
});

export const oneApplication = (wanted: string): Chosen => ({
  isGrant: ({ clientId }) => clientId === wanted,
});

/** All sessions but `kept`, the access of every application and every console, and every access token. */
export const everything = (kept?: string): Chosen => ({
  isSession: ({ uid }) => uid !== kept,
  isGrant: () => true,
  withTokens: true,
});

/**
 * Gives the visitor's session a new secret, so that a stolen former one is worthless. `shown` lists the
 * authentication methods added here.
 */
export const renewSession = async (
  provider: Provider,
  { request, response }: Visitor,
  shown: readonly string[] = [],
): Promise<void> => {
  const context = provider.createContext(request, response);
  const session = await provider.Session.get(context);
  session.resetIdentifier();
  session.amr = [...new Set([...(session.amr ?? []), ...shown])];
  await duringVisit(request, () => session.persist());
  setCookie(provider, { context, value: session.jti, expires: new Date(session.exp * MS_PER_SECOND) });
};

/** Deletes the session cookie of this browser. */
export const dropSession = (provider: Provider, { request, response }: Visitor): void =>
  setCookie(provider, { context: provider.createContext(request, response), value: null });

const MS_PER_SECOND = 1_000;

type Set = {
  readonly context: ReturnType<Provider['createContext']>;
  readonly value: string | null;
  readonly expires?: Date;
};

/** Sets the cookie with oidc-provider's name and attributes. */
const setCookie = (provider: Provider, { context, value, expires }: Set): void => {
  const name = provider.cookieName('session');
  const secure = name.startsWith('__Host-');
  // Otherwise the cookie jar refuses it behind a proxy that ends TLS, because it sees a plain connection.
  Object.assign(context.cookies, { secure });
  context.cookies.set(name, value, {
    httpOnly: true,
    sameSite: 'lax',
    signed: true,
    secure,
    overwrite: true,
    ...(expires && { expires }),
  });
};
