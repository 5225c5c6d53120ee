import { createHash, createHmac } from 'node:crypto';
import { type Received, startWebhookSink } from '../../testing/http/webhook-sink.ts';

/** A callback and its answer; without one if the connection was closed. */
export type Arrival = Received & { given?: number };

type Answer = { readonly status: number; readonly afterMs?: number };
/** The answer to each callback. */
export type Manner = {
  answer(random: () => number): Answer | 'reset' | Promise<Answer>;
  /** The receiver is killed and restarted. */
  readonly isKilled?: boolean;
  /** The callbacks that it refuses until `relent` is called. */
  readonly refuses?: (id: string) => boolean;
};

const OK = 204;
const PROBABLY = 0.85;
const NEARLY_ALWAYS = 0.97;
const SLOW_MS_MAX = 400;

const well = () => ({ status: OK });
export const steady: Manner = { answer: well };
export const away: Manner = { answer: well, isKilled: true };
const refusal = (random: () => number) => ({ status: random() < 0.5 ? 500 : 503 });
export const refusing: Manner = {
  answer: (random) => (random() < PROBABLY ? { status: OK } : refusal(random)),
};
/** In order, each refusal blocks all later ones. */
export const seldomRefusing: Manner = {
  answer: (random) => (random() < NEARLY_ALWAYS ? { status: OK } : refusal(random)),
};
export const slow: Manner = {
  answer: (random) => ({ status: OK, afterMs: random() < PROBABLY ? 0 : random() * SLOW_MS_MAX }),
};
export const resetting: Manner = { answer: (random) => (random() < PROBABLY ? { status: OK } : 'reset') };

const REFUSED_SHARE = 0.02;
const shareOf = (id: string): number => createHash('sha256').update(id).digest().readUInt16BE() / 2 ** 16;
export const stubborn: Manner = {
  answer: well,
  isKilled: true,
  refuses: (id) => shareOf(id) < REFUSED_SHARE,
};

export type Receiver = AsyncDisposable & {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  kill(): Promise<void>;
  start(): Promise<void>;
  /** From now on it refuses nothing permanently. */
  relent(): void;
};

export const startReceiver = async (
  { answer, refuses = () => false }: Manner,
  random: () => number,
): Promise<Receiver> => {
  const sink = await startWebhookSink();
  const arrivals: Arrival[] = [];
  let hasRelented = false;
  sink.behave(async (received, response) => {
    const arrival: Arrival = received;
    arrivals.push(arrival);
    const given = refuses(received.id) && !hasRelented ? { status: 500 } : await answer(random);
    if (given === 'reset') return void response.socket?.resetAndDestroy();
    const { status, afterMs = 0 } = given;
    const say = (): void => {
      arrival.given = status;
      // No long waits.
      response.writeHead(status, { 'Retry-After': '0' }).end();
    };
    if (afterMs === 0) say();
    else setTimeout(say, afterMs);
  });
  const { url, kill, start } = sink;
  const relent = (): void => {
    hasRelented = true;
  };
  return { url, arrivals, kill, start, relent, [Symbol.asyncDispose]: () => sink[Symbol.asyncDispose]() };
};

const TOLERANCE_SECONDS = 300;

/** By one of the secrets, according to Standard Webhooks. */
export const isSigned = ({ id, headers, body, atMs }: Arrival, secrets: readonly string[]): boolean => {
  const { 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  if (Math.abs(Number(timestamp) - atMs / 1_000) > TOLERANCE_SECONDS) return false;
  return secrets.some((secret) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const signature = createHmac('sha256', key)
      .update(`${id}.${String(timestamp)}.${body}`)
      .digest('base64');
    return String(signatures).split(' ').includes(`v1,${signature}`);
  });
};
