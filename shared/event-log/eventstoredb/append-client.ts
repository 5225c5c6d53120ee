import type { AppendExpectedRevision, AppendResult, JSONEventData } from '@eventstore/db-client';
import type { Appended } from '../event-log.ts';
import { type Connection, connect } from './client.ts';
import { mayLeaveStuck, PassingFailure } from './failures.ts';

export type Request = {
  readonly stream: string;
  readonly expected: AppendExpectedRevision;
  readonly events: JSONEventData[];
};

/** An append that was stored, and which process of the server has answered so. */
export type Stored = Appended & { readonly server: symbol };

/** What the client answers, and which process of the server did. */
export type Answer = AppendResult & { readonly server: symbol };

/** One client in use, what ends the appends that wait for it, and when it last answered any of them. */
type Current = { readonly connection: Connection; readonly waiting: Set<(error: unknown) => void>; heardAtMs: number };

/**
 * The one client that appends. All its appends go over one call. If it answers nobody for a whole answer's time, the call may be dead:
 * it is replaced by a client with a call of its own, and whatever waited for it is told to try again.
 */
export class AppendClient implements AsyncDisposable {
  readonly #url: string;
  readonly #silenceMaxMs: number;
  readonly #closing = new Set<Promise<void>>();
  #current: Current;

  constructor(url: string, silenceMaxMs: number) {
    this.#url = url;
    this.#silenceMaxMs = silenceMaxMs;
    this.#current = this.#open();
  }

  /** Sends once; rejects with what the client rejects, or with a passing failure when no answer comes within the time. */
  send({ stream, expected, events }: Request, answerWithinMs: number): Promise<Answer> {
    const used = this.#current;
    const sentAtMs = performance.now();
    const { promise: answer, resolve, reject } = Promise.withResolvers<Answer>();
    const fail = (error: unknown) => {
      clearTimeout(timer);
      used.waiting.delete(fail);
      reject(error);
    };
    const onRefusal = (error: unknown) => {
      used.heardAtMs = performance.now();
      fail(error);
      if (mayLeaveStuck(error)) this.#replace(used, 'the client that appends to EventStoreDB was replaced');
    };
    const onAnswer = (result: AppendResult) => {
      used.heardAtMs = performance.now();
      clearTimeout(timer);
      used.waiting.delete(fail);
      resolve({ ...result, server: used.connection.server() });
    };
    const onSilence = () => {
      // Others that wait for the client are failed by it as well, so it names no stream.
      const why = `EventStoreDB did not answer an append within ${Math.round(answerWithinMs)} ms`;
      fail(new PassingFailure(why));
      // Others may be answered, and whoever had only the rest of its patience knows too little.
      if (used.heardAtMs < sentAtMs && answerWithinMs >= this.#silenceMaxMs) this.#replace(used, why);
    };
    const timer = setTimeout(onSilence, answerWithinMs);
    used.waiting.add(fail);
    used.connection.client.appendToStream(stream, events, { expectedRevision: expected }).then(onAnswer, onRefusal);
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#retire(this.#current, 'the event log is closed');
    await Promise.all(this.#closing);
  }

  #open(): Current {
    const connection = connect(this.#url, () => this.#replace(opened, 'EventStoreDB ended the call that carries the appends'));
    const opened: Current = { connection, waiting: new Set(), heardAtMs: Number.NEGATIVE_INFINITY };
    return opened;
  }

  #replace(used: Current, why: string): void {
    if (used !== this.#current) return;
    this.#current = this.#open();
    this.#retire(used, why);
  }

  #retire({ connection, waiting }: Current, why: string): void {
    for (const fail of [...waiting]) fail(new PassingFailure(why));
    const closing = connection.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
