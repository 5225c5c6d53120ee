import type { Provider } from 'oidc-provider';
import type { Pool } from '#shared/database/pool.ts';
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

/** Ends sessions of the visitor, and records each. */
export const endSessions = async (
  { sessions, record }: EndDependencies,
  visitor: Visitor,
  isMeant: (session: OpenSession) => boolean,
): Promise<number> => {
  const ended = await sessions.end(visitor.userId, isMeant);
  for (const { uid } of ended)
    await record(
      { type: 'session.signed_out', data: { sessionId: uid, userId: visitor.userId } },
      circumstancesOf(visitor),
    );
  return ended.length;
};

type Ending = { readonly userId: Visitor['userId']; readonly by: SecurityCircumstances };

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
