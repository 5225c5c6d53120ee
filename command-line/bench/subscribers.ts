import { Pool } from 'undici';
import type { Session } from '../../client/session.ts';

/** Event streams that stay open during all steps. */
type Subscribers = AsyncDisposable & {
  readonly open: number;
  /** Refused streams by the status of the answer. */
  readonly refused: Readonly<Record<string, number>>;
  messages(): number;
};

const OPEN_TIMEOUT_MS = 15_000;
const SUCCESS = 200;

export const openSubscribers = async (
  { url, session }: { url: string; session: Session },
  count: number,
): Promise<Subscribers> => {
  const target = new URL(url);
  const pool = new Pool(target.origin, {
    connections: Math.max(count, 1),
    pipelining: 1,
    headersTimeout: OPEN_TIMEOUT_MS,
    bodyTimeout: 0,
  });
  const path = `${target.pathname.replace(/\/$/, '')}/events`;
  const refused: Record<string, number> = {};
  let [open, messages] = [0, 0];
  const subscribe = async (): Promise<void> => {
    const authorization = await session.authorize({ method: 'GET', url: `${url}/events` });
    const response = await pool.request({
      method: 'GET',
      path,
      headers: { ...authorization, accept: 'text/event-stream' },
    });
    if (response.statusCode !== SUCCESS) {
      refused[response.statusCode] = (refused[response.statusCode] ?? 0) + 1;
      return response.body.dump();
    }
    open += 1;
    response.body.setEncoding('utf8').on('data', (chunk: string) => {
      messages += chunk.split('\ndata:').length - 1;
    });
    response.body.on('error', () => {});
  };
  const opening = Array.from({ length: count }, () =>
    subscribe().catch(() => {
      refused['no answer'] = (refused['no answer'] ?? 0) + 1;
    }),
  );
  await Promise.all(opening);
  return { open, refused, messages: () => messages, [Symbol.asyncDispose]: () => pool.destroy() };
};
