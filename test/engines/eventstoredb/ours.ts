import { DEFAULT_LOG_PREFIX } from '#shared/event-log/default-prefix.ts';
import { streamPrefixOf } from '#shared/event-log/eventstoredb/own-streams.ts';

/** A stream of an installation without EVENT_LOG_PREFIX, as the server names it. */
export const ours = (stream: string): string => `${streamPrefixOf(DEFAULT_LOG_PREFIX)}${stream}`;
