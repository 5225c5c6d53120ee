import type { CommandInfo, Kind } from '#kernel/registry/registry.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import type { AnyHandler } from '../handling/handler.ts';
import { streamOf } from '../handling/target.ts';
import type { Parts } from './parts.ts';

/** Events that are read at first to find the addition of a decision with several events. */
const EVENTS_AT_FIRST = 20;

/** Reads the id of an added item back, so that a repeated request gets the first response. */
export const revealing = ({ log }: Parts, kind: Kind, command: CommandInfo): Pick<AnyHandler, 'reveal'> => {
  const { list } = command;
  // A command contains the key itself, also for an item that already existed.
  if (list === undefined || list.key !== undefined || command.kind !== 'addItem') return {};
  const added = new Set(command.events.flatMap(({ type, effect }) => (effect === 'adds' ? [type] : [])));
  return {
    async reveal({ id, version }) {
      for (let span = command.events.length === 1 ? 1 : EVENTS_AT_FIRST; ; span *= 2) {
        const first = Math.max(1, version - span + 1);
        const events: RecordedEvent[] = [];
        for await (const page of log.read(streamOf(kind, id), first as typeof version, version))
          events.push(...page);
        const last = events.at(-1)?.metadata;
        const own = events.filter(
          ({ metadata }) => metadata.request === last?.request && metadata.at === last?.at,
        );
        const found = own.find(({ type }) => added.has(type));
        if (found) return { itemId: found.data[list.id.name] as number };
        if (own.length < events.length || first === 1) return {};
      }
    },
  };
};
