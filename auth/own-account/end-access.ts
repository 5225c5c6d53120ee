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

/** Ends sessions of the visitor, and tells of each. */
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
 * Ends what applications may do for somebody, with the tokens that they have; each grant is told of in the
 * name of who ends it.
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
 * The visitor goes on under a new secret: whoever had the one before it has nothing any more. `shown` is what
 * they have shown here beside it.
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

/** Takes the session out of this browser. */
export const dropSession = (provider: Provider, { request, response }: Visitor): void =>
  setCookie(provider, { context: provider.createContext(request, response), value: null });

const MS_PER_SECOND = 1_000;

type Set = {
  readonly context: ReturnType<Provider['createContext']>;
  readonly value: string | null;
  readonly expires?: Date;
};

/** As oidc-provider sets it, by the same name and with the same attributes. */
const setCookie = (provider: Provider, { context, value, expires }: Set): void => {
  const name = provider.cookieName('session');
  const secure = name.startsWith('__Host-');
  // The cookie jar would refuse it over what it takes for a plain connection, behind a proxy that ends TLS.
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
