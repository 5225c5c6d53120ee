import type { Socket } from 'node:net';
import type { Request } from 'express';
import type { WebSocket } from 'ws';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Lasting, Watching } from '../../sse/event-streams.ts';
import { type Closing, closingLater, STOPPING } from './messages.ts';

type Options = {
  readonly socket: Socket;
  readonly bufferBytesMax: number;
  /** Called once, when the connection is closed or about to. */
  readonly onClose: () => void;
};

/**
 * One connection. Writes never fail and never grow without bound: a reader that is too slow is closed, and while
 * the client has not read its answers, none of its messages are read.
 */
export class GraphqlSocket {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #bufferBytesMax: number;
  readonly #onClose: () => void;
  #lasting: { readonly watching: Watching; readonly it: Lasting } | undefined;
  #state: 'open' | 'ending' | 'closed' = 'open';
  #drained: PromiseWithResolvers<void> | undefined;
  /** Unread bytes of answers that the client asked for: they are no sign of a slow reader. */
  #answerBytes = 0;
  #isQuiet = false;
  #isPaused = false;
  #unanswered: Buffer | undefined;
  #taken = 0;
  #looksWithoutProgress = 0;
  #looksWithoutPong = 0;

  constructor(webSocket: WebSocket, { socket, bufferBytesMax, onClose }: Options) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#bufferBytesMax = bufferBytesMax;
    this.#onClose = onClose;
    webSocket.on('close', () => this.#closed());
    webSocket.on('pong', () => {
      this.#looksWithoutPong = 0;
    });
    webSocket.on('ping', (data) => this.#answerPing(data));
    // Always followed by a close, with the code that says what was wrong.
    webSocket.on('error', () => {});
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** From now on, it counts as a stream of its owner. */
  lastFor(request: Request, owner: string, watching: Watching): Lasting {
    const socket = this;
    const it: Lasting = {
      request,
      owner,
      get isOpen() {
        return socket.isOpen;
      },
      beat: () => socket.#beat(),
      fail: (error) => socket.close(closingLater(error)),
      stop: () => socket.close(STOPPING),
    };
    this.#lasting = { watching, it };
    return it;
  }

  /** A message of a subscription. A promise asks to wait until there is room. */
  send(message: Buffer | string): Promise<void> | undefined {
    if (this.#state !== 'open') return undefined;
    this.#isQuiet = false;
    this.#webSocket.send(message, TEXT);
    if (!this.#socket.writableNeedDrain) return undefined;
    if (this.#socket.writableLength - this.#answerBytes > this.#bufferBytesMax) return this.#overflow();
    return this.#untilDrained();
  }

  /** The answer to a message of the client, which may be large: resolves once most of it is sent. */
  answer(message: string): Promise<void> | undefined {
    if (this.#state !== 'open') return undefined;
    const before = this.#socket.writableLength;
    this.#webSocket.send(message, TEXT);
    if (!this.#socket.writableNeedDrain) return undefined;
    this.#answerBytes += Math.max(0, this.#socket.writableLength - before);
    this.#pause();
    return this.#untilDrained();
  }

  close({ code, reason }: Closing): void {
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    this.#looksWithoutProgress = 0;
    this.#resume();
    this.#webSocket.close(code, reason);
    this.#onClose();
    this.#endWait();
  }

  terminate(): void {
    this.#webSocket.terminate();
  }

  /** Called at every beat: keeps the connection alive, and closes one whose client has gone or reads nothing. */
  #beat(): void {
    const { bytesWritten, writableLength } = this.#socket;
    const isStuck = writableLength > 0 && bytesWritten - writableLength === this.#taken;
    this.#looksWithoutProgress = isStuck ? this.#looksWithoutProgress + 1 : 0;
    this.#taken = bytesWritten - writableLength;
    if (this.#state === 'ending' && this.#looksWithoutProgress >= ENDING_BEATS_MAX) this.terminate();
    if (this.#state !== 'open') return;
    if (this.#looksWithoutProgress >= BEATS_MAX) this.#overflow();
    else if (this.#looksWithoutPong >= BEATS_MAX) this.terminate();
    else if (this.#isQuiet && !isStuck) {
      this.#webSocket.ping();
      this.#looksWithoutPong += 1;
    }
    this.#isQuiet = true;
  }

  /** A client that does not read gets one pong, for its last ping (RFC 6455, section 5.5.3). */
  #answerPing(data: Buffer): void {
    if (this.#socket.writableNeedDrain) {
      this.#unanswered = data;
      void this.#untilDrained();
    } else this.#webSocket.pong(data);
  }

  #overflow(): undefined {
    this.#lasting?.watching.onOverflow();
    this.close(closingLater(new HttpProblem('too_slow')));
  }

  #untilDrained(): Promise<void> {
    if (this.#drained === undefined) {
      this.#drained = Promise.withResolvers<void>();
      this.#socket.once('drain', () => {
        this.#answerBytes = 0;
        this.#resume();
        this.#endWait();
        const data = this.#unanswered;
        this.#unanswered = undefined;
        if (data) this.#answerPing(data);
      });
    }
    return this.#drained.promise;
  }

  #pause(): void {
    if (!this.#isPaused) this.#webSocket.pause();
    this.#isPaused = true;
  }

  #resume(): void {
    if (this.#isPaused) this.#webSocket.resume();
    this.#isPaused = false;
  }

  #endWait(): void {
    this.#drained?.resolve();
    this.#drained = undefined;
  }

  #closed(): void {
    const wasOpen = this.#state === 'open';
    this.#state = 'closed';
    this.#endWait();
    if (wasOpen) this.#onClose();
    if (this.#lasting) this.#lasting.watching.onClose(this.#lasting.it);
    this.#lasting = undefined;
  }
}

const TEXT = { binary: false } as const;

/** A connection that has read nothing, or answered no ping, for this number of beats is dead. */
const BEATS_MAX = 4;
/** After the end, unsent bytes get this number of beats. */
const ENDING_BEATS_MAX = 2;
