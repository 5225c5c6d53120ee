// Over 200 lines, because it is one class: the client with its appends, until each has an answer.
import { randomUUID } from 'node:crypto';
import { convertToCommandError } from '@eventstore/db-client';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js';
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { Position, Version } from '#kernel/base/brands.ts';
import type { Appended } from '#shared/event-log/event-log.ts';
import { withoutHost } from './address.ts';
import { type AppendRequest, encodeAppend } from './append-request.ts';
import { type AppendCall, type Connection, connect } from './client.ts';
import { isNotNow, mayLeaveStuck, PassingFailure } from './failures.ts';
import type { StreamPrefix } from './own-streams.ts';
import { positionAt, versionAt } from './server-positions.ts';
import { EVENT_TOO_LARGE, eventTooLargeIn, isMessageTooLarge, MessageTooLarge } from './too-large.ts';

type Request = Omit<AppendRequest, 'id' | 'deadlineMs'>;

/** A stored append, and the server process that acknowledged it. */
export type Stored = Appended & { readonly server: symbol };

/** The version that the stream has reached, and the position of the last event if the server states it. */
export type Answer = {
  readonly version: Version;
  readonly position: Position | undefined;
  readonly server: symbol;
};

/** How long an attempt may take. */
export type AttemptTime = {
  /** If the server sends nothing for so long, or passes the append over, the attempt has failed. */
  readonly answerWithinMs: number;
  /** The caller waits no longer. */
  readonly leftMs: number;
};

/** An append that waits for its response, or for its turn. */
type Waiting = PromiseWithResolvers<Answer> & {
  readonly request: Request;
  readonly answerWithinMs: number;
  readonly untilMs: number;
  timer: NodeJS.Timeout | undefined;
};

/** Its place among the appends of its client, and the time span that it waits through at the moment. */
type Sent = Waiting & { readonly place: number; sinceMs: number; spanMs: number };

/** The client in use: the call that carries its appends, and the appends that wait for a response. */
type Current = {
  readonly connection: Connection;
  readonly waiting: Map<string, Sent>;
  call: Promise<AppendCall> | undefined;
  sent: number;
  /** When it last answered any append. */
  heardAtMs: number;
  /** The latest place that it has answered. */
  answered: number;
  /** Since when it has answered nothing but that it cannot serve now. */
  notReadySinceMs: number | undefined;
};

type AppendClientOptions = {
  readonly url: string;
  readonly prefix: StreamPrefix;
  readonly silenceMaxMs: number;
  onNotReady(host: string | undefined): void;
};

/**
 * The appends that a server may hold at once. It reaches its full rate with fewer, and works through all of
 * them after an outage, also through those whose callers have given up.
 */
const IN_FLIGHT_MAX = 512;

/** A leader that is cut off from its followers refuses for as long as it is; they elect another meanwhile. */
const NOT_READY_MAX_MS = 1_000;

/**
 * The one client that appends. All its appends go over one call of its connection: requests go in, responses
 * come out, in any order. A client that answers nothing for a whole timeout, or only that it cannot serve now,
 * is replaced by another with a connection of its own, and the waiting appends fail, so that their callers
 * retry.
 */
export class AppendClient implements AsyncDisposable {
  readonly #url: string;
  readonly #prefix: StreamPrefix;
  readonly #silenceMaxMs: number;
  readonly #onNotReady: (host: string | undefined) => void;
  readonly #closing = new Set<Promise<void>>();
  readonly #queue = new Set<Waiting>();
  #current: Current;

  /** Calls `onNotReady` when it leaves a node that cannot serve: reads there may be of a leader that is none. */
  constructor({ url, prefix, silenceMaxMs, onNotReady }: AppendClientOptions) {
    this.#url = url;
    this.#prefix = prefix;
    this.#silenceMaxMs = silenceMaxMs;
    this.#onNotReady = onNotReady;
    this.#current = open(url);
  }

