import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import type { Send, Sent } from '#kernel/demo/demo.ts';
import { StartRefused } from '#shared/process/start-refused.ts';

/** The running system, by the interface that everybody has. */
export type AnnalsByHttp = {
  readonly send: Send;
  /** Also when the user wants an end. */
  readonly sendAtEnd: Send;
};

type Options = {
  readonly url: string;
  requestToken(): Promise<string>;
  readonly signal: AbortSignal;
};

/** Tokens last five minutes. */
const TOKEN_MS = 4 * 60_000;
const TIMEOUT_MS = 30_000;
const ATTEMPTS_MAX = 20;
const PAUSE_MAX_S = 5;

export const openAnnalsByHttp = async ({ url, requestToken, signal }: Options): Promise<AnnalsByHttp> => {
  let token = requestToken();
  let renewAtMs = performance.now() + TOKEN_MS;
  await token;
  const bearer = async (): Promise<string> => {
    if (performance.now() >= renewAtMs) {
      token = requestToken();
      renewAtMs = performance.now() + TOKEN_MS;
    }
    return `Bearer ${await token}`;
  };
  const sendUntil =
    (stopping: AbortSignal): Send =>
    async (method, path, request = {}) => {
      for (let attempt = 1; ; attempt += 1) {
        stopping.throwIfAborted();
        const response = await exchange(new URL(path, url), { method, request, authorization: await bearer() });
        const body: unknown = await response.json().catch(() => undefined);
        const { status } = response;
        if (response.ok || request.expected?.includes(status)) return { status, body, next: nextOf(response) };
        if (!PASSING.has(status) || attempt === ATTEMPTS_MAX) throw refused(`${method} ${path}`, status, body);
        await delay(1_000 * Math.min(Number(response.headers.get('retry-after') ?? 1), PAUSE_MAX_S), undefined, { signal: stopping });
      }
    };
  return { send: sendUntil(signal), sendAtEnd: sendUntil(new AbortController().signal) };
};

/** Too much at once, not ready yet, or the service's user is not known everywhere yet. */
const PASSING = new Set([429, 503]);

const nextOf = ({ headers }: Response): string | undefined => /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];

type Exchange = { readonly method: string; readonly request: Sent; readonly authorization: string };

const exchange = async (address: URL, { method, request, authorization }: Exchange): Promise<Response> => {
  const { body, picture, key, ifVersion } = request;
  const headers = {
    authorization,
    ...(body && { 'content-type': 'application/json' }),
    ...(picture && { 'content-type': 'image/png' }),
    ...(key !== undefined && { 'idempotency-key': key }),
    ...(ifVersion !== undefined && { 'if-match': `"${ifVersion}-"` }),
  };
  const content = picture ? new Uint8Array(picture) : body && JSON.stringify(body);
  try {
    const init = { method, headers, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) } as const;
    return await fetch(address, content === undefined ? init : { ...init, body: content });
  } catch (cause) {
    throw new StartRefused(`Annals does not answer at ${address.origin} any more: start it with npm start, and run this again.`, { cause });
  }
};

const Problem = z.object({
  title: z.string(),
  code: z.string(),
  errors: z.array(z.object({ pointer: z.string(), detail: z.string() })).optional(),
});

const refused = (what: string, status: number, body: unknown): StartRefused => {
  const problem = Problem.safeParse(body).data;
  const fields = problem?.errors?.map(({ pointer, detail }) => ` ${pointer}: ${detail}`).join('') ?? '';
  return new StartRefused(`${what} was refused: ${status}${problem ? ` ${problem.code}. ${problem.title}${fields}` : ''}`);
};
