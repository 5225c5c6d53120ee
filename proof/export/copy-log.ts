import type { Position } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { type EventLog, type RecordedEvent, START } from '#shared/event-log/event-log.ts';
import { readBetween } from '#shared/event-log/read-between.ts';
import type { Progress } from '#shared/projection/catch-up.ts';
import { CHAIN_START, type ChainState, extendBy } from '../chain/chain-at.ts';
import { hashOf } from '../stored/canonical.ts';
import type { Order } from './append-in-order.ts';
import { type Filled, fillLog } from './fill-log.ts';
import type { Moved } from './switch-log.ts';

type Copying = {
  readonly source: EventLog;
  readonly target: EventLog;
  readonly order: Order;
  readonly signal: AbortSignal;
  onProgress(progress: Progress): void;
};

/** Copies all present events of a log to another, in order, and compares the chains over both. */
export const copyLog = async ({
  source,
  target,
  order,
  signal,
  onProgress,
}: Copying): Promise<Filled & { readonly upTo: Position }> => {
  const upTo = await source.head();
  let state: ChainState = CHAIN_START;
  let position: Position = START;
  const events = async function* () {
    for await (const page of readBetween(source, { after: START, upTo }, signal)) {
      for (const event of page) state = extendBy(state, event);
      position = page.at(-1)?.position ?? position;
      yield page;
    }
  };
  const onEvents = (count: number) =>
    onProgress({ step: 'events', events: count, position, from: START, upTo });
  const filled = await fillLog({ target, order, signal, onEvents }, events());
  if (filled.count !== state.count || !filled.head.equals(state.head))
    throw new StartRefused(
      'The copy differs from the log: another process writes to it. Start again with an empty log.',
    );
  return { ...filled, upTo };
};

/** Yields the position of each event in a log and in its copy. */
export async function* movedBetween(source: EventLog, target: EventLog): AsyncGenerator<readonly Moved[]> {
  await using copies = new Copies(target, await target.head());
  for await (const page of readBetween(source, { after: START, upTo: await source.head() })) {
    const moved: Moved[] = [];
    for (const event of page)
      moved.push({ id: event.id, from: event.position, to: (await copies.next(event)).position });
    yield moved;
  }
}

/** Reads a copy in step with its log. */
class Copies implements AsyncDisposable {
  readonly #pages: AsyncGenerator<readonly RecordedEvent[]>;
  #page: readonly RecordedEvent[] = [];
  #taken = 0;

  constructor(target: EventLog, head: Position) {
    this.#pages = readBetween(target, { after: START, upTo: head });
  }

  async next(event: RecordedEvent): Promise<RecordedEvent> {
    if (this.#taken === this.#page.length) {
      const { value, done } = await this.#pages.next();
      [this.#page, this.#taken] = [done === true ? [] : value, 0];
    }
    const copy = this.#page[this.#taken];
    if (!copy || !hashOf(copy).equals(hashOf(event)))
      throw new StartRefused('The copy differs from the log: copy it again.');
    this.#taken += 1;
    return copy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pages.return(undefined);
  }
}
