import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import { requestIdOf } from '#edge/http/request-context.ts';
import { namesOf } from '#edge/http/request-span.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { Log } from '#shared/log.ts';
import type { RecordSecurityEvent, SecurityEvent } from '../security/security-log.ts';
import { replaceScriptedForms } from './provider-pages.ts';
import { methodOf } from './sign-in-outcome.ts';

type Observing = { readonly record: RecordSecurityEvent; readonly log: Log };

/** Adds our middleware to a new provider. Must run before its `callback()`, which ignores later additions. */
export const equipProvider = (provider: Provider, facts: Observing): void => {
  provider.use(replaceScriptedForms);
  recordSessions(provider, facts);
};

/**
 * Records sign-ins and sign-outs as oidc-provider has completed them: only then is the session's lasting id
 * known.
 */
const recordSessions = (provider: Provider, { record, log }: Observing): void => {
  const note = (
    ctx: KoaContextWithOIDC,
    make: (session: { sessionId: string; userId: UserId }) => SecurityEvent,
  ): void => {
    const { session, client } = ctx.oidc;
    if (session?.accountId === undefined) return;
    const userId = Number(session.accountId) as UserId;
    record(make({ sessionId: session.uid, userId }), {
      actor: `user:${userId}`,
      client: client?.clientId ?? null,
      requestId: requestIdOf(ctx.req),
    }).catch((error: unknown) =>
      log.error({ err: error, ...namesOf(ctx.req) }, 'A security event could not be recorded.'),
    );
  };
  provider.on('interaction.ended', (ctx) => {
    const { Interaction } = ctx.oidc.entities;
    // The answer to a later prompt also contains the sign-in.
    const login = Interaction?.result?.login;
    if (Interaction?.prompt.name !== 'login' || login === undefined) return;
    note(ctx, (session) => ({
      type: 'session.signed_in',
      data: { ...session, method: methodOf(login.amr) },
    }));
  });
  provider.on('end_session.success', (ctx) => {
    if (ctx.oidc.params?.logout) note(ctx, (session) => ({ type: 'session.signed_out', data: session }));
  });
};
