import { clientAddress } from '#edge/http/client-address.ts';
import type { Credentials } from '../accounts/credentials.ts';
import type { KnownDevices } from '../accounts/known-devices.ts';
import { type SignInLimits, waitSeconds, waitText } from '../accounts/sign-in-limits.ts';
import type { ReadProfile } from '../provider/profile.ts';
import type { RecordSecurityEvent } from '../security/security-log.ts';
import { securityContextOf, type Visitor } from './visitor.ts';

type ConfirmDependencies = {
  readonly credentials: Pick<Credentials, 'verify' | 'changedAt'>;
  readonly limits: SignInLimits;
  readonly devices: Pick<KnownDevices, 'of'>;
  readonly emailHash: (email: string) => string;
  readonly readProfile: ReadProfile;
  readonly record: RecordSecurityEvent;
};

/** The error if the typed password does not confirm an action; undefined if it does. */
type Unconfirmed = { readonly text: string; readonly status: number } | undefined;

/** People who sign in with an identity provider may have none. */
export const hasPassword = async (
  { credentials }: { readonly credentials: Pick<Credentials, 'changedAt'> },
  userId: Visitor['userId'],
): Promise<boolean> => (await credentials.changedAt(userId)) !== undefined;

const MINUTE_S = 60;
/** Without a password, a new sign-in replaces it: just before the form, which may stay open for a while. */
export const SIGNED_IN_JUST_S = { show: 2 * MINUTE_S, submit: 10 * MINUTE_S } as const;

const isJustSignedIn = ({ signInAgeS }: Visitor): boolean => signInAgeS < SIGNED_IN_JUST_S.submit;

const TOO_OLD: Unconfirmed = {
  text: 'Your sign-in is too old for this. Open this page again to sign in again.',
  status: 403,
};

/** Counts together with sign-in attempts, so that an open browser cannot evade their limits. */
export const confirmPassword = async (
  dependencies: ConfirmDependencies,
  visitor: Visitor,
  password: string,
): Promise<Unconfirmed> => {
  const { credentials, limits, devices, emailHash, readProfile, record } = dependencies;
  const { userId, request, response } = visitor;
  if (!(await hasPassword(dependencies, userId))) return isJustSignedIn(visitor) ? undefined : TOO_OLD;
  if (password === '') return { text: 'Enter your password.', status: 422 };
  const { email } = await readProfile(userId);
  const account = email === undefined ? `user ${userId}` : emailHash(email);
  const tried = { account, address: clientAddress(request), device: devices.of(request, userId) };
  const admitted = await limits.admit(tried);
  if (!admitted.granted) {
    response.set('Retry-After', String(waitSeconds(admitted.waitMs)));
    return { text: `Too many attempts. Try again in ${waitText(admitted.waitMs)}.`, status: 429 };
  }
  if (await credentials.verify(userId, password)) {
    await limits.succeeded(tried);
    return undefined;
  }
  if (admitted.locksIfWrong) {
    const data = { sessionId: visitor.sessionUid, userId, attempts: admitted.attempts };
    await record({ type: 'session.sign_in_failed', data }, securityContextOf(visitor));
  }
  return { text: 'This is not your password.', status: 422 };
};
