import { spaced, targetOf, wire } from '#kernel/base/names.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { CommandInfo, Kind, ListInfo, Row } from '#kernel/registry/registry.ts';
import type { Imported } from './known-keys.ts';
import type { Name } from './line.ts';

/** The lines so far, by their keys. */
export type Keys = ReadonlyMap<string, Imported>;

/** Of a line whose command is unknown: a rehearsal does not call the lines wrong that name it. */
export const ANY_KIND = '*';
const isOf = (found: Imported | undefined, kind: string): found is Imported =>
  found?.kind === kind || found?.kind === ANY_KIND;

/** Not a refusal of the domain: a line names what does not exist, or comes too late. */
export class FaultOfLine extends Error {}

/** The id of an aggregate, which is named by itself or by the key of the line that created it. */
export const idNamed = (keys: Keys, kind: string, name: Name): number => {
  if (typeof name === 'number') return name;
  const found = keys.get(name);
  if (isOf(found, kind)) return found.id;
  throw new FaultOfLine(`no earlier line with the key “${name}” created a ${spaced(kind)}`);
};

/** The id of an item: a number, its own key, or the key of the line that added it. */
export const itemNamed = (keys: Keys, kind: Kind, list: ListInfo, name: Name): number | string => {
  if (list.key !== undefined) return typeof name === 'string' ? idOrText(keys, list.id.def, name) : name;
  if (typeof name === 'number') return name;
  const found = keys.get(name);
  if (isOf(found, kind.name) && found.itemId !== undefined) return found.itemId;
  throw new FaultOfLine(`no earlier line with the key “${name}” added a ${spaced(list.one)}`);
};

/** A form in which references are named like everything else. */
export const formNamed = (keys: Keys, kind: Kind, { list }: CommandInfo, form: Row): Row => {
  const defs = new Map(
    Object.entries(list?.fields ?? kind.fields).map(([name, def]) => [wire(name, def), def] as const),
  );
  if (list !== undefined) defs.set(list.id.name, list.id.def);
  return Object.fromEntries(
    Object.entries(form).map(([name, value]) => {
      if (typeof value !== 'string') return [name, value];
      if (name === 'before' && list !== undefined) return [name, itemNamed(keys, kind, list, value)];
      const def = defs.get(name);
      return [name, def === undefined ? value : idOrText(keys, def, value)];
    }),
  );
};

const idOrText = (keys: Keys, def: FieldDef, value: string): number | string =>
  def.kind === 'ref' ? idNamed(keys, targetOf(def), value) : value;
