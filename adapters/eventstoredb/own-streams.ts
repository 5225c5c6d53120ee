import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { LOG_PREFIX_FORM } from '#shared/event-log/default-prefix.ts';

/**
 * The beginning of all names of a log’s streams, so that it shares a server with others: events of other
 * streams are neither read nor counted. A prefix of the settings has no full stop, so none is the beginning of
 * another. Empty for a log from before there were prefixes: it takes every stream for its own that is not
 * of a log with one.
 */
export type StreamPrefix = string;

export const NO_PREFIX: StreamPrefix = '';

export const streamPrefixOf = (setting: string): StreamPrefix => {
  if (!FORM.test(setting))
    throw new StartRefused(
      `EVENT_LOG_PREFIX must be 1 to 40 lower-case letters, digits and underscores, beginning with a letter, and not “${setting}”.`,
    );
  return `${setting}.`;
};

/** The EVENT_LOG_PREFIX of a prefix; undefined if there is none. */
export const settingOf = (prefix: StreamPrefix): string | undefined =>
  prefix === NO_PREFIX ? undefined : prefix.slice(0, -1);

const FORM = new RegExp(`^${LOG_PREFIX_FORM}$`);

/** The prefix of a log that a stream may be of: the kind of an aggregate has no full stop. */
export const prefixOf = (stream: string): StreamPrefix => PREFIXED.exec(stream)?.[0] ?? NO_PREFIX;

const PREFIXED = new RegExp(`^${LOG_PREFIX_FORM}[.]`);

/** Restricts a read of all streams to those of a log, which `readAll` of the client does not offer. */
export const filterStreams = (request: ReadReq, prefix: StreamPrefix): void => {
  const { FilterOptions } = streams.ReadReq.Options;
  const expression = new FilterOptions.Expression().setPrefixList([prefix]);
  request
    .getOptions()
    ?.setFilter(
      new FilterOptions()
        .setStreamIdentifier(expression)
        .setCount(new shared.Empty())
        .setCheckpointintervalmultiplier(1),
    );
};
