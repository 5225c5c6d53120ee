import type { Request, Response } from 'express';
import { requestIdOf } from '#edge/http/request-context.ts';
import type { Person } from '../persons/person-table.ts';
import type { RecordSecurityEvent } from '../security/security-log.ts';
import { type Asked, finish, type InteractionDependencies } from './interaction.ts';
import type { KnownDevices } from './known-devices.ts';

/**
 * The authentication methods that a person has used (`amr`, RFC 8176); `fed` is a sign-in at an identity provider,
 * which has no name there.
 */
type Methods = readonly ('pwd' | 'fed' | 'otp' | 'hwk' | 'swk' | 'user' | 'mfa')[];

export type SignInFinish = InteractionDependencies & { readonly devices: KnownDevices };

type SignedIn = {
  readonly person: Person;
  readonly amr: Methods;
  /** When the person showed who they are, if it was not just now. */
  readonly atS?: number | undefined;
};

/**
 * Completes the sign-in. From now on attempts in this browser are counted separately from those of others.
 */
export const finishSignIn = async (
  dependencies: SignInFinish,
  exchange: { readonly request: Request; readonly response: Response },
  { person: { userId }, amr, atS }: SignedIn,
): Promise<void> => {
  dependencies.devices.remember(exchange, userId);
  // `remember` keeps the session after the browser is closed.
  await finish(dependencies, {
    ...exchange,
    result: {
      login: {
        accountId: String(userId),
        amr: [...amr],
        remember: true,
        ...(atS !== undefined && { ts: atS }),
      },
    },
  });
};

/** The method as the security log names it. */
export const methodOf = (amr: readonly string[] = []): string => {
  if (amr.includes('fed')) return amr.includes('otp') ? 'identity_provider_and_code' : 'identity_provider';
  if (amr.includes('otp')) return 'password_and_code';
  return amr.includes('hwk') || amr.includes('swk') ? 'passkey' : 'password';
};

type Failure = {
  readonly request: Request;
  readonly asked: Asked;
  readonly person: Person | undefined;
  readonly attempts: number;
};

/** Records that a person must wait after too many failed attempts. */
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
