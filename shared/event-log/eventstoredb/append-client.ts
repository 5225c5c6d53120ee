import { randomUUID } from 'node:crypto';
import { convertToCommandError } from '@eventstore/db-client';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js';
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { Position, Version } from '#shared/brands.ts';
import type { Appended } from '../event-log.ts';
import { type AppendRequest, encodeAppend } from './append-request.ts';
import { type AppendCall, type Connection, connect } from './client.ts';
import { mayLeaveStuck, PassingFailure } from './failures.ts';
import { positionAt, versionAt } from './server-positions.ts';

export type Request = Omit<AppendRequest, 'id' | 'deadlineMs'>;

/** A stored append, and the server process that acknowledged it. */
export type Stored = Appended & { readonly server: symbol };

/** The version that the stream has reached, and the position of the last event if the server states it. */
export type Answer = {
  readonly version: Version;
  readonly position: Position | undefined;
  readonly server: symbol;
};

type Waiting = PromiseWithResolvers<Answer> & { readonly timer: NodeJS.Timeout };

/**
 * The client in use: the call that carries its appends, the appends that wait for a response, and when it
 * last answered any of them.
 */
type Current = {
  readonly connection: Connection;
  readonly waiting: Map<string, Waiting>;
  call: Promise<AppendCall> | undefined;
  heardAtMs: number;
};

/**
 * The one client that appends. All its appends go over one call of its connection: requests go in, responses
 * come out, in any order. A call that answers nothing for a whole timeout may be dead: a client with a call
 * of its own replaces it, and the waiting appends fail, so that their callers retry.
 */
export class AppendClient implements AsyncDisposable {
  readonly #url: string;
  readonly #silenceMaxMs: number;
  readonly #closing = new Set<Promise<void>>();
  #current: Current;

  constructor(url: string, silenceMaxMs: number) {
    this.#url = url;
    this.#silenceMaxMs = silenceMaxMs;
    this.#current = open(url);
  }

  /**
   * Sends once. Rejects with the error of the server or the connection, or with a passing failure if no
   * response comes in time.
   */
  send(request: Request, answerWithinMs: number): Promise<Answer> {
    const used = this.#current;
    const id = randomUUID();
    const sentAtMs = performance.now();
    const timer = setTimeout(() => this.#onSilence(used, id, { sentAtMs, answerWithinMs }), answerWithinMs);
    const waiting = { ...Promise.withResolvers<Answer>(), timer };
    used.waiting.set(id, waiting);
    used.call ??= this.#openCall(used);
    used.call.then(
      (call) => {
        if (!used.waiting.has(id)) return;
        for (const message of encodeAppend({ ...request, id, deadlineMs: used.connection.deadlineMs() }))
          call.write(message);
      },
      (error: unknown) => this.#onRefusal(used, id, error),
    );
    return waiting.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#retire(this.#current, 'the event log is closed');
    await Promise.all(this.#closing);
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
    const waiting = settled(used, answer.getCorrelationId()?.getString() ?? '');
    // The server answers some requests twice.
    if (!waiting) return;
    try {
      waiting.resolve({ ...reachedBy(answer), server });
    } catch (error) {
      waiting.reject(error);
    }
  }

  #onRefusal(used: Current, id: string, error: unknown): void {
    fail(used, id, error);
    if (mayLeaveStuck(error)) this.#replace(used, REPLACED);
  }

  /** The call has failed, and with it every append that waits on it. */
  #onFailure(used: Current, error: unknown): void {
    used.call = undefined;
    used.heardAtMs = performance.now();
    failAll(used, error);
    if (mayLeaveStuck(error)) this.#replace(used, REPLACED);
  }

  #onSilence(
    used: Current,
    id: string,
    { sentAtMs, answerWithinMs }: { sentAtMs: number; answerWithinMs: number },
  ): void {
    // It also fails other appends that wait for the client, so the message names no stream.
    const why = `EventStoreDB did not answer an append within ${Math.round(answerWithinMs)} ms`;
    fail(used, id, new PassingFailure(why));
    // Others may be answered, and an append with only the rest of its retry budget proves too little.
    if (used.heardAtMs < sentAtMs && answerWithinMs >= this.#silenceMaxMs) this.#replace(used, why);
  }

  #replace(used: Current, why: string): void {
    if (used !== this.#current) return;
    this.#current = open(this.#url);
    this.#retire(used, why);
  }

  #retire(used: Current, why: string): void {
    failAll(used, new PassingFailure(why));
    const closing = used.connection.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

const reachedBy = (answer: BatchAppendResp): Omit<Answer, 'server'> => {
  const error = answer.getError();
  if (error?.hasDetails()) throw unpackToCommandError(error, streamIn(answer));
  const success = answer.getSuccess();
  if (!success)
    throw new PassingFailure(`EventStoreDB answered an append with ${error?.getMessage() ?? 'nothing'}`);
  const position = success.getPosition();
  return {
    version: versionAt(BigInt(success.getCurrentRevision())),
    position:
      position &&
      positionAt({
        commit: BigInt(position.getCommitPosition()),
        prepare: BigInt(position.getPreparePosition()),
      }),
  };
};

const streamIn = (answer: BatchAppendResp): string =>
  Buffer.from(answer.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString('utf8');

const REPLACED = 'the client that appends to EventStoreDB was replaced';

const open = (url: string): Current => ({
  connection: connect(url),
  waiting: new Map(),
  call: undefined,
  heardAtMs: Number.NEGATIVE_INFINITY,
});

const settled = ({ waiting }: Current, id: string): Waiting | undefined => {
  const settling = waiting.get(id);
  waiting.delete(id);
  clearTimeout(settling?.timer);
  return settling;
};

const fail = (used: Current, id: string, error: unknown): void => settled(used, id)?.reject(error);

const failAll = (used: Current, error: unknown): void => {
  for (const id of [...used.waiting.keys()]) fail(used, id, error);
};
