import { Provider } from 'oidc-provider';
import { requestIdOf } from '#edge/http/request-context.ts';
import type { UserId } from '#kernel/base/brands.ts';
import type { Log } from '#shared/log.ts';
import type { RecordSecurityEvent, SecurityContext, SecurityEvent } from '../security/security-log.ts';
import type { EndedGrant } from '../storage/end-records.ts';

const REUSABLE: Readonly<Record<string, 'authorization_code' | 'refresh_token' | 'device_code'>> = {
  authorization_code: 'authorization_code',
  refresh_token: 'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code': 'device_code',
};

/**
 * Records the end of a grant. The grant stays ended if the log cannot take the event; the failure is logged
 * as an error.
 */
export const recordEndedGrant =
  ({ record, log }: { record: RecordSecurityEvent; log: Log }) =>
  async (ended: EndedGrant): Promise<void> => {
    const event = eventOf(ended);
    await record(event, context()).catch((err: unknown) =>
      log.error({ err, event: event.type, grant: ended.grantId }, 'A security event could not be recorded.'),
    );
  };

/** At the token endpoint a grant ends for one reason only: a code or refresh token was used twice. */
const eventOf = ({ grantId, accountId, clientId }: EndedGrant): SecurityEvent => {
  const data = { grantId, userId: accountId === null ? null : (Number(accountId) as UserId), clientId };
  const { ctx } = Provider;
  const reused = ctx?.oidc.route === 'token' ? REUSABLE[String(ctx.oidc.params?.grant_type)] : undefined;
  return reused === undefined
    ? { type: 'grant.revoked', data }
    : { type: 'grant.reuse_detected', data: { ...data, reused } };
};

/**
 * Without a request, grants end because the directory has read a user's deletion, or because a client was
 * changed.
 */
const context = (): SecurityContext => {
  const { ctx } = Provider;
  if (ctx === undefined) return { actor: 'system:auth', client: null, requestId: 'auth' };
  return { actor: 'system:auth', client: ctx.oidc.client?.clientId ?? null, requestId: requestIdOf(ctx.req) };
};
