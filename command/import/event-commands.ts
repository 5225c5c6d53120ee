import { byName, wire } from '#kernel/base/names.ts';
import { KIND_OF } from '#kernel/registry/kind-of.ts';
import type { CommandInfo, Domain, EventInfo, Kind, Row } from '#kernel/registry/registry.ts';

/** No declared command has such a name. */
export const commandOf = (event: string): string => `event ${event}`;

/** The same domain, with a command for each event alone: no condition, decision or form of its commands applies. */
export const withEventCommands = (domain: Domain): Domain => ({
  ...domain,
  kinds: byName(Object.entries(domain.kinds).map(([name, kind]) => [name, withCommands(kind)] as const)),
});

const withCommands = (kind: Kind): Kind => ({
  ...kind,
  commands: {
    ...kind.commands,
    ...byName(
      // Events that release claims belong to the kernel.
      Object.values(kind.events)
        .filter(({ spec }) => spec.claim !== true)
        .map((event) => [commandOf(event.name), happening(kind, event)] as const),
    ),
  },
});

const happening = (kind: Kind, event: EventInfo): CommandInfo => {
  const { list, item, computes } = event;
  const defs = list?.fields ?? kind.fields;
  const decided = [...computes, ...(item?.computes ?? [])];
  return {
    name: commandOf(event.name),
    kind: list !== undefined && event.effect === 'updates' ? 'actOnItem' : KIND_OF[event.effect],
    events: [event],
    list,
    verb: undefined,
    form: event.values,
    itemForm: [...(item?.content ?? []), ...(item?.computes ?? [])],
    ...{
      requires: [],
      next: [],
      internal: true,
      reason: undefined,
      confirm: undefined,
      signed: undefined,
      says: undefined,
    },
    ...{ when: undefined, whenItem: undefined, reads: [], also: {}, refuses: {} },
    decide:
      decided.length === 0
        ? undefined
        : ({ form }) => [
            [
              event.name,
              Object.fromEntries(decided.map((name) => [name, (form as Row)[wire(name, defs[name])]])),
            ],
          ],
  };
};
