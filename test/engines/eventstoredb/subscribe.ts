import { type Checkpoints, checkpointsFrom, checkpointsWhileLive } from './checkpoints.ts';
import type { Engine, SubscriptionEnd } from './engine.ts';
import { allForwards, lastVisible, streamForwards } from './ranges.ts';
import { drained, firstIndexAfter, type ReadCall } from './read.ts';
import type { ReadRequest, Target } from './read-request.ts';
import { isReadable, type LogRecord } from './records.ts';
import { accessDenied, type Refusal, streamDeleted, tooSlow } from './refusals.ts';
import { caughtUpBytes, confirmationBytes, eventBytes } from './wire.ts';

/** Confirms, catches up at the reader's pace, sends caught-up, and follows live until the reader lags. */
export const subscribe = async (engine: Engine, call: ReadCall, request: ReadRequest): Promise<void> => {
  const { stream } = request.target;
  if (engine.faults.takeSubscription(stream, 'start')) throw accessDenied();
  const feed =
    request.target.kind === 'stream' ? streamFeed(engine, request.target) : allFeed(engine, request);
  call.write(confirmationBytes());
  for (const record of feed.past) {
    if (call.cancelled) return;
    for (const bytes of messagesFor(record, request, feed.checkpoints)) call.write(bytes);
    await drained(engine, call);
  }
  const fault = engine.faults.takeSubscription(stream, 'transition');
  if (fault?.kind === 'too-slow') throw tooSlow('transition');
  if (fault) {
    call.end();
    return;
  }
  if (!feed.startsMissing) call.write(caughtUpBytes());
  if (!call.cancelled) follow(engine, call, request, feed);
};

type Feed = {
  readonly past: Iterable<LogRecord>;
  readonly checkpoints: Checkpoints;
  readonly concerns: (record: LogRecord) => boolean;
  /** For a missing stream, the real server sends caught-up only after its first event. */
  readonly startsMissing: boolean;
};

const allFeed = (engine: Engine, { target, filter }: ReadRequest): Feed => {
  if (target.kind !== 'all') throw new Error(`A feed of everything was asked for ${target.stream}.`);
  const firstIndex = firstIndexAfter(engine, target, filter);
  const checkpoints = checkpointsFrom(
    target.from === 'start' ? 'start' : engine.log.records[firstIndex - 1],
    filter,
  );
  return {
    past: allForwards(engine.log, firstIndex),
    checkpoints,
    concerns: isReadable,
    startsMissing: false,
  };
};

const NO_CHECKPOINTS: Checkpoints = () => undefined;

const streamFeed = ({ log }: Engine, { stream: name, from }: Target & { kind: 'stream' }): Feed => {
  const stream = log.stream(name);
  if (stream?.tombstone) throw streamDeleted(name);
  const last = stream ? lastVisible(log, stream) : -1n;
  const after = from === 'start' ? -1n : from === 'end' ? last : from;
  return {
    past: stream ? streamForwards(log, stream, after + 1n) : [],
    checkpoints: NO_CHECKPOINTS,
    concerns: (record) => isReadable(record) && record.stream === name && record.revision > after,
    startsMissing: from === 'start' && last < 0n,
  };
};

const messagesFor = (record: LogRecord, { filter }: ReadRequest, checkpoints: Checkpoints): Buffer[] => {
  const event = !filter || filter.matches(record) ? [eventBytes(record)] : [];
  const checkpoint = checkpoints(record);
  return checkpoint ? [...event, checkpoint] : event;
};

const follow = (engine: Engine, call: ReadCall, request: ReadRequest, feed: Feed): void => {
  const { stream } = request.target;
  const checkpoints = checkpointsWhileLive(request.filter);
  const outbox = newOutbox(call, engine.liveLagMax, () => stop(tooSlow('live')));
  let owesCaughtUp = feed.startsMissing;
  const deliver = (record: LogRecord): void => {
    const messages = messagesFor(record, request, checkpoints);
    const fault = messages.length > 0 ? engine.faults.takeSubscription(stream, 'live') : undefined;
    if (fault) subscription.end(fault.kind === 'too-slow' ? 'too-slow' : 'silent-end');
    else if (record.kind === 'tombstone' && request.target.kind === 'stream') stop(streamDeleted(stream));
    else outbox.send(owesCaughtUp ? [...messages, caughtUpBytes()] : messages);
    owesCaughtUp = false;
  };
  let isLive = true;
  const unlisten = engine.log.onVisible((records) => {
    const concerned = records.filter(feed.concerns);
    engine.gate.pass(() => {
      for (const record of concerned) if (isLive) deliver(record);
    });
  });
  const stop = (refusal?: Refusal): void => {
    if (!isLive) return;
    isLive = false;
    unlisten();
    engine.liveSubscriptions.delete(subscription);
    outbox.discard();
    if (call.cancelled) return;
    if (refusal) call.emit('error', refusal);
    else call.end();
  };
  const subscription = {
    end: (how: SubscriptionEnd) => stop(how === 'too-slow' ? tooSlow('live') : undefined),
  };
  engine.liveSubscriptions.add(subscription);
  call.on('cancelled', () => stop());
};

/**
 * Buffers live messages for the reader, up to a limit: memory stays bounded, and a reader that lags is
 * dropped.
 */
const newOutbox = (call: ReadCall, lagMax: number, onOverflow: () => void) => {
  let waiting: Buffer[] = [];
  const flush = (): void => {
    let taken = 0;
    for (const bytes of waiting) {
      if (call.writableNeedDrain) break;
      call.write(bytes);
      taken += 1;
    }
    waiting = waiting.slice(taken);
  };
  call.on('drain', flush);
  return {
    send(messages: readonly Buffer[]): void {
      waiting.push(...messages);
      flush();
      if (waiting.length > lagMax) onOverflow();
    },
    discard(): void {
      waiting = [];
    },
  };
};
