import type { Socket } from 'node:net';
import type { Request, Response } from 'express';
import { type Problem, problemOf } from '#edge/http/problem.ts';
import { recordMessages } from '#edge/read-log/recorded.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { freeParser } from './free-parser.ts';
import { releaseHeaders, releaseRequest } from './release.ts';

export const EVENT_STREAM_TYPE = 'text/event-stream';

/**
 * The last bytes of a stream: the problem, or, without one, that the server is stopping and the client should
 * reconnect.
 */
export type ClosingMessage = (problem: Problem | undefined) => Buffer | undefined;

/** Callbacks of a stream to the registry of all streams. */
export type Watch = {
  readonly bufferBytesMax: number;
  readonly closingMessage: ClosingMessage;
  onOverflow(): void;
  onClose(stream: EventStream): void;
};

/**
 * One response of server-sent events, opened by `EventStreams.open`. Writes never fail and never grow without
 * bound: a reader that is too slow gets a problem and is closed, and nothing is written after the end.
 *
 * A class, because ten thousand streams share their methods: the size of each is what an idle connection
 * costs.
 */
export class EventStream {
  readonly request: Request;
  /** The owner it counts for. Kept, because the address is no longer known once the connection is gone. */
  readonly owner: string;
  readonly #response: Response;
  /**
   * Messages are written directly to the socket: the response would only inspect each one again, which takes
   * longer than the write.
   */
  readonly #socket: Socket;
  readonly #watch: Watch;
  #state: 'open' | 'ending' | 'closed' = 'open';
  #onClose: (() => void) | undefined;
  #isQuiet = false;
  #drained: PromiseWithResolvers<void> | undefined;
  /** The bytes that the connection had taken at the last beat, and the number of beats without progress. */
  #taken = 0;
  #looksWithoutProgress = 0;

  /**
   * Writes the headers and a first comment, so that the client knows at once that it is connected. If the
   * client has gone, it writes nothing, and the stream is closed.
   */
  constructor(
    request: Request,
    response: Response,
    { owner, watch }: { readonly owner: string; readonly watch: Watch },
  ) {
    this.request = request;
    this.owner = owner;
    this.#response = response;
    this.#watch = watch;
    this.#socket = request.socket;
    if (response.destroyed) {
      this.#state = 'closed';
      return;
    }
    response.on('close', () => this.#closed());
    // Nothing else reads a request without a body, and without reading it the end of the connection would go
    // unnoticed.
    request.resume();
    recordMessages(request);
    // The body ends with the connection (RFC 9112, section 6.3). With chunks, every write would become four.
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, HEADERS);
    response.write(COMMENT);
    releaseRequest(request);
    releaseHeaders(response);
    freeParser(request);
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Called once when the stream is closed, by either side; at once if it already is. */
  onClose(callback: () => void): void {
    if (this.#state === 'closed') callback();
    else {
      const before = this.#onClose;
      this.#onClose =
        before === undefined
          ? callback
          : () => {
              before();
              callback();
            };
    }
  }

  /**
   * Writes whole messages, each with its empty line at the end; the buffer may be shared and must not change.
   * If it returns a promise, that resolves when there is room again or the stream is closed. A caller that
   * does not wait loses nothing until the buffer is full.
   */
  send(message: Buffer): Promise<void> | undefined {
    if (this.#state !== 'open') return undefined;
    this.#isQuiet = false;
    if (this.#socket.write(message)) return undefined;
    if (this.#socket.writableLength > this.#watch.bufferBytesMax) return this.#overflow();
    return this.#untilDrained();
  }

  /** Ends the stream after what was sent. Unsent bytes get some time. */
  end(last?: Buffer): void {
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    if (last === undefined) this.#response.end();
    else this.#response.end(last);
    this.#endWait();
  }

  /** Ends the stream with a problem, formatted as the closing message. An unexpected error is masked. */
  fail(error: unknown): void {
    this.end(this.#watch.closingMessage(problemOf(error)));
  }

  /** Ends the stream because the server stops. */
  stop(): void {
    this.end(this.#watch.closingMessage(undefined));
  }

  /**
   * Called at every beat: keeps an idle connection alive, and closes one that has taken nothing for too long.
   */
  beat(): void {
    const { bytesWritten, writableLength } = this.#socket;
    const isStuck = writableLength > 0 && bytesWritten - writableLength === this.#taken;
    this.#looksWithoutProgress = isStuck ? this.#looksWithoutProgress + 1 : 0;
    this.#taken = bytesWritten - writableLength;
    if (this.#state === 'ending' && this.#looksWithoutProgress >= ENDING_BEATS_MAX) this.#response.destroy();
    if (this.#state !== 'open') return;
    if (this.#looksWithoutProgress >= STUCK_BEATS_MAX) void this.#overflow();
    else if (this.#isQuiet && !isStuck) this.#socket.write(COMMENT);
    this.#isQuiet = true;
  }

  #untilDrained(): Promise<void> {
    if (this.#drained === undefined) {
      this.#drained = Promise.withResolvers<void>();
      this.#socket.once('drain', () => this.#endWait());
    }
    return this.#drained.promise;
  }

  #overflow(): undefined {
    this.#watch.onOverflow();
    this.fail(new HttpProblem('too_slow'));
  }

  #endWait(): void {
    this.#drained?.resolve();
    this.#drained = undefined;
  }

  #closed(): void {
    this.#state = 'closed';
    this.#endWait();
    const callback = this.#onClose;
    this.#onClose = undefined;
    this.#watch.onClose(this);
    callback?.();
  }
}

/**
 * `no-transform` keeps proxies from compressing, which would delay messages; `X-Accel-Buffering` is for
 * nginx.
 */
const HEADERS = {
  'Content-Type': `${EVENT_STREAM_TYPE}; charset=utf-8`,
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

const COMMENT = Buffer.from(':\n\n');

/** A connection that has read nothing for this number of beats is dead. */
const STUCK_BEATS_MAX = 4;
/** After the end, unsent bytes get this number of beats. */
const ENDING_BEATS_MAX = 2;
