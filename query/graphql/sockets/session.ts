import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Request } from 'express';
import type { GraphQLFormattedError } from 'graphql';
import { CloseCode } from 'graphql-ws';
import type { RawData } from 'ws';
import { actAsCallerOf } from '#edge/authenticate/authenticate.ts';
import type { LastingAccess } from '#edge/authenticate/resource-server.ts';
import { closeResponse } from '#edge/http/upgrade.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Clock, Timer } from '#shared/clock/clock.ts';
import type { EventStreams } from '../../sse/event-streams.ts';
import { releaseRequest } from '../../sse/release.ts';
import { lastingHeaders, type Refusal, sendWithin } from './inner-request.ts';
import {
  ACKNOWLEDGED,
  type ClientMessage,
  closingLater,
  closingOf,
  closingWith,
  PONG,
  readMessage,
} from './messages.ts';
import { type Begin, Operations } from './operations.ts';
import type { GraphqlSocket } from './socket.ts';

export type SessionOptions = {
  readonly streams: Pick<EventStreams, 'admit'>;
  readonly access: Pick<LastingAccess, 'refusalNow'>;
  readonly clock: Pick<Clock, 'after' | 'elapsedMs'>;
  /** The time for the first message. */
  readonly initWithinMs: number;
  readonly begin: Begin;
};

/** The user of a connection, once it is acknowledged. */
type Identity = { readonly request: Request; readonly headers: IncomingHttpHeaders };

/** Messages that cost no unit of the rate limit: this many in a window. */
const FREE_MESSAGES_MAX = 1_000;
const WINDOW_MS = 10_000;

/** The protocol of one connection: `connection_init` with the token, then operations. */
export class Session {
  readonly #outer: Request;
  readonly #socket: GraphqlSocket;
  readonly #options: SessionOptions;
  readonly #headers: IncomingHttpHeaders;
  readonly #authorization: string | undefined;
  readonly #operations: Operations;
  readonly #deadline: Timer;
  readonly #demandFew: () => void;
  #identity: Identity | 'under way' | undefined;

  constructor(outer: Request, socket: GraphqlSocket, options: SessionOptions) {
    const { clock, initWithinMs, begin } = options;
    this.#outer = outer;
    this.#socket = socket;
    this.#options = options;
    this.#headers = lastingHeaders(outer);
    this.#authorization = outer.headers.authorization;
    this.#operations = new Operations(socket, begin);
    this.#demandFew = createCounter(clock);
    const late = { code: CloseCode.ConnectionInitialisationTimeout, reason: NO_INIT };
    this.#deadline = clock.after(initWithinMs, () => socket.close(late)).unref();
  }

  /** A message of the client. */
  take(data: RawData, isBinary: boolean): void {
    if (!this.#socket.isOpen) return;
    try {
      this.#obey(readMessage(isBinary ? '' : String(data)));
    } catch (error) {
      this.#socket.close(closingOf(error));
    }
  }

  /** The connection has closed. */
  end(): void {
    this.#deadline[Symbol.dispose]();
    this.#operations.end();
  }

  #obey(message: ClientMessage): void {
    if (message.type !== 'subscribe' || this.#operations.isFull) this.#demandFew();
    switch (message.type) {
      case 'connection_init':
        this.#init(message.payload);
        break;
      case 'ping':
        void this.#socket.answer(PONG);
        break;
      case 'pong':
        break;
      case 'subscribe':
        this.#subscribe(message);
        break;
      case 'complete':
        this.#operations.stop(message.id);
        break;
    }
  }

  #init(payload: Payload): void {
    if (this.#identity !== undefined) {
      this.#socket.close({ code: CloseCode.TooManyInitialisationRequests, reason: TWICE });
      return;
    }
    const authorization = memberOf(payload, 'authorization');
    const dpop = memberOf(payload, 'dpop');
    this.#identity = 'under way';
    sendWithin(this.#outer, {
      method: 'GET',
      headers: { ...this.#headers, ...given({ authorization, dpop }) },
      prepare: (inner) => {
        if (authorization === undefined) actAsCallerOf(inner, this.#outer);
      },
      onRefused: (refusal) => this.#socket.close(closingFor(refusal)),
      destination: (request, response) => {
        if (this.#socket.isOpen) this.#acknowledge(request, authorization ?? this.#authorization);
        closeResponse(response);
      },
    });
  }

  #acknowledge(request: Request, authorization: string | undefined): void {
    this.#options.streams.admit(request, (owner, watching) => this.#socket.lastFor(request, owner, watching));
    this.#deadline[Symbol.dispose]();
    // Composed services get the token of the caller.
    this.#identity = { request, headers: { ...this.#headers, ...given({ authorization }) } };
    releaseRequest(request);
    void this.#socket.answer(ACKNOWLEDGED);
  }

  #subscribe({ id, payload }: Extract<ClientMessage, { type: 'subscribe' }>): void {
    if (this.#identity === undefined || this.#identity === 'under way') {
      this.#socket.close({ code: CloseCode.Unauthorized, reason: TOO_EARLY });
      return;
    }
    const { request, headers } = this.#identity;
    const refusal = this.#options.access.refusalNow(request);
    if (refusal !== undefined) {
      this.#socket.close(closingLater(refusal));
      return;
    }
    const prepare = (inner: IncomingMessage) => actAsCallerOf(inner, request);
    this.#operations.start({ id, payload, outer: this.#outer, headers, prepare });
  }
}

const given = (headers: Readonly<Record<string, string | undefined>>): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));

const NO_INIT = 'Connection initialisation timeout';
const TOO_EARLY = 'Unauthorized: send connection_init, and wait for connection_ack.';
const TWICE = 'Too many initialisation requests';

type Payload = Readonly<Record<string, unknown>> | null | undefined;

/** Clients write the names of headers in either case. */
const memberOf = (payload: Payload, name: string): string | undefined => {
  for (const [given, value] of Object.entries(payload ?? {})) {
    if (given.toLowerCase() !== name || value === null || value === undefined) continue;
    if (typeof value === 'string') return value;
    throw new HttpProblem('malformed_request', { detail: `${given} of connection_init must be text.` });
  }
  return undefined;
};

const closingFor = ({ status, text }: Refusal) => {
  const [error] = (JSON.parse(text) as { readonly errors?: readonly GraphQLFormattedError[] }).errors ?? [];
  const code = String(error?.extensions?.code ?? 'refused');
  return closingWith(status, `${code}: ${error?.message ?? ''}`);
};

/** Throws if there are too many. */
const createCounter = (clock: Pick<Clock, 'elapsedMs'>): (() => void) => {
  let [startedAtMs, count] = [clock.elapsedMs(), 0];
  return () => {
    const nowMs = clock.elapsedMs();
    if (nowMs - startedAtMs > WINDOW_MS) [startedAtMs, count] = [nowMs, 0];
    count += 1;
    if (count > FREE_MESSAGES_MAX)
      throw new HttpProblem('rate_limited', {
        detail: `At most ${FREE_MESSAGES_MAX} messages that run nothing are accepted in ${WINDOW_MS / 1_000} seconds.`,
      });
  };
};
