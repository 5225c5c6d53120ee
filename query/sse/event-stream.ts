import type { Socket } from 'node:net';
import type { Request, Response } from 'express';
import { HttpProblem } from '#shared/http/http-problem.ts';
import { type Problem, problemOf } from '#shared/http/problem.ts';
import { freeParser } from './free-parser.ts';
import { letGoOf, letGoOfHeaders } from './let-go.ts';

export const EVENT_STREAM_TYPE = 'text/event-stream';

/**
 * The last bytes of a stream: with a problem, what went wrong; without one, the server is stopping and the
 * client is to come again.
 */
export type Farewell = (problem: Problem | undefined) => Buffer | undefined;

/** What a stream tells those who watch over all of them. */
export type Watch = {
  readonly bufferBytesMax: number;
  readonly farewell: Farewell;
  onOverflow(): void;
  onClose(stream: EventStream): void;
};

/**
 * One response of server-sent events, opened by `EventStreams.open`. Writes never fail and never grow without
 * bound: whoever reads too slowly is told so and closed, and after the end nothing is written.
 *
 * A class, because ten thousand of them share their methods: what each one has is what an idle connection
 * costs.
 */
export class EventStream {
  readonly request: Request;
  /** Under whom it is counted; once the connection is gone, its address cannot be asked for any more. */
  readonly owner: string;
  readonly #response: Response;
  /**
   * Messages go straight to it: the response would have nothing to do but look at each once more, which takes
   * longer than the write.
   */
  readonly #socket: Socket;
  readonly #watch: Watch;
  #state: 'open' | 'ending' | 'closed' = 'open';
  #onClose: (() => void) | undefined;
  #isQuiet = false;
  #drained: PromiseWithResolvers<void> | undefined;
  /**
   * How much the connection had taken when it was last looked at, and for how many looks that has not
   * changed.
   */
  #taken = 0;
  #looksWithoutProgress = 0;

  /**
   * Writes the headers and a first comment, so that the client knows at once that it is connected; where the
   * client has gone meanwhile, nothing, and the stream is over.
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
    // A request without a body is not read by anybody else, and its end would not be noticed.
    request.resume();
    // The body ends with the connection (RFC 9112, section 6.3): in chunks, every write would be four.
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, HEADERS);
    response.write(COMMENT);
    letGoOf(request);
    letGoOfHeaders(response);
    freeParser(request);
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Called once, when the stream is over, whoever has ended it; at once where it already is. */
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
   * The promise, if there is one, resolves once there is room again or the stream is over. Who does not wait
   * for it loses nothing until the buffer is full.
   */
  send(message: Buffer): Promise<void> | undefined {
    if (this.#state !== 'open') return undefined;
    this.#isQuiet = false;
    if (this.#socket.write(message)) return undefined;
    if (this.#socket.writableLength > this.#watch.bufferBytesMax) return this.#overflow();
    return this.#untilDrained();
  }

  /** Ends the stream after what was sent: all is said. What is not yet on its way still has some time. */
  end(last?: Buffer): void {
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    if (last === undefined) this.#response.end();
    else this.#response.end(last);
    this.#letGo();
  }

  /** Ends the stream with the reason, as the farewell writes it. An error that nobody expected is masked. */
  fail(error: unknown): void {
    this.end(this.#watch.farewell(problemOf(error)));
  }

  /** Ends the stream because the server stops. */
  stop(): void {
    this.end(this.#watch.farewell(undefined));
  }

  /**
   * Called at every beat: keeps an idle connection alive, and ends one that has not taken anything for too
   * long.
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
      this.#socket.once('drain', () => this.#letGo());
    }
    return this.#drained.promise;
  }

  #overflow(): undefined {
    this.#watch.onOverflow();
    this.fail(new HttpProblem('too_slow'));
  }

  #letGo(): void {
    this.#drained?.resolve();
    this.#drained = undefined;
  }

  #closed(): void {
    this.#state = 'closed';
    this.#letGo();
    const callback = this.#onClose;
    this.#onClose = undefined;
    this.#watch.onClose(this);
    callback?.();
  }
}

/**
 * `no-transform` keeps proxies from compressing, which would hold messages back, and the last is nginx's own
 * word for that.
 */
const HEADERS = {
  'Content-Type': `${EVENT_STREAM_TYPE}; charset=utf-8`,
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

const COMMENT = Buffer.from(':\n\n');

/** A connection that has taken nothing for so many beats has nobody at its other end. */
const STUCK_BEATS_MAX = 4;
/** What was sent last may stay on its way for so many. */
const ENDING_BEATS_MAX = 2;
