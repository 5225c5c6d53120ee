import { idIn, kindIn } from '#kernel/base/events/streams.ts';
import { wire } from '#kernel/base/names.ts';
import { oncePer } from '#kernel/base/once-per.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { noteOf } from './noted.ts';

/** An event that is shown, with these keys of its data; none if only its type and ids are. */
type NoteChange = (
  change: { readonly stream: string; readonly type: string },
  keys: readonly string[],
) => void;

/** Notes the fields and lists of which events are shown. Events name them in other ways than the declaration does. */
export const notingChanges = oncePer(({ kinds }: Pick<Domain, 'kinds'>): NoteChange => {
  const logged = new Map(
    Object.values(kinds).flatMap((kind) => {
      const note = noteOf(kind);
      return note === undefined ? [] : [[kind.name, { note, fieldsOf: fieldsIn(kind) }] as const];
    }),
  );
  return ({ stream, type }, keys) => {
    const known = logged.get(kindIn(stream));
    known?.note(idIn(stream), known.fieldsOf(type, keys));
  };
});

/**
 * Data of an item counts as its list. The type of an event says what it sets beside its data. An event that the
 * declaration has no more may have been about any list.
 */
const fieldsIn = ({
  events,
  fields,
  lists,
}: Kind): ((type: string, keys: readonly string[]) => readonly string[]) => {
  const byType = new Map(Object.values(events).map((event) => [event.type, event]));
  const byKey = new Map(Object.entries(fields).map(([name, def]) => [wire(name, def), name]));
  return (type, keys) => {
    const event = byType.get(type);
    if (event?.list !== undefined) return [event.list.name];
    const named = keys.map((key) => byKey.get(key) ?? key);
    const others = event === undefined ? Object.keys(lists) : Object.keys(event.sets);
    return [...new Set([...named, ...others])];
  };
};
