import { streamPrefixOf } from '#adapters/eventstoredb/own-streams.ts';
import { DEFAULT_LOG_PREFIX } from '#shared/event-log/default-prefix.ts';

/** A stream of an installation without EVENT_LOG_PREFIX, as the server names it. */
export const ours = (stream: string): string => `${streamPrefixOf(DEFAULT_LOG_PREFIX)}${stream}`;
