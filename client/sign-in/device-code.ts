import { jsonIn, NoAnswer, Problem } from '../problem.ts';
import type { Session } from '../session.ts';
import type { wait } from '../wait.ts';
import { type AccessToken, postForm, requestToken, type TokenOptions } from './token-endpoint.ts';

/**
 * The device flow (RFC 8628): the program shows a code, which the user enters on a page of Annals after
 * signing in.
 */

export type DeviceCode = {
  readonly userCode: string;
  /** Where to enter the code. */
  readonly verificationUri: string;
  /** The same with the code in it, for a link or a QR code. */
  readonly verificationUriComplete: string;
  readonly expiresAt: Date;
};

type Asked = TokenOptions & {
  readonly clientId: string;
  readonly scopes?: readonly string[] | undefined;
  readonly show: (code: DeviceCode) => unknown;
  readonly signal: AbortSignal;
  /** Between polls; a test need not wait. */
  readonly pause: typeof wait;
};

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** Public clients do not authenticate. */
export const ANONYMOUS: Session = { authorize: async () => ({}) };
const MS_PER_SECOND = 1_000;
/** The default interval, and the increment of each `slow_down` (RFC 8628, 3.2 and 3.5). */
const INTERVAL_MS = 5_000;
const INTERVAL_MAX_MS = 30_000;

/** A token and the time of its request. */
type Granted = { readonly token: AccessToken; readonly beganMs: number };

/** Returns once the user has allowed it; throws the `Problem` `access_denied` or `expired_token`. */
export const waitForDevice = async ({
  clientId,
  scopes,
  show,
  signal,
  pause,
  ...options
}: Asked): Promise<Granted> => {
  const beganMs = Date.now();
  const form = { client_id: clientId, ...(scopes && { scope: scopes.join(' ') }) };
  const answered = await postForm('/device_authorization', form, { ...options, session: ANONYMOUS, signal });
  const answer = await jsonIn<Readonly<Record<string, unknown>>>(answered);
  const expiresAtMs = beganMs + Number(answer.expires_in) * MS_PER_SECOND;
  const { deviceCode, ...shown } = codeIn(answer);
  await show({ ...shown, expiresAt: new Date(expiresAtMs) });
  const poll = () =>
    requestToken({
      ...options,
      attemptsMax: 1,
      session: ANONYMOUS,
      form: { grant_type: GRANT, client_id: clientId, device_code: deviceCode },
      signal,
    });
  let intervalMs = Number(answer.interval ?? INTERVAL_MS / MS_PER_SECOND) * MS_PER_SECOND;
  let pauseMs = intervalMs;
  for (;;) {
    await pause(pauseMs, signal);
    const polledMs = Date.now();
    try {
      return { token: await poll(), beganMs: polledMs };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Problem && error.code === 'slow_down') intervalMs += INTERVAL_MS;
      pauseMs = isNoAnswer(error)
        ? Math.min(Math.max(pauseMs, MS_PER_SECOND) * 2, INTERVAL_MAX_MS)
        : intervalMs;
      if (error instanceof Problem && error.retryAfterMs !== undefined)
        pauseMs = Math.max(pauseMs, error.retryAfterMs);
      if (!mayPass(error)) throw error;
      if (Date.now() + pauseMs >= expiresAtMs) throw expired();
    }
  }
};

const codeIn = (answer: Readonly<Record<string, unknown>>) => {
  const { device_code: deviceCode, user_code: userCode, verification_uri: verificationUri } = answer;
  if (typeof deviceCode !== 'string' || typeof userCode !== 'string' || typeof verificationUri !== 'string')
    throw new Problem({
      code: 'unexpected_answer',
      status: 200,
      message: 'the response of the device endpoint is not a device code',
    });
  return {
    deviceCode,
    userCode,
    verificationUri,
    verificationUriComplete: String(answer.verification_uri_complete ?? verificationUri),
  };
};

const PENDING: ReadonlySet<string> = new Set(['authorization_pending', 'slow_down']);
const TOO_MANY = 429;
const FAILED_MIN = 500;

/** The request got no answer: the server is unreachable or overloaded. Poll less often until it answers. */
const isNoAnswer = (error: unknown): boolean =>
  error instanceof NoAnswer ||
  (error instanceof Problem && (error.status === TOO_MANY || error.status >= FAILED_MIN));
const mayPass = (error: unknown): boolean =>
  isNoAnswer(error) || (error instanceof Problem && PENDING.has(error.code));

const expired = (): Problem =>
  new Problem({ code: 'expired_token', status: 400, message: 'the code expired before anybody entered it' });
