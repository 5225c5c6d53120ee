import type { FieldDef } from '#kernel/declare/fields.ts';
import { targetOf, wire } from '#kernel/registry/names.ts';
import type { CommandInfo, Kind, ListInfo, Row } from '#kernel/registry/registry.ts';
import { fieldValue } from './values.ts';

/**
 * Forms for a command, by the names of its aggregate, where the values that the suite makes do not suffice:
 * `{ claim: { pay: { iban: '…' } } }`.
 */
export type Examples = Readonly<Record<string, Readonly<Record<string, Row>>>>;

/** What a reference is to lead to; nothing if it is to stay empty. */
type IdFor = (name: string, def: FieldDef) => number | undefined;

/** The fields that a form says, under the names that it has for them. */
export const fieldsOfForm = (kind: Kind, command: CommandInfo): readonly (readonly [string, FieldDef])[] => {
  const { list } = command;
  if (list === undefined) return command.form.map((name) => [name, kind.fields[name] as FieldDef]);
  const content =
    command.kind === 'addItem' || command.kind === 'changeItem' ? Object.entries(list.fields) : [];
  // What says who may read an item stays as it was when that was added.
  const said = content.filter(([name]) => command.kind === 'addItem' || !list.settled.includes(name));
  return [
    ...(command.kind === 'addItem' && list.key !== undefined ? [[list.key, list.id.def] as const] : []),
    ...said,
  ];
};

type Making = {
  readonly kind: Kind;
  readonly command: CommandInfo;
  readonly examples: Examples;
  readonly idFor: IdFor;
};

/** Filled in with the values of a number. */
export const formOf = ({ kind, command, examples, idFor }: Making, serial: number): Row => {
  const entries = fieldsOfForm(kind, command).map(
    ([name, def]) => [wire(name, def), filled(name, def, { serial, idFor })] as const,
  );
  return { ...Object.fromEntries(entries), ...examples[kind.name]?.[command.name] };
};

const filled = (
  name: string,
  def: FieldDef,
  { serial, idFor }: { readonly serial: number; readonly idFor: IdFor },
): unknown => (def.kind === 'ref' ? (idFor(name, def) ?? null) : fieldValue(def, serial));

/** Forms that lead on in different ways: of each choice each of its words. */
export const variantsOf = (making: Making, serial: number): readonly Row[] => {
  const { kind, command } = making;
  const form = formOf(making, serial);
  const choices = fieldsOfForm(kind, command).flatMap(([name, { values = [] }]) =>
    values.map((value) => ({ ...form, [name]: value })),
  );
  return [form, ...choices];
};

/** The references that a form names. */
export const referencesIn = (kind: Kind, command: CommandInfo): readonly (readonly [string, FieldDef])[] =>
  fieldsOfForm(kind, command).filter(([, def]) => def.kind === 'ref');

export const isToUser = (def: FieldDef): boolean => targetOf(def) === 'user';

/** Texts of which no two may be the same, each time another. */
export const refreshed = (
  kind: Kind,
  command: CommandInfo,
  { form, serial }: { readonly form: Row; readonly serial: number },
): Row => {
  const fresh = fieldsOfForm(kind, command).flatMap(([name, def]) =>
    def.unique && def.kind === 'text' && typeof form[name] === 'string'
      ? [[name, fieldValue(def, serial)] as const]
      : [],
  );
  return { ...form, ...Object.fromEntries(fresh) };
};

export const itemsIn = (fields: Row, list: ListInfo): readonly Row[] =>
  (fields[list.name] ?? []) as readonly Row[];
