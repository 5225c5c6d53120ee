import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { UserId } from '#shared/brands.ts';
import { requestIdOf } from '#shared/http/request-context.ts';
import { namesOf } from '#shared/http/request-span.ts';
import type { Log } from '#shared/log.ts';
import type { RecordSecurityEvent, SecurityEvent } from '../security-log.ts';
import { methodOf } from './sign-in-outcome.ts';

/** Sign-in and sign-out as oidc-provider has carried them out, which knows the session's lasting id. */
export const recordSessions = (provider: Provider, { record, log }: { record: RecordSecurityEvent; log: Log }): void => {
  const note = (ctx: KoaContextWithOIDC, make: (session: { sessionId: string; userId: UserId }) => SecurityEvent): void => {
    const { session, client } = ctx.oidc;
    if (session?.accountId === undefined) return;
    const userId = Number(session.accountId) as UserId;
    record(make({ sessionId: session.uid, userId }), {
      actor: `user:${userId}`,
      client: client?.clientId ?? null,
      requestId: requestIdOf(ctx.req),
    }).catch((error: unknown) => log.error({ err: error, ...namesOf(ctx.req) }, 'A security event could not be recorded.'));
  };
  provider.on('interaction.ended', (ctx) => {
    const { Interaction } = ctx.oidc.entities;
    // The answer to a later question carries the sign-in along.
    const login = Interaction?.result?.login;
    if (Interaction?.prompt.name !== 'login' || login === undefined) return;
    note(ctx, (session) => ({ type: 'session.signed_in', data: { ...session, method: methodOf(login.amr) } }));
  });
  provider.on('end_session.success', (ctx) => {
    if (ctx.oidc.params?.logout) note(ctx, (session) => ({ type: 'session.signed_out', data: session }));
  });
};
