import type { KeyObject } from 'node:crypto';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { WebhookSettings } from '#process/config.ts';
import { createChangeOpener } from '#shared/change-stream/open-change.ts';
import { type Clock, dateElsewhereMs } from '#shared/clock/clock.ts';
import { HIDDEN_VALUE } from '#shared/commands/webhook.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { KeyStore } from '#shared/keys/key-store.ts';
import type { ReadLog } from '#shared/read-log/read-log.ts';
import { createPresentRights } from '#shared/visibility/present-rights.ts';
import { type ComposeBody, createComposer } from './body.ts';
import type {
  Attempt,
  AttemptResult,
  Delivery,
  Endpoint,
  EndpointHealth,
  Outcome,
  Secret,
  Sender,
} from './delivery.ts';
import { createIsParked } from './is-parked.ts';
import { openPosterLater } from './open-poster.ts';
import type { Answer, Poster } from './post.ts';
import { recordDeliveries } from './record-deliveries.ts';
import { retryAfterMs, retryInMs } from './schedule.ts';
import { signatures, signingKey } from './sign.ts';

type Dependencies = {
  readonly compose: ReturnType<typeof recordDeliveries>;
  readonly poster: Pick<Poster, 'post'>;
  /** From the setting WEBHOOK_RETRY_SCHEDULE. */
  readonly retryDelaysMs: readonly number[];
  readonly clock: Pick<Clock, 'nowMs' | 'aheadMs'>;
  readonly random?: () => number;
};

export const createSender = ({
  compose,
  poster,
  retryDelaysMs,
  clock,
  random = Math.random,
}: Dependencies): Sender => ({
  async send(outgoing, signal) {
    const { delivery, endpoint } = outgoing;
    const body = await compose(outgoing);
    if (body.kind !== 'body') {
      const outcome: Outcome =
        body.kind === 'withheld' ? { state: 'withheld' } : { state: 'due', retryInMs: WAITING_MS };
      return { attempt: null, shape: delivery.shape, outcome, health: { kind: 'unknown' } };
    }
    if (delivery.shape === null) await outgoing.settle?.(body.shape);
    const { trace } = outgoing;
    const signed = { ...body.headers, ...signedHeaders({ delivery, endpoint, body: body.bytes, clock }) };
    const ours = trace === undefined ? signed : { ...signed, traceparent: trace };
    const headers = { ...lowerCased(endpoint.headers), ...ours };
    const answer = await poster.post({ url: endpoint.url, headers, body: body.bytes }, signal);
    const wait = retryAfterMs(answer.headers['retry-after'], dateElsewhereMs(clock));
    const retry = retryInMs({
      delaysMs: retryDelaysMs,
      attempts: delivery.attempts,
      random: random(),
      retryAfterMs: wait,
    });
    return {
      attempt: attemptOf(answer, headers, ours),
      shape: body.shape,
      outcome: outcomeOf(answer, retry),
      health: healthOf(answer, wait),
    } satisfies AttemptResult;
  },
});

/** Short, because an operator is expected to act. */
const WAITING_MS = 30_000;

/** The maximum number of valid secrets. */
const SECRETS_MAX = 5;

type ToSign = {
  readonly delivery: Delivery;
  readonly endpoint: Endpoint;
  readonly body: Buffer;
  readonly clock: Dependencies['clock'];
};

const signedHeaders = ({ delivery, endpoint, body, clock }: ToSign): Readonly<Record<string, string>> => {
  const id = delivery.eventId;
  // The receiver compares it with its own date.
  const timestampSeconds = Math.floor(dateElsewhereMs(clock) / 1_000);
  const atMs = clock.nowMs();
  const live = endpoint.secrets
    .filter(({ endsAtMs }) => endsAtMs === null || endsAtMs > atMs)
    .slice(0, SECRETS_MAX);
  return {
    'user-agent': 'Annals',
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatures({ id, timestampSeconds, body, secrets: live.map(keyOf) }),
  };
};

