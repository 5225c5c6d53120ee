import type { Dispatcher } from 'undici';
import { ANSWER_BYTES_MAX } from '#shared/webhooks/representation.ts';

export type Exchanged = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

type Controller = Dispatcher.DispatchController;
type Headers = Dispatcher.ResponseData['headers'];

/** What is shown, and one more byte where there was more. */
const KEPT_BYTES = ANSWER_BYTES_MAX + 1;
/** What has more than this is cut off. */
const READ_BYTES_MAX = 65_536;
const NOTHING = Buffer.alloc(0);

/** One request and the start of what comes back, by the callbacks of undici: its streams and signals would cost as much as all the rest. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #settling = Promise.withResolvers<Exchanged>();
  #controller: Controller | undefined;
  #isOver = false;
  #started: Pick<Exchanged, 'status' | 'headers'> | undefined;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #readBytes = 0;

  /** Once the status has come, it makes no difference what becomes of the rest. */
  get answer(): Promise<Exchanged> {
    return this.#settling.promise;
  }

  /** Leaves off, and closes the connection. */
  cut(reason: Error): void {
    this.#end(reason);
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    // It was cut while it waited for a connection.
    if (this.#isOver) controller.abort(new Error('nobody waits for it any more'));
  }

  onResponseStart(_controller: Controller, status: number, headers: Headers): void {
    if (status >= FINAL) this.#started = { status, headers: textOf(headers) };
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    const part = chunk.subarray(0, KEPT_BYTES - this.#keptBytes);
    if (part.length > 0) this.#kept.push(part);
    this.#keptBytes += part.length;
    this.#readBytes += chunk.length;
    if (this.#readBytes > READ_BYTES_MAX) this.cut(new Error('the rest is not read'));
  }

  onResponseEnd(): void {
    this.#end(new Error('there was no final answer'));
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#end(error);
  }

  #end(reason: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { resolve, reject } = this.#settling;
    // Copied, because a part holds on to all that was read with it.
    if (this.#started) resolve({ ...this.#started, body: this.#keptBytes === 0 ? NOTHING : Buffer.concat(this.#kept) });
    else reject(reason);
  }
}

/** Those before are only told on the way. */
const FINAL = 200;

const textOf = (headers: Headers): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value = '']) => [name, Array.isArray(value) ? value.join(', ') : value]));
