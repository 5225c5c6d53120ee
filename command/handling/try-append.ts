import { v7 } from 'uuid';
import type { EventId, StreamName } from '#kernel/base/brands.ts';
import type { MetadataContext } from '#kernel/base/events/metadata.ts';
import { StaleVersion } from '#shared/event-log/errors.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { AnnalsEvent } from '#shared/events/catalogue.ts';
import type { Codec } from '#shared/events/codec.ts';
import type { Folding, Known } from '../decider.ts';
import type { States } from '../states.ts';

export type AppendDependencies = { readonly log: EventLog; readonly codec: Codec; readonly states: States };

type Decided<State, Event> = {
  readonly decider: Folding<State, Event>;
  readonly stream: StreamName;
  readonly from: Known<State>;
  readonly events: readonly Event[];
};

/** Appends beside the command in progress. Returns false if another writer was first; the caller retries. */
export const tryAppend = async <State, Event extends AnnalsEvent>(
  { log, codec, states }: AppendDependencies,
  { decider, stream, from, events }: Decided<State, Event>,
  metadata: MetadataContext,
): Promise<boolean> => {
  if (events.length === 0) return true;
  const unencoded = events.map((event) => ({ id: v7() as EventId, event }));
  try {
    const encoded = await codec.encodeAll(stream, metadata, unencoded);
    const to = await log.append(stream, from.version, encoded);
    states.advance(decider, { stream, from, events, encoded, to });
    return true;
  } catch (error) {
    if (error instanceof StaleVersion) return false;
    throw error;
  }
};
