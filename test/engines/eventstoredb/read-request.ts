import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { ALL } from './faults.ts';
import type { LogRecord } from './records.ts';
import { badRequest } from './refusals.ts';
import { streamNameIn } from './wire.ts';

/**
 * A position in the log; both parts are equal for records, and checkpoints may have a prepare position of 0.
 */
export type ServerPosition = { readonly commit: number; readonly prepare: number };

export type Target =
  | { readonly kind: 'stream'; readonly stream: string; readonly from: 'start' | 'end' | bigint }
  | { readonly kind: 'all'; readonly stream: typeof ALL; readonly from: 'start' | 'end' | ServerPosition };

export type Filter = {
  readonly matches: (record: LogRecord) => boolean;
  readonly window: number;
  readonly interval: number;
};

export type ReadRequest = {
  readonly target: Target;
  readonly backwards: boolean;
  readonly isSubscription: boolean;
  readonly count: number;
  readonly filter: Filter | undefined;
};

export const readRequestIn = (request: ReadReq): ReadRequest => {
  const options = request.getOptions();
  if (!options) throw badRequest('A read has options.');
  const filter = options.getFilter();
  return {
    target: targetIn(options),
    backwards: options.getReadDirection() === BACKWARDS,
    isSubscription: options.hasSubscription(),
    count: Number(options.getCount()),
    filter: filter && filterIn(filter),
  };
};

const BACKWARDS = 1;

const targetIn = (options: ReadReq.Options): Target => {
  const one = options.getStream();
  if (one) {
    const from = one.hasEnd() ? 'end' : one.hasStart() ? 'start' : BigInt(one.getRevision());
    return { kind: 'stream', stream: streamNameIn(one.getStreamIdentifier()), from };
  }
  const all = options.getAll();
  const position = all?.getPosition();
  if (!position) return { kind: 'all', stream: ALL, from: all?.hasEnd() ? 'end' : 'start' };
  return {
    kind: 'all',
    stream: ALL,
    from: { commit: Number(position.getCommitPosition()), prepare: Number(position.getPreparePosition()) },
  };
};

/** How many records the real server considers at a time by default. */
const WINDOW = 32;

const filterIn = (options: ReadReq.Options.FilterOptions): Filter => {
  const [expression, subject] = options.hasEventType()
    ? [options.getEventType(), (record: LogRecord) => record.type]
    : [options.getStreamIdentifier(), (record: LogRecord) => record.stream];
  const prefixes = expression?.getPrefixList() ?? [];
  const pattern = new RegExp(expression?.getRegex() ?? '');
  const window = (options.hasMax() && options.getMax()) || WINDOW;
  return {
    matches: (record) =>
      prefixes.length > 0
        ? prefixes.some((prefix) => subject(record).startsWith(prefix))
        : pattern.test(subject(record)),
    window,
    interval: window * Math.max(1, options.getCheckpointintervalmultiplier()),
  };
};
