import type { LogIdentity, Position } from '#shared/brands.ts';
import { formatCursor } from '#shared/cursor.ts';
import type { Caller } from '#shared/policy.ts';
import type { Reader } from '../changes/lane.ts';
import type { Cohort } from '../changes/renderings.ts';
import type { EventStream } from './event-stream.ts';
import { idMessage } from './messages.ts';

type Options = Pick<Reader, 'cohort' | 'caller' | 'after'> & { readonly identity: LogIdentity };

/**
 * A reader of the feed with a stream of its own, whose ids are cursors. A class, because there are ten
 * thousand.
 */
export class StreamReader implements Reader {
  readonly cohort: Cohort;
  readonly caller: Caller;
  readonly after: Position | 'now';
  readonly #stream: EventStream;
  readonly #identity: LogIdentity;

  constructor(stream: EventStream, { cohort, caller, after, identity }: Options) {
    this.#stream = stream;
    this.#identity = identity;
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
    void this.#stream.send(idMessage(formatCursor(this.#identity, position)));
  }

  fail(error: unknown): void {
    this.#stream.fail(error);
  }
}
