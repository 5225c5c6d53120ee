import type { Request, Response } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import type { RevocationListener } from '#edge/authenticate/revocations.ts';
import { clientAddress } from '#edge/http/client-address.ts';
import { countNoLonger } from '#edge/http/shed-load.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { Counter, Gauge, type Registry } from '#shared/prometheus.ts';
import { type ClosingMessage, EventStream, type Watch } from './event-stream.ts';
import { plainClosingMessage } from './messages.ts';
import { every, forEach } from './rounds.ts';

/** A response that lasts: a stream of server-sent events, or a WebSocket. */
export type Lasting = Pick<EventStream, 'request' | 'owner' | 'isOpen' | 'beat' | 'fail' | 'stop'>;

/** The reports of a lasting response. */
export type Watching = {
  onOverflow(): void;
  onClose(lasting: Lasting): void;
};

/**
 * All streams of this process: of server-sent events, and those of WebSockets.
 *
 *     const stream = streams.open(request, response); // The last step that may refuse.
 *     const send = (message) => stream.send(message);
 *     const membership = feed.join({ …, send, fail: (error) => stream.fail(error) });
 *     stream.onClose(() => membership[Symbol.dispose]());
 */
export type EventStreams = AsyncDisposable & {
  /**
   * Turns the response, which must not have begun, into a stream. Throws 429 if the owner (the user, or an
   * anonymous caller’s address) has too many, and 503 if it cannot begin now. If the client has gone, the
   * stream is closed already.
   */
  open(
    request: Request,
    response: Response,
    options?: { readonly closingMessage?: ClosingMessage },
  ): EventStream;
  /** The same for a response that `begin` makes, which counts for the owner and ends with the others. */
  admit<Begun extends Lasting>(request: Request, begin: (owner: string, watching: Watching) => Begun): Begun;
  /** Ends all streams and refuses new ones. Clients reconnect, to another process or the next. */
  drain(): void;
};

export type EventStreamsOptions = {
  readonly heartbeatMs: number;
  /** The limit per owner, in this process. */
  readonly perOwnerMax: number;
  /** The bytes that may wait for one client before it counts as too slow. */
  readonly bufferBytesMax: number;
  readonly metrics: Registry;
  /** The reason why the caller of a stream is no longer admitted; undefined if they are. */
  readonly refusalNow?: (request: Request) => unknown;
  /** Notifies of revocations, for one user or for all. */
  readonly onRevoked?: (listener: RevocationListener) => Disposable;
  /** The interval of further checks, because tokens expire. */
  readonly recheckMs?: number;
};

/** A revocation takes about this long to reach all processes. */
const RECHECK_MS = 1_000;
const RETRY_AFTER_SECONDS = '10';

export const openEventStreams = (options: EventStreamsOptions): EventStreams => {
  const { perOwnerMax, heartbeatMs, refusalNow = () => undefined, recheckMs = RECHECK_MS } = options;
  const streams = new Set<Lasting>();
  const owners = new Map<string, number>();
  const { overflows } = observeStreams(options.metrics, () => streams.size);
  let isDraining = false;

  const onClose = (stream: Lasting): void => {
    streams.delete(stream);
    const others = (owners.get(stream.owner) ?? 1) - 1;
    if (others === 0) owners.delete(stream.owner);
    else owners.set(stream.owner, others);
  };
  const watching: Watching = { onOverflow: () => overflows.inc(), onClose };
  const watchWith = (closingMessage: ClosingMessage): Watch => ({
    bufferBytesMax: options.bufferBytesMax,
    closingMessage,
    ...watching,
  });
  // One watch for all streams with the same closing message.
  const watches = new WeakMap<ClosingMessage, Watch>();

  const beats = every(heartbeatMs, streams, () => forEach(streams, (stream) => stream.beat()));
  const checkAll = () => forEach(streams, (stream) => endIfRefused(stream, refusalNow));
  const checks = every(recheckMs, streams, checkAll);
  const news = options.onRevoked?.((userId) => {
    if (userId === undefined) return void checkAll();
    // At once, because the user may have no right to the next change.
    const theirs = ownerNamed(userId);
    for (const stream of streams) if (stream.owner === theirs) endIfRefused(stream, refusalNow);
  });
  const drain = (): void => {
    isDraining = true;
    for (const stream of streams) stream.stop();
  };

  const admit: EventStreams['admit'] = (request, begin) => {
    if (isDraining) throw new HttpProblem('unavailable', { headers: { 'Retry-After': '1' } });
    const owner = ownerOf(request);
    const open = owners.get(owner) ?? 0;
    if (open >= perOwnerMax)
      throw new HttpProblem('too_many_streams', {
        detail: `At most ${perOwnerMax} streams can be open at once; close one first.`,
        headers: { 'Retry-After': RETRY_AFTER_SECONDS },
      });
    const stream = begin(owner, watching);
    if (!stream.isOpen) return stream;
    owners.set(owner, open + 1);
    streams.add(stream);
    beats.begin();
    checks.begin();
    return stream;
  };

  return {
    admit,
    open(request, response, { closingMessage = plainClosingMessage } = {}) {
      if (isBehindAnother(response))
        throw new HttpProblem('unavailable', { detail: BEHIND_ANOTHER, headers: { 'Retry-After': '1' } });
      const watch = watches.get(closingMessage) ?? watchWith(closingMessage);
      watches.set(closingMessage, watch);
      const stream = admit(request, (owner) => new EventStream(request, response, { owner, watch }));
      if (stream.isOpen) countNoLonger(request);
      return stream;
    },
    drain,
    async [Symbol.asyncDispose]() {
      drain();
      beats.end();
      checks.end();
      news?.[Symbol.dispose]();
    },
  };
};

/** Of pipelined requests, only the first has a socket to write to. */
const isBehindAnother = ({ socket, destroyed }: Response): boolean => socket === null && !destroyed;

const BEHIND_ANOTHER =
  'The response to an earlier request is still being sent on this connection: wait for its end, or use another connection.';

/** The owner that a client’s streams count for. */
export const ownerOf = (request: Request): string => {
  const caller = callerOf(request);
  return caller.kind === 'user' ? ownerNamed(caller.userId) : clientAddress(request);
};

const ownerNamed = (userId: number): string => `user ${userId}`;

const endIfRefused = (stream: Lasting, refusalNow: (request: Request) => unknown): void => {
  const refusal = stream.isOpen ? refusalNow(stream.request) : undefined;
  if (refusal !== undefined) stream.fail(refusal);
};

const observeStreams = (registry: Registry, count: () => number): { readonly overflows: Counter } => {
  new Gauge({
    name: 'annals_event_streams',
    help: 'Open streams of server-sent events, and WebSockets.',
    registers: [registry],
    collect() {
      this.set(count());
    },
  });
  const overflows = new Counter({
    name: 'annals_event_stream_overflows_total',
    help: 'Streams closed because the client read too slowly.',
    registers: [registry],
  });
  return { overflows };
};
