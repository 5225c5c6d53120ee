import { wire } from '#kernel/base/names.ts';
import { leadsToUser } from '#kernel/base/users.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { CommandInfo, Kind, ListInfo, Row } from '#kernel/registry/registry.ts';
import { fieldValue } from './values.ts';

/**
 * Forms for a command, by the names of its aggregate, if the generated values do not suffice: `{ claim: {
 * pay: { iban: '…' } } }`.
 */
export type Examples = Readonly<Record<string, Readonly<Record<string, Row>>>>;

/** The id for a reference; undefined to leave it empty. */
type IdFor = (name: string, def: FieldDef) => number | undefined;

/** The fields of a form, with its names for them. */
export const fieldsOfForm = (kind: Kind, command: CommandInfo): readonly (readonly [string, FieldDef])[] => {
  const { list } = command;
  if (list === undefined) return command.form.map((name) => [name, kind.fields[name] as FieldDef]);
  return [
    ...(command.kind === 'addItem' && list.key !== undefined ? [[list.key, list.id.def] as const] : []),
    ...command.itemForm.map((name) => [name, list.fields[name] as FieldDef] as const),
  ];
};

type Making = {
  readonly kind: Kind;
  readonly command: CommandInfo;
  readonly examples: Examples;
  readonly idFor: IdFor;
};

/** Filled in with the values of a serial number. */
export const formOf = ({ kind, command, examples, idFor }: Making, serial: number): Row => {
  const entries = fieldsOfForm(kind, command).map(
    ([name, def]) =>
      [wire(name, def), filled(name, def, { serial, idFor, year: yearOf(kind, command, name) })] as const,
  );
  return { ...Object.fromEntries(entries), ...examples[kind.name]?.[command.name] };
};

const filled = (
  name: string,
  def: FieldDef,
  {
    serial,
    idFor,
    year,
  }: { readonly serial: number; readonly idFor: IdFor; readonly year: number | undefined },
): unknown => (def.kind === 'ref' ? (idFor(name, def) ?? null) : fieldValue(def, serial, year));

/** In the future for a field with a timer, which would otherwise act while a check reads the aggregate. */
const yearOf = ({ timers }: Kind, { list }: CommandInfo, name: string): number | undefined =>
  list === undefined && Object.values(timers).some(({ starts }) => 'at' in starts && starts.at === name)
    ? 2126
    : undefined;

/** Forms that lead to different states: one per value of each choice. */
export const variantsOf = (making: Making, serial: number): readonly Row[] => {
  const { kind, command } = making;
  const form = formOf(making, serial);
  const choices = fieldsOfForm(kind, command).flatMap(([name, { values = [] }]) =>
    values.map((value) => ({ ...form, [name]: value })),
  );
  return [form, ...choices];
};

/** The references that a form contains. */
export const referencesIn = (kind: Kind, command: CommandInfo): readonly (readonly [string, FieldDef])[] =>
  fieldsOfForm(kind, command).filter(([, def]) => def.kind === 'ref');

export const isToUser = (def: FieldDef): boolean => leadsToUser(def);

/** New values for the texts that must be unique. */
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
