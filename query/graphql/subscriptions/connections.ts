import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import { callerOf } from '#edge/authenticate/authenticate.ts';
import type { LastingAccess } from '#edge/authenticate/resource-server.ts';
import { type Problem, problemOf } from '#edge/http/problem.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { EventStream } from '../../sse/event-stream.ts';
import type { EventStreams } from '../../sse/event-streams.ts';
import { plainClosingMessage } from '../../sse/messages.ts';
import { releaseRequest } from '../../sse/release.ts';
import { completeOfOperation, isTemporary, resultOfOperation, resultOfProblem } from '../http/messages.ts';
import { resultIn } from './cohort.ts';
import type { Subscription } from './follow.ts';
import type { Outlet } from './views.ts';

/**
 * The single connection mode: one stream for all operations of a client, each of which has a request of its
 * own.
 */
type Connections = Disposable & {
  open(token: string, request: Request, response: Response): void;
  /** Reserves a slot for an operation on the stream of a token; disposal frees it unless it is used. */
  reserve(token: string, id: string | undefined, request: Request): Slot;
  /** Ends an operation, if it still runs. */
  stop(token: string, id: string, request: Request): void;
};

export type Slot = Disposable & {
  /** Sends the result of the operation. */
  answer(result: string): void;
  /** Disposes `taken` when the subscription ends. */
  follow(subscription: Subscription, taken: DisposableStack): void;
};

/** Begins to send the messages of a subscription. */
type Join = (subscription: Subscription, outlet: Outlet) => Disposable;

type Dependencies = {
  readonly join: Join;
  readonly streams: Pick<EventStreams, 'open'>;
  /** Re-checks whether the caller is still admitted. */
  readonly access: Pick<LastingAccess, 'refusalNow' | 'onRevoked'>;
};

type Operation = { readonly request: Request; end: () => void };
type Connection = { readonly stream: EventStream; readonly operations: Map<string, Operation> };

/** The maximum per connection. */
const OPERATIONS_MAX = 100;
/** A revocation takes about this long to reach all processes. */
const RECHECK_MS = 1_000;

/**
 * 192 random bits: its holder may read the stream. It is not stored before the stream is opened, which any
 * process may do.
 */
export const createToken = (): string => randomBytes(24).toString('base64url');
const TOKEN = /^[\w-]{32}$/;

export const openConnections = ({ join, streams, access }: Dependencies): Connections => {
  const connections = new Map<string, Connection>();
  const find = (token: string, request: Request): Connection => {
    const connection = connections.get(token);
    if (!connection?.stream.isOpen || !isOwn(connection, request))
      throw new HttpProblem('not_found', { detail: 'No stream is open with this token.' });
    return connection;
  };
  const recheck = () => {
    for (const connection of connections.values()) endRefused(connection, access.refusalNow);
  };
  let rechecks: NodeJS.Timeout | undefined;
  const rest = () => {
    clearInterval(rechecks);
    rechecks = undefined;
  };
  const news = access.onRevoked(recheck);
  return {
    open(token, request, response) {
      if (!TOKEN.test(token))
        throw new HttpProblem('malformed_request', {
          detail: 'The token was not issued here: get one with PUT.',
        });
      if (connections.has(token))
        throw new HttpProblem('stream_conflict', { detail: 'A stream with this token is already open.' });
      const operations: Connection['operations'] = new Map();
      const closingMessage = (problem: Problem | undefined) => closingMessageOf(operations, problem);
      const stream = streams.open(request, response, { closingMessage });
      connections.set(token, { stream, operations });
      rechecks ??= setInterval(recheck, RECHECK_MS).unref();
      stream.onClose(() => {
        connections.delete(token);
        if (connections.size === 0) rest();
        for (const { end } of operations.values()) end();
        operations.clear();
      });
    },
    reserve: (token, id, request) => reserve(find(token, request), { id, request, join }),
    stop(token, id, request) {
      const { operations } = find(token, request);
      operations.get(id)?.end();
      operations.delete(id);
    },
    [Symbol.dispose]() {
      rest();
      news[Symbol.dispose]();
    },
  };
};

/** A browser's `EventSource` cannot send credentials; for it, the token is enough. */
const isOwn = ({ stream }: Connection, request: Request): boolean => {
  const [owner, caller] = [callerOf(stream.request), callerOf(request)];
  return owner.kind !== 'user' || (caller.kind === 'user' && caller.userId === owner.userId);
};

type Reservation = { readonly id: string | undefined; readonly request: Request; readonly join: Join };

const reserve = (connection: Connection, { id, request, join }: Reservation): Slot => {
  const { stream, operations } = connection;
  if (id === undefined)
    throw new HttpProblem('malformed_request', {
      detail: 'Send the id of the operation as extensions.operationId.',
    });
  if (operations.has(id))
    throw new HttpProblem('stream_conflict', {
      detail: 'An operation with this id is running on the stream.',
    });
  if (operations.size >= OPERATIONS_MAX)
    throw new HttpProblem('too_many_streams', {
      detail: `A stream can have at most ${OPERATIONS_MAX} operations; stop one first.`,
    });
  const operation: Operation = { request, end: () => {} };
  operations.set(id, operation);
  let isFollowed = false;
  return {
    answer(result) {
      if (operations.get(id) !== operation) return;
      void stream.send(resultOfOperation(id, Buffer.from(result)));
      void stream.send(completeOfOperation(id));
    },
    follow(subscription, taken) {
      // The client has stopped the operation before it began, or has disconnected.
      if (operations.get(id) !== operation) return taken.dispose();
      isFollowed = true;
      const membership = join(subscription, {
        send: (message) => stream.send(resultOfOperation(id, resultIn(message))),
        // Messages on this stream have no ids: those of several operations have no common order.
        moveOn: () => {},
        fail: (error) => end(connection, id, problemOf(error)),
      });
      taken.use(membership);
      operation.end = () => taken.dispose();
      // From now on, the request is needed only to re-check admission.
      releaseRequest(request);
    },
    [Symbol.dispose]() {
      if (!isFollowed && operations.get(id) === operation) operations.delete(id);
    },
  };
};

/** The last messages of an operation. */
const end = ({ stream, operations }: Connection, id: string, problem: Problem): void => {
  operations.get(id)?.end();
  operations.delete(id);
  void stream.send(lastMessagesOf(id, problem));
};

const lastMessagesOf = (id: string, problem: Problem): Buffer =>
  Buffer.concat([resultOfOperation(id, Buffer.from(resultOfProblem(problem))), completeOfOperation(id)]);

const endRefused = (connection: Connection, refusalNow: LastingAccess['refusalNow']): void => {
  for (const [id, { request }] of connection.operations) {
    const refusal = refusalNow(request);
    if (refusal !== undefined) end(connection, id, problemOf(refusal));
  }
};

/** Every operation gets the problem; for a temporary one, none is completed, and the client reconnects. */
const closingMessageOf = (
  operations: ReadonlyMap<string, Operation>,
  problem: Problem | undefined,
): Buffer | undefined =>
  problem === undefined || isTemporary(problem)
    ? plainClosingMessage(undefined)
    : Buffer.concat([...operations.keys()].map((id) => lastMessagesOf(id, problem)));
