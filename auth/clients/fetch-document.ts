import type { Agent } from 'undici';
import { checkUrl, type GuardRules } from '#shared/webhooks/guard/check-url.ts';

/** Returns the JSON at an address that a stranger has chosen; throws if there is none. */
export type FetchDocument = AsyncDisposable & { fetch(url: string): Promise<unknown> };

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
      if (fault !== undefined) throw new Error(fault);
      agent ??= openAgent(rules);
      const dispatcher = await agent;
      const { fetch } = await import('undici');
      const answer = await fetch(url, {
        dispatcher,
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
    [Symbol.asyncDispose]: async () => (await agent)?.destroy(),
  };
};

const OK = 200;
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
