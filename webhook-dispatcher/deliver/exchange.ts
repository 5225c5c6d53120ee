import { type Dispatcher, errors } from 'undici';
import { ANSWER_BYTES_MAX } from '#shared/webhooks/representation.ts';

type Exchanged = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

type Controller = Dispatcher.DispatchController;
type Headers = Dispatcher.ResponseData['headers'];

/** The part that is shown, plus one byte if there was more. */
const KEPT_BYTES = ANSWER_BYTES_MAX + 1;
/** Longer responses are cut off. */
const READ_BYTES_MAX = 65_536;
const NOTHING = Buffer.alloc(0);
/** More than one, because a receiver often closes several idle connections at the same time. */
const REPEATS_MAX = 3;

/**
 * One request and the start of its response, through the callbacks of undici: its streams and signals would
 * cost as much as everything else.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #settling = Promise.withResolvers<Exchanged>();
  #controller: Controller | undefined;
  #isOver = false;
  #started: Pick<Exchanged, 'status' | 'headers'> | undefined;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #readBytes = 0;
  #hasBegun = false;
  #repeats = 0;
  readonly #dispatch: (exchange: Exchange) => void;

  constructor(dispatch: (exchange: Exchange) => void) {
    this.#dispatch = dispatch;
  }

  start(): void {
    this.#dispatch(this);
  }

  /** Resolves even if the response fails after its status has arrived. */
  get answer(): Promise<Exchanged> {
    return this.#settling.promise;
  }

  /** Aborts and closes the connection. */
  cut(reason: Error): void {
    this.#end(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    // The request was cut while it waited for a connection.
    if (this.#isOver) controller.abort(new Error('the request was aborted before it was sent'));
  }

  onResponseStarted(): void {
    this.#hasBegun = true;
  }

  onResponseStart(_controller: Controller, status: number, headers: Headers): void {
    if (status >= FINAL) this.#started = { status, headers: textOf(headers) };
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    const part = chunk.subarray(0, KEPT_BYTES - this.#keptBytes);
    if (part.length > 0) this.#kept.push(part);
    this.#keptBytes += part.length;
    this.#readBytes += chunk.length;
    if (this.#readBytes > READ_BYTES_MAX) this.cut(new Error('the rest of the response is not read'));
  }

  onResponseEnd(): void {
    if (this.#started) this.#settle(this.#started);
    else this.#end(new Error('there was no final response'));
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (this.#isOver || this.#hasBegun || this.#repeats === REPEATS_MAX || !wasIdle(error)) this.#end(error);
    else {
      this.#repeats += 1;
      // Later, so that other connections that the receiver has closed are not taken.
      setImmediate(() => this.#isOver || this.start());
    }
  }

  #end(reason: Error): void {
    if (this.#started) this.#settle(this.#started);
    else if (!this.#isOver) {
      this.#isOver = true;
      this.#settling.reject(reason);
    }
  }

  #settle(started: Pick<Exchanged, 'status' | 'headers'>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // Copied, because a chunk retains the buffer from which it was read.
    this.#settling.resolve({ ...started, body: this.#keptBytes === 0 ? NOTHING : Buffer.concat(this.#kept) });
  }
}

/**
 * True if the receiver closed a connection that had answered before. It would get the next attempt anyway, so
 * it gets the request at once, on another connection. Connections that are reset do not tell whether they had.
 */
const wasIdle = (error: Error): boolean =>
  error instanceof errors.SocketError && (error.socket?.bytesRead ?? 0) > 0;

/** Lower statuses are interim responses. */
const FINAL = 200;

const textOf = (headers: Headers): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [
      name,
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  );

/** The reason for a missing response, as the owner sees it: the event, and nothing about our network. */
export const failureInWords = (error: unknown): string => {
  for (const code of codesOf(error)) {
    const words = WORDS[code] ?? FAMILIES.find(([start]) => code.startsWith(start))?.[1];
    if (words !== undefined) return words;
  }
  return 'The request failed.';
};

/** True if the receiver is not at fault: this process or machine has run out of files, memory or buffers. */
export const isOurs = (error: unknown): boolean => codesOf(error).some((code) => EXHAUSTED.has(code));

const EXHAUSTED = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS']);

const WORDS: Readonly<Record<string, string>> = {
  INSIDE_ADDRESS: 'The host name resolves to a private address, and nothing is sent to private addresses.',
  ENOTFOUND: 'The host name was not found.',
  ENODATA: 'The host name has no address.',
  EAI_AGAIN: 'The host name could not be looked up.',
  ESERVFAIL: 'The name server of the host failed.',
  EREFUSED: 'The name server of the host refused to answer.',
  ETIMEOUT: 'The name server of the host did not answer in time.',
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was interrupted.',
  EPIPE: 'The connection was interrupted.',
  UND_ERR_SOCKET: 'The connection was closed before a response arrived.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The host cannot be reached.',
  EADDRNOTAVAIL: 'The host cannot be reached.',
  ETIMEDOUT: 'The connection was not established in time.',
  UND_ERR_CONNECT_TIMEOUT: 'The connection was not established in time.',
  HTTPParserError: 'The response was not valid HTTP.',
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the response are too long.',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The length of the response differs from its Content-Length.',
  UND_ERR_INVALID_ARG: 'The request cannot be sent with these headers.',
  CERT_HAS_EXPIRED: 'The certificate of the host has expired.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the host is for another name.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate of the host is self-signed.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate of the host is not signed by a known authority.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'The certificate of the host is not signed by a known authority, or its intermediate certificates are missing.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'The certificate of the host is not signed by a known authority, or its intermediate certificates are missing.',
};

const FAMILIES: readonly (readonly [start: string, words: string])[] = [
  ['ERR_SSL', 'No secure connection could be established.'],
  ['ERR_TLS', 'No secure connection could be established.'],
  ['CERT_', 'The certificate of the host is not valid.'],
];

/**
 * The codes, or else names, of the error, of its cause, and of the attempts at several addresses that it
 * aggregates.
 */
const codesOf = (error: unknown): readonly string[] => {
  if (!(error instanceof Error)) return [];
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : [error.name];
  const parts = error instanceof AggregateError ? error.errors.flatMap(codesOf) : [];
  return [...own, ...parts, ...codesOf(error.cause)];
};