/** Cached for as long as its endpoint. */
const keyOf = oncePer((secret: Secret): KeyObject => signingKey(secret.secret));

/** Lower case, so that none duplicates one of ours. */
const lowerCased = (headers: Endpoint['headers']): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const isSuccess = (status: number | null): boolean => status !== null && status >= 200 && status < 300;

const outcomeOf = ({ status }: Answer, retry: number | undefined): Outcome => {
  if (isSuccess(status)) return { state: 'delivered' };
  return retry === undefined ? { state: 'dead' } : { state: 'due', retryInMs: retry };
};

const GONE = 410;
/** Too many requests, or a proxy in front of a receiver that is down or overloaded. */
const BUSY = new Set([429, 502, 503, 504]);
/** Used if the response gives no time. */
const BUSY_PAUSE_MS = 2_000;

const healthOf = ({ status }: Answer, wait: number | undefined): EndpointHealth => {
  if (isSuccess(status)) return { kind: 'well' };
  if (status === GONE) return { kind: 'gone' };
  return status !== null && BUSY.has(status)
    ? { kind: 'busy', pauseMs: wait ?? BUSY_PAUSE_MS }
    : { kind: 'failing' };
};

/** The attempt as people see it: unusable for a forged request, and without values from the owner. */
const attemptOf = (
  { durationMs, status, error, headers, body }: Answer,
  sent: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string>>,
): Attempt => ({
  durationMs,
  status,
  error: error ?? (status !== null && status >= 300 && status < 400 ? 'Redirects are not followed.' : null),
  requestHeaders: Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [
      name,
      name === 'webhook-signature' ? shortened(value) : isShown(name, ours) ? value : HIDDEN_VALUE,
    ]),
  ),
  responseHeaders: Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, name === 'set-cookie' ? HIDDEN_VALUE : value]),
  ),
  responseBody: body,
});

/** Attempts are kept: they contain nothing that a person has written. */
const isShown = (name: string, ours: Readonly<Record<string, string>>): boolean =>
  Object.hasOwn(ours, name) && name !== 'ce-reason';

const SIGNATURE_SHOWN = 'v1,'.length + 8;

const shortened = (value: string): string =>
  value
    .split(' ')
    .map((signature) => `${signature.slice(0, SIGNATURE_SHOWN)}…`)
    .join(' ');

type Options = {
  readonly domain: Domain;
  /** The database of the read model. */
  readonly pool: Pick<Pool, 'query'>;
  readonly eventLog: Pick<EventLog, 'identity' | 'namesEvents' | 'read'>;
  readonly keys: Pick<KeyStore, 'obtain' | 'find'>;
  readonly settings: Pick<WebhookSettings, 'guard' | 'timeoutMs' | 'retryDelaysMs'>;
  /** The URL by which receivers know this installation. */
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly readLog?: ReadLog | undefined;
};
type Composing = Omit<Options, 'settings' | 'clock' | 'readLog'>;

/** Composes bodies from the log and what the owner may read now. */
export const openComposer = ({ domain, pool, eventLog, keys, publicUrl }: Composing): ComposeBody =>
  createComposer({
    ...{ domain, publicUrl, log: eventLog },
    open: createChangeOpener({ domain, eventLog, keys }),
    isReadable: createPresentRights({
      domain,
      run: async (text, values) => (await pool.query(text, [...values])).rows,
    }),
    isParked: createIsParked(domain, pool),
  });

export const openSender = ({ settings, clock, readLog, ...options }: Options): Sender & AsyncDisposable => {
  const poster = openPosterLater({ rules: settings.guard, timeoutMs: settings.timeoutMs });
  const compose = recordDeliveries(openComposer(options), readLog);
  return {
    ...createSender({ compose, poster, retryDelaysMs: settings.retryDelaysMs, clock }),
    [Symbol.asyncDispose]: () => poster[Symbol.asyncDispose](),
  };
};
