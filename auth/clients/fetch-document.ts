import { Agent, fetch } from 'undici';
import { checkUrl, type GuardRules } from '#shared/webhooks/guard/check-url.ts';
import { createGuardedConnector } from '#shared/webhooks/guard/guarded-connector.ts';
import { createNameResolver } from '#shared/webhooks/guard/resolve-name.ts';

/** Returns the JSON at an address that a stranger has chosen; throws if there is none. */
export type FetchDocument = AsyncDisposable & { fetch(url: string): Promise<unknown> };

const TIMEOUT_MS = 3_000;
const BYTES_MAX = 16_384;

/** Guarded like webhooks: it reaches no private address, follows no redirect, and reads no long answer. */
export const openFetchDocument = (rules: GuardRules): FetchDocument => {
  const resolveName = createNameResolver();
  const agent = new Agent({
    connect: createGuardedConnector({ allowed: rules.allowed, resolveName, timeoutMs: TIMEOUT_MS }),
    bodyTimeout: TIMEOUT_MS,
    headersTimeout: TIMEOUT_MS,
  });
  return {
    async fetch(url) {
      const fault = checkUrl(url, rules);
      if (fault !== undefined) throw new Error(fault);
      const answer = await fetch(url, {
        dispatcher: agent,
        redirect: 'error',
        headers: { accept: 'application/json' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of answer.body ?? []) {
        bytes += chunk.length;
        if (bytes > BYTES_MAX) throw new Error(`The document is longer than ${BYTES_MAX} bytes.`);
        chunks.push(chunk);
      }
      if (answer.status !== OK) throw new Error(`The answer is ${answer.status}.`);
      if (!JSON_TYPE.test(answer.headers.get('content-type') ?? ''))
        throw new Error('The answer is no JSON.');
      return JSON.parse(Buffer.concat(chunks).toString('utf8'));
    },
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
};

const OK = 200;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json(?:\s*;|$)/i;
