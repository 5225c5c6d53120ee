import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import { type GraphQLFormattedError, OperationTypeNode } from 'graphql';
import { CloseCode } from 'graphql-ws';
import { inSequence } from '#edge/http/in-sequence.ts';
import { problemOf } from '#edge/http/problem.ts';
import { closeResponse } from '#edge/http/upgrade.ts';
import { recordNow } from '#edge/read-log/recorded.ts';
import type { Position } from '#kernel/base/brands.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import { cursorAt, type SeeingLog } from '#shared/event-log/own-cursor.ts';
import type { Answer } from '../http/answer.ts';
import type { Exchange } from '../http/endpoint.ts';
import { isTemporary } from '../http/messages.ts';
import { bodyParameters } from '../http/parameters.ts';
import { formatProblem } from '../rules/errors.ts';
import type { Slot } from '../subscriptions/connections.ts';
import type { Subscriptions } from '../subscriptions/service.ts';
import { type InnerRequest, type Refusal, sendWithin } from './inner-request.ts';
import { closingLater, completeOf, errorOf, movedTo, resultFrom, resultOf } from './messages.ts';
import type { GraphqlSocket } from './socket.ts';

/** Runs the operations, as over HTTP. */
export type Begin = {
  readonly endpoint: (exchange: Exchange) => Promise<Answer>;
  readonly join: Subscriptions['join'];
  /** Runs before every operation. */
  readonly before: readonly RequestHandler[];
  readonly eventLog: SeeingLog;
};

/** A message that starts an operation. */
type Started = {
  readonly id: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly outer: Request;
  readonly headers: IncomingHttpHeaders;
  readonly prepare: (inner: IncomingMessage) => void;
};

type Operation = { end: () => void };

/** The maximum per connection. */
const OPERATIONS_MAX = 100;
const ALL: ReadonlySet<OperationTypeNode> = new Set(Object.values(OperationTypeNode));

/** The operations of one connection. */
export class Operations {
  readonly #running = new Map<string, Operation>();
  readonly #socket: GraphqlSocket;
  readonly #begin: Begin;

  constructor(socket: GraphqlSocket, begin: Begin) {
    this.#socket = socket;
    this.#begin = begin;
  }

  /** Whether it refuses another one, without a request that would count for the rate limit. */
  get isFull(): boolean {
    return this.#running.size >= OPERATIONS_MAX;
  }

  start(message: Started): void {
    const { id, payload, outer, prepare } = message;
    if (this.#running.has(id)) {
      this.#socket.close({ code: CloseCode.SubscriberAlreadyExists, reason: TAKEN });
      return;
    }
    if (this.isFull) return void this.#socket.answer(errorOf(id, [formatProblem(TOO_MANY)]));
    const inner: { request?: InnerRequest } = {};
    const operation: Operation = { end: () => inner.request?.close() };
    this.#running.set(id, operation);
    inner.request = sendWithin(outer, {
      method: 'POST',
      headers: { ...message.headers, ...headersIn(payload) },
      prepare,
      onRefused: (refusal) => this.#finish(id, operation, errorOf(id, errorsIn(refusal))),
      destination: inSequence([
        ...this.#begin.before,
        (request, response) => this.#run(message, operation, { request, response }),
      ]),
    });
  }

  stop(id: string): void {
    const operation = this.#running.get(id);
    this.#running.delete(id);
    operation?.end();
  }

  /** Stops all, because the connection has closed. */
  end(): void {
    const all = [...this.#running.values()];
    this.#running.clear();
    for (const { end } of all) end();
  }

  async #run(
    { id, payload }: Started,
    operation: Operation,
    exchange: { readonly request: Request; readonly response: Response },
  ): Promise<void> {
    const parameters = bodyParameters(payload);
    const slot = this.#slotFor(id, operation);
    const [text] = await this.#begin.endpoint({ ...exchange, parameters, types: ALL, slot });
    await recordNow(exchange.request);
    if (text !== null && this.#isRunning(id, operation)) {
      // Its bytes count as those of a response until the client has read them.
      await this.#socket.answer(resultOf(id, text));
      this.#finish(id, operation, completeOf(id));
    }
    closeResponse(exchange.response);
  }

  #slotFor(id: string, operation: Operation): Slot {
    const { join, eventLog } = this.#begin;
    return {
      answer: () => {},
      follow: (subscription, taken) => {
        if (!this.#isRunning(id, operation)) return taken.dispose();
        operation.end = () => taken.dispose();
        const cursorOf =
          'cursorAt' in subscription
            ? subscription.cursorAt
            : (position: Position) => cursorAt(eventLog, position);
        const membership = join(subscription, {
          send: (message) => this.#socket.send(resultFrom(id, message)),
          moveOn: (position) => void this.#socket.send(movedTo(id, cursorOf(position))),
          fail: (error) => this.#fail(id, operation, error),
        });
        if (taken.disposed) membership[Symbol.dispose]();
        else taken.use(membership);
      },
      [Symbol.dispose]: () => {},
    };
  }

  #fail(id: string, operation: Operation, error: unknown): void {
    const problem = problemOf(error);
    // Clients connect again, and resume all their operations.
    if (isTemporary(problem)) this.#socket.close(closingLater(error));
    else this.#finish(id, operation, errorOf(id, [formatProblem(problem.body)]));
  }

  /** Sends the last message of an operation, unless the client has stopped it. */
  #finish(id: string, operation: Operation, last: string): void {
    if (!this.#isRunning(id, operation)) return;
    this.#running.delete(id);
    operation.end();
    void this.#socket.answer(last);
  }

  #isRunning(id: string, operation: Operation): boolean {
    return this.#running.get(id) === operation;
  }
}

const TAKEN = 'Subscriber already exists: use another id.';

const { body: TOO_MANY } = problemOf(
  new HttpProblem('too_many_streams', {
    detail: `A connection can have at most ${OPERATIONS_MAX} operations; end one first.`,
  }),
);

/** The headers of a request over HTTP, which an operation has in its `extensions`. */
const HEADERS = {
  idempotencyKey: 'idempotency-key',
  consistencyToken: 'consistency-token',
  traceparent: 'traceparent',
} as const;

const headersIn = ({ extensions }: Started['payload']): IncomingHttpHeaders => {
  const given = (extensions ?? {}) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(HEADERS).flatMap(([name, header]) =>
      typeof given[name] === 'string' ? [[header, given[name]]] : [],
    ),
  );
};

/** There are no headers to say when to try again. */
const errorsIn = ({ text, retryAfter }: Refusal): readonly GraphQLFormattedError[] => {
  const { errors = [] } = JSON.parse(text) as { readonly errors?: readonly GraphQLFormattedError[] };
  if (retryAfter === undefined) return errors;
  return errors.map((error) => ({
    ...error,
    extensions: { ...error.extensions, retryAfterSeconds: Number(retryAfter) },
  }));
};
