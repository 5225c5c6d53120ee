import type { Position } from '#kernel/base/brands.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import type { Pool } from '#shared/database/pool.ts';
import { indexEnd, readBehind } from '#shared/event-index/behind.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import type { createMeter } from '../rest/meter.ts';
import type { Parameters } from '../rows/statement.ts';

/**
 * The aggregates that moved below another parent after a position: a list of the past may have contained them,
 * although their rows have another parent now. The index of events knows them, and those that it has not
 * reached yet are named.
 */
export type Moved = {
  readonly types: readonly string[];
  readonly after: Position;
  readonly behind: readonly number[];
};

type Options = {
  readonly pool: Pool;
  readonly eventLog: Pick<EventLog, 'identity' | 'head' | 'follow'>;
  readonly meter: ReturnType<typeof createMeter>;
};

/** Undefined for a kind whose parent never changes. */
export const findMoved = async (
  { pool, eventLog, meter }: Options,
  { name, events }: Pick<Kind, 'name' | 'events'>,
  after: Position,
): Promise<Moved | undefined> => {
  const types = Object.values(events).flatMap(({ type, former }) => (former === undefined ? [] : [type]));
  if (types.length === 0) return undefined;
  const end = await indexEnd({ pool, eventLog });
  const from = end > after ? end : after;
  const recent = await readBehind(eventLog, { after: from, upTo: await eventLog.head() });
  await meter.onRead(recent);
  const ofKind = new RegExp(idIn(name));
  const behind = recent.flatMap(({ type, stream }) => {
    const id = types.includes(type) ? ofKind.exec(stream)?.[1] : undefined;
    return id === undefined ? [] : [Number(id)];
  });
  return { types, after, behind };
};

/** A foreign stream may have events of these types; the ids are those of streams of the kind alone. */
const idIn = (name: string): string => `^${name}-([1-9][0-9]{0,15})$`;

/** The condition on the row t that it is one of them. */
export const isAmong = (
  { types, after, behind }: Moved,
  { name }: Pick<Kind, 'name'>,
  parameters: Parameters,
): string => `(t.id = any(${parameters.add(behind)}::bigint[]) or t.id in (
    select substring(e.stream from ${parameters.add(idIn(name))}::text)::bigint from event_index.event e
      where e.type = any(${parameters.add(types)}::text[]) and e.position > ${parameters.add(after)}::bigint))`;