  /**
   * Sends once. Rejects with the error of the server or the connection, or with a passing failure if no
   * response comes in time. While the server answers others, a response is waited for: the server would work
   * through a request that was given up as well.
   */
  send(request: Request, { answerWithinMs, leftMs }: AttemptTime): Promise<Answer> {
    const waiting: Waiting = {
      ...Promise.withResolvers<Answer>(),
      request,
      answerWithinMs,
      untilMs: performance.now() + leftMs,
      timer: undefined,
    };
    if (this.#current.waiting.size < IN_FLIGHT_MAX) this.#transmit(this.#current, waiting);
    else this.#enqueue(waiting, leftMs);
    return waiting.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#retire(this.#current, 'the event log is closed');
    await Promise.all(this.#closing);
  }

  #enqueue(waiting: Waiting, leftMs: number): void {
    this.#queue.add(waiting);
    waiting.timer = setTimeout(() => {
      this.#queue.delete(waiting);
      waiting.reject(new PassingFailure(`EventStoreDB had no room for an append for ${rounded(leftMs)} ms`));
    }, leftMs);
  }

  #transmitQueued(): void {
    for (const waiting of this.#queue) {
      if (this.#current.waiting.size >= IN_FLIGHT_MAX) return;
      this.#queue.delete(waiting);
      clearTimeout(waiting.timer);
      this.#transmit(this.#current, waiting);
    }
  }

  #transmit(used: Current, waiting: Waiting): void {
    // Its timer may be late.
    if (performance.now() >= waiting.untilMs) {
      waiting.reject(new PassingFailure('EventStoreDB had no room for an append in time'));
      return;
    }
    const id = randomUUID();
    used.sent += 1;
    const sent: Sent = Object.assign(waiting, { place: used.sent, sinceMs: 0, spanMs: 0 });
    this.#wait(used, id, sent);
    used.waiting.set(id, sent);
    used.call ??= this.#openCall(used);
    used.call.then(
      (call) => {
        if (!used.waiting.has(id)) return;
        const deadlineMs = used.connection.deadlineMs();
        const { request } = waiting;
        const stream = `${this.#prefix}${request.stream}`;
        for (const message of encodeAppend({ ...request, stream, id, deadlineMs })) call.write(message);
      },
      (error: unknown) => this.#onRefusal(used, id, error),
    );
  }

  /** Answers that wait in the socket are read before an append is given up. */
  #wait(used: Current, id: string, sent: Sent): void {
    sent.sinceMs = performance.now();
    sent.spanMs = Math.max(0, Math.min(sent.answerWithinMs, sent.untilMs - sent.sinceMs));
    sent.timer = setTimeout(() => setImmediate(() => this.#onSpanEnd(used, id)), sent.spanMs);
  }

  #onSpanEnd(used: Current, id: string): void {
    const sent = used.waiting.get(id);
    if (!sent) return;
    const isHeard = used.heardAtMs >= sent.sinceMs;
    const isPassedOver = used.answered > sent.place;
    if (isHeard && !isPassedOver && performance.now() < sent.untilMs) {
      this.#wait(used, id, sent);
      return;
    }
    // The error also fails other appends that wait for the client, so the message names no stream.
    const why = `EventStoreDB did not answer an append within ${rounded(sent.spanMs)} ms`;
    fail(used, id, new PassingFailure(why));
    // A span with only the rest of a retry budget proves too little.
    if (!isHeard && Math.ceil(sent.spanMs) >= this.#silenceMaxMs) this.#replace(used, why);
    this.#transmitQueued();
  }

  #openCall(used: Current): Promise<AppendCall> {
    const opening = this.#begin(used);
    opening.catch(() => {
      used.call = undefined;
    });
    return opening;
  }

  async #begin(used: Current): Promise<AppendCall> {
    const server = Symbol('a process of EventStoreDB');
    const call = await used.connection.openAppendCall();
    let hasFailed = false;
    call.on('data', (answer: BatchAppendResp) => this.#onAnswer(used, answer, server));
    call.on('error', (error) => {
      hasFailed = true;
      this.#onFailure(used, convertToCommandError(error));
    });
    // The connection is still there, and nobody reads what would be written to the call.
    call.on('end', () => {
      if (!hasFailed) this.#replace(used, 'EventStoreDB ended the call that carries the appends');
    });
    return call;
  }

