// Over 200 lines, because it is one feed: the subscribers of views, and the messages that each gets.

import type { Position } from '#kernel/base/brands.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { START } from '#shared/event-log/event-log.ts';
import type { Notifier } from '#shared/notifier.ts';
import type { Row } from '../rows/sources.ts';
import {
  type ChangedPage,
  readAllRows,
  readChangedRows,
  readViewStates,
  type ViewState,
  type ViewStates,
  type WhoseRows,
} from './changed-rows.ts';
import { viewSourcesOf } from './source.ts';

/** A message of a view: start over, a row as it is now, or a removed row. */
type ViewMessage =
  | { readonly type: 'reset'; readonly row?: undefined }
  | { readonly type: 'changed' | 'removed'; readonly row: Row };

export type ViewReader = WhoseRows & {
  /** The last position that the reader has; undefined sends all rows. */
  readonly after: Position | undefined;
  /** Renders a message after which the reader can resume from a position. */
  render(message: ViewMessage, position: Position): Promise<Buffer> | Buffer;
  /** A promise asks to wait until there is room. */
  send(message: Buffer): Promise<void> | undefined;
  /** There is nothing more for the reader up to this position. */
  moveOn(position: Position): void;
  /** The last call: further changes cannot be delivered. */
  fail(error: unknown): void;
};

/**
 * The streams of views of this process. No row is kept in memory: a reader gets the current state of the rows
 * that changed after the last it has. So slow readers get fewer messages, and returning ones resume with the
 * same statement.
 *
 *     using membership = views.follow({ source, caller, equal, joined, after, render, send, moveOn, fail });
 */
export type ViewFeed = AsyncDisposable & { follow(reader: ViewReader): Disposable };

type Options = {
  readonly domain: Domain;
  readonly pool: Pool;
  /** Notifies when the read model has advanced. */
  readonly notifier: Pick<Notifier, 'notified' | 'wait'>;
  /** The interval at which idle readers get their position. */
  readonly moveOnMs: number;
  readonly clock: Clock;
};

/** The polling interval while notifications are unavailable. */
const POLL_MS = 200;
/** Under steady writing, several commits share one round. */
const REST_MS = 20;

type Seat = {
  readonly reader: ViewReader;
  /** The reader has everything up to here; undefined if it needs all rows. */
  position: Position | undefined;
  generation: string | undefined;
  /** The last position sent to the reader. */
  sentUpTo: Position | undefined;
  isRunning: boolean;
};

export const openViewFeed = ({ domain, pool, notifier, moveOnMs, clock }: Options): ViewFeed => {
  const sources = viewSourcesOf(domain);
  const seats = new Set<Seat>();
  const closed = new AbortController();
  let isLooking = false;
  let states: ViewStates = new Map();

  const run = async (seat: Seat): Promise<void> => {
    if (seat.isRunning) return;
    seat.isRunning = true;
    try {
      const state = states.get(seat.reader.source.view.table);
      if (state !== undefined) await advance({ pool, isOpen: () => seats.has(seat) }, seat, state);
    } catch (error) {
      // Returning clients retry after a temporary error.
      if (seats.delete(seat)) seat.reader.fail(error);
    } finally {
      seat.isRunning = false;
    }
  };
  const look = async (): Promise<void> => {
    isLooking = true;
    while (seats.size > 0 && !closed.signal.aborted) {
      const { notified } = notifier;
      try {
        states = await readViewStates(pool, sources);
        for (const seat of seats) void run(seat);
      } catch (error) {
        failUnlessPassing(error);
      }
      await notifier.wait(notified, POLL_MS, closed.signal);
      await clock.sleep(REST_MS, closed.signal);
    }
    isLooking = false;
  };
  const failUnlessPassing = (error: unknown): void => {
    if (error instanceof HttpProblem && error.code === 'unavailable') return;
    for (const seat of seats) {
      seats.delete(seat);
      seat.reader.fail(error);
    }
  };
  const movingOn = clock
    .every(moveOnMs, () => {
      for (const seat of seats) if (!seat.isRunning) sendPosition(seat);
    })
    .unref();
  return {
    follow(reader) {
      const seat: Seat = {
        reader,
        position: reader.after,
        generation: undefined,
        sentUpTo: reader.after,
        isRunning: false,
      };
      seats.add(seat);
      if (!isLooking) void look();
      return { [Symbol.dispose]: () => void seats.delete(seat) };
    },
    async [Symbol.asyncDispose]() {
      closed.abort();
      movingOn[Symbol.dispose]();
      seats.clear();
    },
  };
};

const sendPosition = (seat: Seat): void => {
  if (seat.position === undefined || seat.position === seat.sentUpTo) return;
  seat.sentUpTo = seat.position;
  seat.reader.moveOn(seat.position);
};

type Advancing = { readonly pool: Pool; isOpen(): boolean };

const advance = async (
  advancing: Advancing,
  seat: Seat,
  state: ViewState & { readonly lastChange: Position },
): Promise<void> => {
  if (isLost(seat, state)) return sendAll(advancing, seat);
  const { position = START } = seat;
  seat.generation ??= state.generation;
  if (position < state.lastChange) await sendChanges(advancing, seat, position);
  else if (position < state.upTo) seat.position = state.upTo;
};

/** True if the changes since the reader’s position are incomplete, so that it needs all rows. */
const isLost = (seat: Seat, state: ViewState): boolean => {
  const { position, generation } = seat;
  if (position === undefined || position < state.forgotten) return true;
  return generation === undefined ? position <= state.since : generation !== state.generation;
};

/** A reader that is cut off in the middle starts over. */
const sendAll = async ({ pool, isOpen }: Advancing, seat: Seat): Promise<void> => {
  const { reader } = seat;
  seat.position = undefined;
  seat.sentUpTo = undefined;
  let first: ViewState | undefined;
  let page: ChangedPage | undefined;
  do {
    page = await readAllRows(pool, reader, page?.next);
    const { state, changes } = page;
    if (state === undefined || (first !== undefined && first.generation !== state.generation)) return;
    if (first === undefined) await reader.send(await reader.render({ type: 'reset' }, START));
    first ??= state;
    for (const { row } of changes) {
      if (!isOpen()) return;
      await reader.send(await reader.render({ type: 'changed', row }, START));
    }
  } while (page.next !== undefined);
  seat.position = first.upTo;
  seat.generation = first.generation;
  sendPosition(seat);
};

/**
 * A row that changes again moves to the end of the order, so none is missed, however slowly the pages are
 * read.
 */
const sendChanges = async (advancing: Advancing, seat: Seat, position: Position): Promise<void> => {
  const { pool, isOpen } = advancing;
  const { reader } = seat;
  let page: ChangedPage | undefined;
  do {
    page = await readChangedRows(pool, reader, { position, after: page?.next });
    const { state, rightsChanged, changes, next } = page;
    if (state === undefined) return;
    if (isLost(seat, state) || position < rightsChanged) return sendAll(advancing, seat);
    for (const [index, change] of changes.entries()) {
      if (!isOpen()) return;
      // Other rows may have changed at the same position.
      const isLast = next === undefined && index === changes.length - 1;
      const safe = isLast ? state.upTo : ((change.position - 1) as Position);
      await reader.send(
        await reader.render({ type: change.isThere ? 'changed' : 'removed', row: change.row }, safe),
      );
      seat.sentUpTo = safe;
    }
    if (next === undefined) seat.position = state.upTo;
  } while (page.next !== undefined);
};
