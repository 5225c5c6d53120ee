import type { Request, Response } from 'express';
import { requestIdOf } from '#shared/http/request-context.ts';
import type { RecordSecurityEvent } from '../security-log.ts';
import { type Asked, finish, type InteractionDependencies } from './interaction.ts';
import type { KnownDevices } from './known-devices.ts';
import type { Person } from './person-table.ts';

/** By what somebody has shown who they are (RFC 8176). */
type Methods = readonly ('pwd' | 'otp' | 'hwk' | 'swk' | 'user' | 'mfa')[];

export type SignInFinish = InteractionDependencies & { readonly devices: KnownDevices };

/**
 * Somebody has shown all that was asked for. From now on their tries in this browser are counted apart from
 * those of others.
 */
export const finishSignIn = async (
  dependencies: SignInFinish,
  exchange: { readonly request: Request; readonly response: Response },
  { person: { userId }, amr }: { readonly person: Person; readonly amr: Methods },
): Promise<void> => {
  dependencies.devices.remember(exchange, userId);
  // `remember` keeps the session when the browser is closed.
  await finish(dependencies, {
    ...exchange,
    result: { login: { accountId: String(userId), amr: [...amr], remember: true } },
  });
};

/** As the log tells it. */
export const methodOf = (amr: readonly string[] = []): string => {
  if (amr.includes('otp')) return 'password_and_code';
  return amr.includes('hwk') || amr.includes('swk') ? 'passkey' : 'password';
};

type Failure = {
  readonly request: Request;
  readonly asked: Asked;
  readonly person: Person | undefined;
  readonly attempts: number;
};

/** That somebody has failed so often that they must wait. */
export const recordLock = async (
  record: RecordSecurityEvent,
  { request, asked, person, attempts }: Failure,
): Promise<void> => {
  const { interaction, client } = asked;
  await record(
    {
      type: 'session.sign_in_failed',
      data: { sessionId: interaction.cid, userId: person?.userId ?? null, attempts },
    },
    { actor: 'anonymous', client: client?.clientId ?? null, requestId: requestIdOf(request) },
  );
};
