/** Finds the roles that answer at an address, without a token and without an effect. */

/**
 * Requests that only one role answers, about the log itself, so that every domain has them. Without a token
 * they are refused.
 */
const PROBES = [
  { role: 'command', method: 'POST', path: '/webhooks' },
  { role: 'query', method: 'GET', path: '/event-types' },
  { role: 'auth', method: 'GET', path: '/jwks' },
  { role: 'webhook-dispatcher', method: 'GET', path: '/webhooks/1/deliveries' },
] as const;

export type RoleAnswer = {
  readonly role: string;
  readonly answers: boolean;
  readonly milliseconds: number;
  readonly problem?: string;
};

const TIMEOUT_MS = 5_000;
const SERVER_ERROR = 500;

export const probeRoles = (url: string, signal: AbortSignal): Promise<readonly RoleAnswer[]> =>
  Promise.all(PROBES.map((probe) => ask(url, probe, signal)));

const ask = async (
  url: string,
  { role, method, path }: (typeof PROBES)[number],
  signal: AbortSignal,
): Promise<RoleAnswer> => {
  const beganMs = performance.now();
  const tookMs = () => Math.round(performance.now() - beganMs);
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      signal: withTimeout(signal),
    });
    await response.body?.cancel();
    const { status } = response;
    const answers = status < SERVER_ERROR;
    return { role, answers, milliseconds: tookMs(), ...(!answers && { problem: `status ${status}` }) };
  } catch (error) {
    return { role, answers: false, milliseconds: tookMs(), problem: reasonOf(error) };
  }
};

export type Readiness = {
  readonly status: string;
  readonly checks: Readonly<Record<string, string>>;
  readonly reasons?: Readonly<Record<string, string>>;
};

/**
 * The readiness of the process that answers: all roles in one, or the query role behind an ingress. Undefined
 * without an answer.
 */
export const readReadiness = async (url: string, signal: AbortSignal): Promise<Readiness | undefined> => {
  const response = await fetch(`${url}/readyz`, { signal: withTimeout(signal) }).catch(() => undefined);
  const body = (await response?.json().catch(() => undefined)) as Partial<Readiness> | undefined;
  return body?.status === undefined || body.checks === undefined
    ? undefined
    : { ...body, status: body.status, checks: body.checks };
};

const withTimeout = (signal: AbortSignal): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);

const reasonOf = (error: unknown): string => {
  const { cause, message, name } = error as Error;
  if (name === 'TimeoutError') return 'no answer in time';
  return cause instanceof Error && 'code' in cause ? String(cause.code) : message;
};
