import { setTimeout as delay } from 'node:timers/promises';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Position } from '#shared/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { Doorbell } from '#shared/doorbell.ts';
import { START } from '#shared/event-log/event-log.ts';
import { HttpProblem } from '#shared/http/http-problem.ts';
import type { Row } from '../sources.ts';
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

/** What is said of a view: that all follows anew, how a row is now, or that it is gone. */
type Told = { readonly type: 'reset' } | { readonly type: 'changed' | 'removed'; readonly row: Row };

export type ViewReader = WhoseRows & {
  /** The last position that the reader has; without one it is told all that there is. */
  readonly after: Position | undefined;
  /** A message after which the reader can go on from a position. */
  render(told: Told, position: Position): Promise<Buffer> | Buffer;
  /** A promise asks to wait until there is room. */
  send(message: Buffer): Promise<void> | undefined;
  /** There is nothing more for the reader up to here. */
  moveOn(position: Position): void;
  /** The last call: what comes next cannot be had. */
  fail(error: unknown): void;
};

/**
 * The streams of views of this process. Nothing is kept of a row: a reader is told what has changed after the
 * last that it has, as that is now, so that whoever reads slowly is told less often and whoever comes again
 * goes on by the same statement.
 *
 *     using membership = views.follow({ source, caller, equal, joined, after, render, send, moveOn, fail });
 */
export type ViewFeed = AsyncDisposable & { follow(reader: ViewReader): Disposable };

type Options = {
  readonly domain: Domain;
  readonly pool: Pool;
  /** Rung when the read model has moved on. */
  readonly bell: Pick<Doorbell, 'heard' | 'wait'>;
  /** How often idle readers are told how far they are. */
  readonly moveOnMs: number;
};

/** Where the bell is out of hearing, there is a look so often. */
const POLL_MS = 200;
/** Under steady writing, several commits are told at once. */
const REST_MS = 20;

type Seat = {
  readonly reader: ViewReader;
  /** It has everything up to here; nothing if it has to be told all. */
  position: Position | undefined;
  generation: string | undefined;
  /** The last position that the reader was told. */
  told: Position | undefined;
  isRunning: boolean;
};

export const openViewFeed = ({ domain, pool, bell, moveOnMs }: Options): ViewFeed => {
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
      // What passes is tried again by whoever comes again.
      if (seats.delete(seat)) seat.reader.fail(error);
    } finally {
      seat.isRunning = false;
    }
  };
  const look = async (): Promise<void> => {
    isLooking = true;
    while (seats.size > 0 && !closed.signal.aborted) {
      const { heard } = bell;
      try {
        states = await readViewStates(pool, sources);
        for (const seat of seats) void run(seat);
      } catch (error) {
        failUnlessPassing(error);
      }
      await bell.wait(heard, POLL_MS, closed.signal);
      await delay(REST_MS, undefined, { signal: closed.signal }).catch(() => {});
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
  const movingOn = setInterval(() => {
    for (const seat of seats) if (!seat.isRunning) tellPosition(seat);
  }, moveOnMs).unref();
  return {
    follow(reader) {
      const seat: Seat = {
        reader,
        position: reader.after,
        generation: undefined,
        told: reader.after,
        isRunning: false,
      };
      seats.add(seat);
      if (!isLooking) void look();
      return { [Symbol.dispose]: () => void seats.delete(seat) };
    },
    async [Symbol.asyncDispose]() {
      closed.abort();
      clearInterval(movingOn);
      seats.clear();
    },
  };
};

const tellPosition = (seat: Seat): void => {
  if (seat.position === undefined || seat.position === seat.told) return;
  seat.told = seat.position;
  seat.reader.moveOn(seat.position);
};

type Advancing = { readonly pool: Pool; isOpen(): boolean };

const advance = async (
  advancing: Advancing,
  seat: Seat,
  state: ViewState & { readonly lastChange: Position },
): Promise<void> => {
  if (isLost(seat, state)) return tellAll(advancing, seat);
  const { position = START } = seat;
  seat.generation ??= state.generation;
  if (position < state.lastChange) await tellChanges(advancing, seat, position);
  else if (position < state.upTo) seat.position = state.upTo;
};

/** Whether what has changed since cannot be told, so that all is told anew. */
const isLost = (seat: Seat, state: ViewState): boolean => {
  const { position, generation } = seat;
  if (position === undefined || position < state.forgotten) return true;
  return generation === undefined ? position <= state.since : generation !== state.generation;
};

/** Whoever is cut off in the middle begins anew. */
const tellAll = async ({ pool, isOpen }: Advancing, seat: Seat): Promise<void> => {
  const { reader } = seat;
  seat.position = undefined;
  seat.told = undefined;
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
  tellPosition(seat);
};

/**
 * Rows move to the end of the order when they change again, so that none is passed over, however slowly the
 * pages are taken.
 */
const tellChanges = async (advancing: Advancing, seat: Seat, position: Position): Promise<void> => {
  const { pool, isOpen } = advancing;
  const { reader } = seat;
  let page: ChangedPage | undefined;
  do {
    page = await readChangedRows(pool, reader, { position, after: page?.next });
    const { state, rightsChanged, changes, next } = page;
    if (state === undefined) return;
    if (isLost(seat, state) || position < rightsChanged) return tellAll(advancing, seat);
    for (const [index, change] of changes.entries()) {
      if (!isOpen()) return;
      // Others may have changed at the same place.
      const isLast = next === undefined && index === changes.length - 1;
      const safe = isLast ? state.upTo : ((change.position - 1) as Position);
      await reader.send(
        await reader.render({ type: change.isThere ? 'changed' : 'removed', row: change.row }, safe),
      );
      seat.told = safe;
    }
    if (next === undefined) seat.position = state.upTo;
  } while (page.next !== undefined);
};
