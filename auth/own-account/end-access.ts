import type { Provider } from 'oidc-provider';
import type { Pool } from '#shared/database/pool.ts';
import { CONSOLE } from '../clients/client.ts';
import type { OwnTokens } from '../personal-tokens/personal-tokens.ts';
import type { RecordSecurityEvent, SecurityCircumstances } from '../security-log.ts';
import { createGrantEnder } from '../storage/end-grants.ts';
import type { AllowedClient } from '../storage/grants.ts';
import type { OpenSession, Sessions } from '../storage/sessions.ts';
import { duringVisit } from '../storage/visit.ts';
import { circumstancesOf, type Visitor } from './visitor.ts';

export type EndDependencies = {
  readonly pool: Pool;
  readonly sessions: Pick<Sessions, 'end'>;
  readonly record: RecordSecurityEvent;
  readonly readAllowedClients: (userId: Visitor['userId']) => Promise<readonly AllowedClient[]>;
};

/** Whose access ends, and who ends it. */
type Ending = { readonly userId: Visitor['userId']; readonly by: SecurityCircumstances };

/** A visitor ends their own access. */
export const byVisitor = (visitor: Visitor): Ending => ({
  userId: visitor.userId,
  by: circumstancesOf(visitor),
});

/** Ends sessions with the console in their browsers, and records each. */
export const endSessions = async (
  { pool, sessions, record }: Pick<EndDependencies, 'pool' | 'sessions' | 'record'>,
  { userId, by }: Ending,
  isMeant: (session: OpenSession) => boolean,
): Promise<number> => {
  const ended = await sessions.end(userId, isMeant);
  const { endGrant } = createGrantEnder({
    pool,
    async onEnded({ grantId }) {
      await record({ type: 'grant.revoked', data: { grantId, userId, clientId: CONSOLE } }, by);
    },
  });
  for (const { uid, consoleGrant } of ended) {
    await record({ type: 'session.signed_out', data: { sessionId: uid, userId } }, by);
    // Its refresh token ended with the session; this ends the access token too.
    if (consoleGrant !== undefined) await endGrant(consoleGrant);
  }
  return ended.length;
};

/**
 * Ends the grants of applications and their tokens; records each grant in the name of the person who ends it.
 */
export const endApplications = async (
  { pool, record, readAllowedClients }: Omit<EndDependencies, 'sessions'>,
  { userId, by }: Ending,
  isMeant: (client: AllowedClient) => boolean,
): Promise<void> => {
  const { endGrant } = createGrantEnder({
    pool,
    async onEnded({ grantId, clientId }) {
      await record({ type: 'grant.revoked', data: { grantId, userId, clientId } }, by);
    },
  });
  const meant = (await readAllowedClients(userId)).filter(isMeant);
  for (const grantId of meant.flatMap(({ grantIds }) => grantIds)) await endGrant(grantId);
};

/** Ends every application’s access and every access token. */
export const endAccess = async (
  dependencies: Omit<EndDependencies, 'sessions'> & { readonly ownTokens: Pick<OwnTokens, 'revoke'> },
  ending: Ending,
): Promise<void> => {
  await endApplications(dependencies, ending, () => true);
  await dependencies.ownTokens.revoke(ending.userId, 'all', ending.by);
};

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
