import type { Request } from 'express';
import type { InteractionResults } from 'oidc-provider';
import { requestIdOf } from '#shared/http/request-context.ts';
import type { RecordSecurityEvent } from '../security-log.ts';
import type { Asked } from './interaction.ts';
import type { Person } from './person-table.ts';

/** By what somebody has shown who they are (RFC 8176). */
type Methods = readonly ('pwd' | 'otp' | 'hwk' | 'swk' | 'user' | 'mfa')[];

/** `remember` keeps the session when the browser is closed. */
export const signedIn = ({ userId }: Person, amr: Methods): InteractionResults => ({
  login: { accountId: String(userId), amr: [...amr], remember: true },
});

/** As the log tells it. */
export const methodOf = (amr: readonly string[] = []): string => {
  if (amr.includes('otp')) return 'password_and_code';
  return amr.includes('hwk') || amr.includes('swk') ? 'passkey' : 'password';
};

type Failure = { readonly request: Request; readonly asked: Asked; readonly person: Person | undefined; readonly attempts: number };

/** That somebody has failed so often that they must wait. */
export const recordLock = async (record: RecordSecurityEvent, { request, asked, person, attempts }: Failure): Promise<void> => {
  const { interaction, client } = asked;
  await record(
    { type: 'session.sign_in_failed', data: { sessionId: interaction.cid, userId: person?.userId ?? null, attempts } },
    { actor: 'anonymous', client: client?.clientId ?? null, requestId: requestIdOf(request) },
  );
};
