import type { Position } from '#kernel/base/brands.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { cursorAt } from '#shared/event-log/own-cursor.ts';
import type { Caller } from '#shared/policy.ts';
import type { Reader } from '../changes/lane.ts';
import type { Cohort } from '../changes/renderings.ts';
import type { EventStream } from './event-stream.ts';
import { idMessage } from './messages.ts';

type CursorLog = Pick<EventLog, 'identity' | 'namesEvents' | 'remembered'>;
type Options = Pick<Reader, 'cohort' | 'caller' | 'after'> & { readonly eventLog: CursorLog };

/**
 * A reader of the feed with a stream of its own, whose ids are cursors. A class, because there are ten
 * thousand.
 */
export class StreamReader implements Reader {
  readonly cohort: Cohort;
  readonly caller: Caller;
  readonly after: Position | 'now';
  readonly #stream: EventStream;
  readonly #eventLog: CursorLog;

  constructor(stream: EventStream, { cohort, caller, after, eventLog }: Options) {
    this.#stream = stream;
    this.#eventLog = eventLog;
    this.cohort = cohort;
    this.caller = caller;
    this.after = after;
  }

  get takesSeveral(): boolean {
    return true;
  }

  send(message: Buffer): Promise<void> | undefined {
    return this.#stream.send(message);
  }

  moveOn(position: Position): void {
    void this.#stream.send(idMessage(cursorAt(this.#eventLog, position)));
  }

  fail(error: unknown): void {
    this.#stream.fail(error);
  }
}

/** Sends a reader’s messages to a stream whose ids are cursors of another kind than those of the feed. */
export const outletTo = (
  stream: EventStream,
  cursorAt: (position: Position) => string,
): Pick<Reader, 'moveOn' | 'fail'> & { send(message: Buffer): Promise<void> | undefined } => ({
  send: (message) => stream.send(message),
  moveOn: (position) => void stream.send(idMessage(cursorAt(position))),
  fail: (error) => stream.fail(error),
});
