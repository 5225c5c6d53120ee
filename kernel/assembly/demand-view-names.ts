import { capital, column, SQL_NAME_CHARACTERS_MAX } from '../base/names.ts';
import type { Domain, ViewInfo } from '../registry/registry.ts';
import { keyColumnsOf, positionOf } from '../rows/shares.ts';
import {
  FIELDS_OF_THE_KERNEL,
  FORM,
  isOfTheKernel,
  PARAMETERS,
  RESERVED,
  TYPES_OF_THE_KERNEL,
  typesOf,
} from './demand-names.ts';
import type { Sentences } from './refusals.ts';

/** Names of trigger functions contain that of the table, and PostgreSQL limits names to 63 characters. */
const TABLE_CHARACTERS_MAX = 38;

/** Refuses names of views that some interface cannot represent. */
export function* demandViewNames(domain: Domain): Sentences {
  const kinds = Object.values(domain.kinds);
  const taken = {
    table: new Map(
      kinds.flatMap(({ name, table, lists }) => [
        [table, name] as const,
        ...Object.values(lists).map((list) => [list.table, name] as const),
      ]),
    ),
    path: new Map(kinds.map(({ name, path }) => [path, name])),
    type: new Map([
      ...[...TYPES_OF_THE_KERNEL, 'ChangeOfRow'].map((type) => [type, 'the kernel'] as const),
      ...kinds.flatMap((kind) => typesOf(kind).map((type) => [type, kind.name] as const)),
    ]),
    name: new Map(kinds.map(({ name }) => [name, name])),
  };
  for (const view of domain.views) {
    for (const wrong of [...wrongNamesInView(view), ...clashesOf(view, taken)])
      yield `${view.name}: ${wrong}: give it another name.`;
    for (const table of [view.table, ...view.shares.map((share) => share.table)])
      taken.table.set(table, view.name);
    taken.path.set(view.path, view.name);
    taken.name.set(view.name, view.name);
    for (const type of typesOfView(view)) taken.type.set(type, view.name);
  }
}

const typesOfView = ({ type, key, values }: ViewInfo): readonly string[] => [
  ...['', 'Edge', 'Connection', 'Sort', 'Filter', 'Change', 'Key'].map((ending) => `${type}${ending}`),
  ...Object.entries({
    ...key,
    ...Object.fromEntries(Object.entries(values).map(([name, { def }]) => [name, def])),
  }).flatMap(([name, { values: words, enumName }]) =>
    words === undefined ? [] : [enumName ?? `${type}${capital(name)}`],
  ),
];

type Taken = Readonly<Record<'table' | 'path' | 'type' | 'name', ReadonlyMap<string, string>>>;

function* clashesOf(view: ViewInfo, taken: Taken): Sentences {
  const names = {
    name: [view.name],
    table: [view.table, ...view.shares.map(({ table }) => table)],
    path: [view.path],
    type: typesOfView(view),
  };
  for (const [what, among] of Object.entries(names))
    for (const name of among) {
      const first = taken[what as keyof Taken].get(name);
      if (first !== undefined) yield `the ${what} ${name} already belongs to ${first}`;
    }
}

function* wrongNamesInView(view: ViewInfo): Sentences {
  const { name, table, path, key, values } = view;
  const named = [...Object.keys(key), ...Object.keys(values)];
  const columns = [
    ...Object.keys(keyColumnsOf(view)),
    ...Object.entries(values).map(([value, { def }]) => column(value, def)),
  ];
  for (const each of [name, ...named]) if (!FORM.test(each)) yield `${each} does not match ${FORM.source}`;
  for (const each of named) {
    if (FIELDS_OF_THE_KERNEL.has(each)) yield `${each} is a field of every aggregate`;
    if (PARAMETERS.has(each)) yield `${each} is a parameter of every list`;
  }
  for (const each of [table, ...columns]) if (RESERVED.has(each)) yield `${each} is reserved in SQL`;
  if (isOfTheKernel({ table, path, name })) yield `${name} is reserved`;
  for (const each of [table, ...view.shares.map((share) => share.table)])
    if (each.length > TABLE_CHARACTERS_MAX)
      yield `the table ${each} has more than ${TABLE_CHARACTERS_MAX} characters`;
  // A value may have a second column for the position of its event.
  for (const each of columns)
    if (positionOf(each).length > SQL_NAME_CHARACTERS_MAX)
      yield `the column ${each} has more than ${SQL_NAME_CHARACTERS_MAX - positionOf('').length} characters`;
}
