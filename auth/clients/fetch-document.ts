import type { Agent } from 'undici';
import { checkUrl, type GuardRules } from '#shared/webhooks/guard/check-url.ts';

/**
 * Returns the JSON at an address that a stranger has chosen. Throws `NoDocument` if there is none; after any other
 * error, a retry may help.
 */
export type FetchDocument = AsyncDisposable & { fetch(url: string): Promise<unknown> };

/** The address has no document, and the same request would have the same answer. */
export class NoDocument extends Error {
  readonly code = 'no_document';
}

const TIMEOUT_MS = 3_000;
const BYTES_MAX = 16_384;

/**
 * Guarded like webhooks: it reaches no private address, follows no redirect, and reads no long answer. The system
 * resolves no names for it, because anonymous requests would keep threads of Node busy that webhooks need.
 */
export const openFetchDocument = (rules: GuardRules): FetchDocument => {
  let agent: Promise<Agent> | undefined;
  return {
    async fetch(url) {
      const fault = checkUrl(url, rules);
      if (fault !== undefined) throw new NoDocument(fault);
      agent ??= openAgent(rules);
      const dispatcher = await agent;
      const { fetch } = await import('undici');
      const answer = await fetch(url, {
        dispatcher,
        redirect: 'manual',
        headers: { accept: 'application/json' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }).catch(refuseForGood);
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of answer.body ?? []) {
        bytes += chunk.length;
        if (bytes > BYTES_MAX) throw new NoDocument(`The document is longer than ${BYTES_MAX} bytes.`);
        chunks.push(chunk);
      }
      if (answer.status !== OK)
        throw new (isTemporary(answer.status) ? Error : NoDocument)(`The answer is ${answer.status}.`);
      if (!JSON_TYPE.test(answer.headers.get('content-type') ?? ''))
        throw new NoDocument('The answer is no JSON.');
      return parse(Buffer.concat(chunks).toString('utf8'));
    },
    [Symbol.asyncDispose]: async () => (await agent)?.destroy(),
  };
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new NoDocument('The answer is no JSON.', { cause });
  }
};

const OK = 200;
const SERVER_ERROR = 500;
const isTemporary = (status: number): boolean =>
  status >= SERVER_ERROR || status === REQUEST_TIMEOUT || status === TOO_MANY_REQUESTS;
const REQUEST_TIMEOUT = 408;
const TOO_MANY_REQUESTS = 429;

/** The name does not exist, or leads to a private address. */
const FINAL = new Set(['INSIDE_ADDRESS', 'ENOTFOUND', 'ENODATA']);

const refuseForGood = (error: unknown): never => {
  const { cause } = error as { readonly cause?: { readonly code?: string } };
  throw FINAL.has(cause?.code ?? '') ? new NoDocument('No document is reachable.', { cause: error }) : error;
};
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i;

/** Loaded with the first document: few installations have any. */
const openAgent = async ({ allowed }: GuardRules): Promise<Agent> => {
  const [{ Agent }, { createGuardedConnector }, { createNameResolver }] = await Promise.all([
    import('undici'),
    import('#shared/webhooks/guard/guarded-connector.ts'),
    import('#shared/webhooks/guard/resolve-name.ts'),
  ]);
  const resolveName = createNameResolver({ asksSystem: false });
  return new Agent({
    connect: createGuardedConnector({ allowed, resolveName, timeoutMs: TIMEOUT_MS }),
    bodyTimeout: TIMEOUT_MS,
    headersTimeout: TIMEOUT_MS,
  });
};
