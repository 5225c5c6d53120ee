import { setTimeout as wait } from 'node:timers/promises';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { Engine } from './engine.ts';
import type { ReadFault } from './faults.ts';
import {
  allBackwards,
  allForwards,
  indexAfter,
  indexAtOrAfter,
  isValidPosition,
  lastVisible,
  streamBackwards,
  streamForwards,
} from './ranges.ts';
import type { ReadRequest, ServerPosition, Target } from './read-request.ts';
import type { LogRecord } from './records.ts';
import { accessDenied, noRecordAt, streamDeleted, unavailable, unreadable } from './refusals.ts';
import { isSoftDeleted } from './stream.ts';
import { eventBytes, streamNotFoundBytes } from './wire.ts';

export type ReadCall = ServerWritableStream<ReadReq, Buffer>;

/** A page or a whole range, once, at the pace of its reader. */
export const readOnce = async (engine: Engine, call: ReadCall, request: ReadRequest): Promise<void> => {
  const fault = engine.faults.takeRead(request.target.stream);
  // Recorded: the real server never answers a filtered page of no events.
  const isUnanswered = request.filter !== undefined && request.count === 0;
  if (fault?.kind === 'unanswered' || isUnanswered) return;
  if (fault?.kind === 'access-denied') throw accessDenied();
  if (fault?.kind === 'delayed') await wait(fault.delayMs, undefined, { ref: false });
  const records = rangeOf(engine, request);
  const { from } = request.target;
  if (request.filter && typeof from === 'object') engine.searched.from = from.commit;
  if (records === 'missing') call.write(streamNotFoundBytes(request.target.stream));
  else await send(engine, call, { records, request, fault });
  call.end();
};

type Sending = {
  readonly records: Iterable<LogRecord>;
  readonly request: ReadRequest;
  readonly fault: ReadFault | undefined;
};

const send = async (engine: Engine, call: ReadCall, { records, request, fault }: Sending): Promise<void> => {
  const endsAfter = fault && 'afterEvents' in fault ? fault.afterEvents : Number.POSITIVE_INFINITY;
  const failure = fault?.kind === 'error' ? unavailable() : undefined;
  let sent = 0;
  for (const record of records) {
    if (sent >= request.count || sent >= endsAfter || call.cancelled) break;
    if (request.filter && !request.filter.matches(record)) continue;
    sent += 1;
    if (!call.write(eventBytes(record))) await drained(engine, call);
    if (fault?.kind === 'searching' && request.filter && sent === fault.after)
      await wait(fault.delayMs, undefined, { ref: false });
  }
  if (failure) throw failure;
};

/** Resolves when the reader has taken the written data, or is gone. */
export const drained = async ({ gate }: Engine, call: ReadCall): Promise<void> => {
  if (call.writableNeedDrain && !call.cancelled) {
    await new Promise<void>((resolve) => {
      const settle = () => {
        call.off('drain', settle);
        call.off('cancelled', settle);
        resolve();
      };
      call.on('drain', settle);
      call.on('cancelled', settle);
    });
  }
  await gate.opened();
};

const rangeOf = (
  engine: Engine,
  { target, backwards, count, filter }: ReadRequest,
): Iterable<LogRecord> | 'missing' => {
  if (count === 0) throw unreadable(target.kind);
  return target.kind === 'stream'
    ? streamRange(engine, target, backwards)
    : allRange(engine, target, { backwards, isFiltered: filter !== undefined });
};

const streamRange = (
  { log }: Engine,
  { stream: name, from }: Target & { kind: 'stream' },
  backwards: boolean,
): Iterable<LogRecord> | 'missing' => {
  const stream = log.stream(name);
  if (stream?.tombstone) throw streamDeleted(name);
  if (from === 'end' && !backwards) throw unreadable('stream');
  if (!stream || lastVisible(log, stream) < 0n || isSoftDeleted(stream)) return 'missing';
  const revision = from === 'start' ? 0n : from;
  if (backwards)
    return streamBackwards(log, stream, revision === 'end' ? lastVisible(log, stream) : revision);
  return streamForwards(log, stream, revision === 'end' ? 0n : revision);
};

const allRange = (
  { log, product }: Engine,
  { from }: Target & { kind: 'all' },
  { backwards, isFiltered }: { readonly backwards: boolean; readonly isFiltered: boolean },
): Iterable<LogRecord> => {
  const isBeyond = (position: ServerPosition) => backwards && position.commit > log.endPosition();
  if (typeof from !== 'string' && (!isValidPosition(log, from) || isBeyond(from)))
    throw isFiltered ? unreadable('filtered') : noRecordAt(from.commit, product);
  const end = log.visibleCount();
  if (backwards)
    return allBackwards(
      log,
      from === 'start' ? 0 : from === 'end' ? end : Math.min(end, indexAtOrAfter(log, from)),
    );
  return allForwards(log, from === 'start' ? 0 : from === 'end' ? end : indexAtOrAfter(log, from));
};

/** The start of a subscription to everything: after the given position, never at it. */
export const firstIndexAfter = (
  { log, product }: Engine,
  { from }: Target & { kind: 'all' },
  filter: ReadRequest['filter'],
): number => {
  if (from === 'start') return 0;
  if (from === 'end') return log.visibleCount();
  if (!isValidPosition(log, from)) throw filter ? unreadable('filtered') : noRecordAt(from.commit, product);
  return indexAfter(log, from);
};
