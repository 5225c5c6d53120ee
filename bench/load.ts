import { Agent, request } from 'node:http';

/** One request after the other on each connection, for a while. */
export type Load = {
  /** The same for every request, or made for each. */
  readonly url: string | (() => string);
  readonly connections: number;
  readonly durationMs: number;
  readonly method?: string;
  /** The same for every request, or made for each after its headers. */
  readonly body?: string | (() => string);
  /** Called for every request; what cannot be sent any more ends the run early. */
  headers(): Readonly<Record<string, string>> | undefined;
};

export type Loaded = { readonly count: number; readonly rate: number; readonly p50Ms: number; readonly p99Ms: number };

export const applyLoad = async ({ url, connections, durationMs, method = 'GET', body, headers }: Load): Promise<Loaded> => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latenciesMs: number[] = [];
  const startedMs = performance.now();
  const work = async (): Promise<void> => {
    for (let head = headers(); head !== undefined && performance.now() - startedMs < durationMs; head = headers()) {
      const sentMs = performance.now();
      await send({ url: typeof url === 'function' ? url() : url, method, body: typeof body === 'function' ? body() : body, head, agent });
      latenciesMs.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  const elapsedMs = performance.now() - startedMs;
  agent.destroy();
  latenciesMs.sort((a, b) => a - b);
  const quantile = (share: number): number => latenciesMs[Math.floor(latenciesMs.length * share)] ?? 0;
  return { count: latenciesMs.length, rate: latenciesMs.length / (elapsedMs / 1_000), p50Ms: quantile(0.5), p99Ms: quantile(0.99) };
};

type Sent = { url: string; method: string; body: string | undefined; head: Readonly<Record<string, string>>; agent: Agent };

/** Any answer but a good one ends the run: a refusal is quick and proves nothing. */
const send = ({ url, method, body, head, agent }: Sent): Promise<void> =>
  new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, agent, headers: body === undefined ? head : { ...head, 'content-length': Buffer.byteLength(body) } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () =>
          isGood(response.statusCode) ? resolve() : reject(new Error(`${response.statusCode} ${text.slice(0, 300)}`)),
        );
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });

const isGood = (status = 0): boolean => status >= 200 && status < 300;