  #onAnswer(used: Current, answer: BatchAppendResp, server: symbol): void {
    used.heardAtMs = performance.now();
    const sent = settled(used, answer.getCorrelationId()?.getString() ?? '');
    // The server answers some requests twice.
    if (!sent) return;
    used.answered = Math.max(used.answered, sent.place);
    try {
      sent.resolve({ ...reachedBy(answer), server });
      used.notReadySinceMs = undefined;
    } catch (error) {
      sent.reject(error);
      this.#onRefusedAnswer(used, error);
    }
    this.#transmitQueued();
  }

  #onRefusedAnswer(used: Current, error: unknown): void {
    used.notReadySinceMs = isNotNow(error) ? (used.notReadySinceMs ?? used.heardAtMs) : undefined;
    if (used.heardAtMs - (used.notReadySinceMs ?? used.heardAtMs) < NOT_READY_MAX_MS) return;
    if (used !== this.#current) return;
    const host = used.connection.target();
    this.#replace(used, `EventStoreDB took no append for ${NOT_READY_MAX_MS} ms`, host);
    this.#onNotReady(host);
  }

  #onRefusal(used: Current, id: string, error: unknown): void {
    fail(used, id, error);
    if (mayLeaveStuck(error)) this.#replace(used, REPLACED);
    this.#transmitQueued();
  }

  /** The call has failed, and with it every append that waits on it. */
  #onFailure(used: Current, error: unknown): void {
    used.call = undefined;
    used.heardAtMs = performance.now();
    // The server does not say which message it was; no other is larger. The rest is sent again.
    if (isMessageTooLarge(error)) failLargest(used, error);
    failAll(used, error);
    if (mayLeaveStuck(error)) this.#replace(used, REPLACED);
    this.#transmitQueued();
  }

  #replace(used: Current, why: string, refusing?: string): void {
    if (used !== this.#current) return;
    this.#current = open(withoutHost(this.#url, refusing));
    this.#retire(used, why);
    this.#transmitQueued();
  }

  #retire(used: Current, why: string): void {
    failAll(used, new PassingFailure(why));
    const closing = used.connection.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

const rounded = (ms: number): number => Math.max(0, Math.round(ms));

const reachedBy = (answer: BatchAppendResp): Omit<Answer, 'server'> => {
  const error = answer.getError();
  const details = error?.getDetails();
  if (details?.getTypeName() === EVENT_TOO_LARGE) throw eventTooLargeIn(details.getValue_asU8());
  if (error && details) throw unpackToCommandError(error, streamIn(answer));
  const success = answer.getSuccess();
  if (!success)
    throw new PassingFailure(`EventStoreDB answered an append with ${error?.getMessage() ?? 'nothing'}`);
  const position = success.getPosition();
  return {
    version: versionAt(BigInt(success.getCurrentRevision())),
    position: position && positionAt({ commit: BigInt(position.getCommitPosition()) }),
  };
};

const streamIn = (answer: BatchAppendResp): string =>
  Buffer.from(answer.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString('utf8');

const REPLACED = 'the client that appends to EventStoreDB was replaced';

const open = (url: string): Current => ({
  connection: connect(url),
  waiting: new Map(),
  call: undefined,
  sent: 0,
  heardAtMs: Number.NEGATIVE_INFINITY,
  answered: 0,
  notReadySinceMs: undefined,
});

const settled = ({ waiting }: Current, id: string): Sent | undefined => {
  const settling = waiting.get(id);
  waiting.delete(id);
  clearTimeout(settling?.timer);
  return settling;
};

const fail = (used: Current, id: string, error: unknown): void => settled(used, id)?.reject(error);

const failLargest = (used: Current, cause: unknown): void => {
  const bytesOf = ({ request }: Sent): number =>
    Math.max(...encodeAppend({ ...request, id: NO_ID, deadlineMs: 0 }).map(({ length }) => length));
  const sizes = [...used.waiting].map(([id, sent]) => ({ id, bytes: bytesOf(sent) }));
  const [largest] = sizes.toSorted((one, other) => other.bytes - one.bytes);
  if (largest) fail(used, largest.id, new MessageTooLarge(largest.bytes, { cause }));
};

/** Of the usual length. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

const failAll = (used: Current, error: unknown): void => {
  for (const id of [...used.waiting.keys()]) fail(used, id, error);
};
