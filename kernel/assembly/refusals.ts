import { StartRefused } from '../base/start-refused.ts';
import type { FieldDef } from '../declare/fields.ts';
import type { CommandInfo, Domain, EventInfo, Kind, ListInfo } from '../registry/registry.ts';

/** Each says what is wrong, and what to write instead. */
export type Sentences = Iterable<string>;
/** A row of the table of refusals, with the places where it looks. */
type Rule = (domain: Domain) => Sentences;
type OfKind = (kind: Kind, domain: Domain) => Sentences;

/** Throws the first sentence; the rows after it are not asked, so they may rely on those before. */
export const refuse = (...rows: readonly Sentences[]): void => {
  for (const row of rows) for (const sentence of row) throw new StartRefused(sentence);
};

export function* placed(place: string, sentences: Sentences): Sentences {
  for (const sentence of sentences) yield `${place}${sentence}`;
}

export const eachKind = (...rules: readonly OfKind[]): Rule =>
  function* (domain) {
    for (const kind of Object.values(domain.kinds))
      for (const rule of rules) yield* placed(`${kind.name}: `, rule(kind, domain));
  };

/** The fields of the aggregate, and with `list.` before their names those of its items. */
export const eachField = (rule: (field: string, def: FieldDef, kind: Kind) => Sentences): OfKind =>
  function* (kind) {
    for (const [field, def] of Object.entries(kind.fields)) yield* rule(field, def, kind);
    for (const list of Object.values(kind.lists))
      for (const [field, def] of fieldsOf(list)) yield* rule(`${list.name}.${field}`, def, kind);
  };

/** The key, if there is one, and all other fields. */
export const fieldsOf = ({ key, id, fields }: ListInfo): readonly (readonly [string, FieldDef])[] => [
  ...(key === undefined ? [] : [[key, id.def] as const]),
  ...Object.entries(fields),
];

export const eachList = (...rules: readonly ((list: ListInfo, kind: Kind) => Sentences)[]): OfKind =>
  function* (kind) {
    for (const list of Object.values(kind.lists))
      for (const rule of rules) yield* placed(`the list ${list.name} `, rule(list, kind));
  };

export const eachEvent = (...rules: readonly ((event: EventInfo, kind: Kind) => Sentences)[]): OfKind =>
  function* (kind) {
    for (const event of Object.values(kind.events))
      for (const rule of rules) yield* placed(`the event ${event.name} `, rule(event, kind));
  };

export const eachCommand = (rule: (command: CommandInfo, kind: Kind, domain: Domain) => Sentences): OfKind =>
  function* (kind, domain) {
    for (const command of Object.values(kind.commands))
      yield* placed(`the command ${command.name} `, rule(command, kind, domain));
  };
