import { Provider } from 'oidc-provider';
import type { UserId } from '#shared/brands.ts';
import { requestIdOf } from '#shared/http/request-context.ts';
import type { Log } from '#shared/process/log.ts';
import type { RecordSecurityEvent, SecurityCircumstances, SecurityEvent } from '../security-log.ts';
import type { EndedGrant } from '../storage/end-records.ts';

const REUSABLE: Readonly<Record<string, 'authorization_code' | 'refresh_token' | 'device_code'>> = {
  authorization_code: 'authorization_code',
  refresh_token: 'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code': 'device_code',
};

/**
 * Records the end of a grant. What has ended has ended, whether the log takes the event now or not; a failure
 * is told loudly.
 */
export const recordEndedGrant =
  ({ record, log }: { record: RecordSecurityEvent; log: Log }) =>
  async (ended: EndedGrant): Promise<void> => {
    const event = eventOf(ended);
    await record(event, circumstances()).catch((err: unknown) =>
      log.error({ err, event: event.type, grant: ended.grantId }, 'A security event could not be recorded.'),
    );
  };

/** At the token endpoint a grant ends for one reason: what was issued under it came a second time. */
const eventOf = ({ grantId, accountId, clientId }: EndedGrant): SecurityEvent => {
  const data = { grantId, userId: accountId === null ? null : (Number(accountId) as UserId), clientId };
  const { ctx } = Provider;
  const reused = ctx?.oidc.route === 'token' ? REUSABLE[String(ctx.oidc.params?.grant_type)] : undefined;
  return reused === undefined
    ? { type: 'grant.revoked', data }
    : { type: 'grant.reuse_detected', data: { ...data, reused } };
};

/**
 * Outside of a request it is the following of the log that ends grants, because a user was deleted, or the
 * management of clients.
 */
const circumstances = (): SecurityCircumstances => {
  const { ctx } = Provider;
  if (ctx === undefined) return { actor: 'system:auth', client: null, requestId: 'auth' };
  return { actor: 'system:auth', client: ctx.oidc.client?.clientId ?? null, requestId: requestIdOf(ctx.req) };
};
