import { capital, column, SQL_NAME_CHARACTERS_MAX } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
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

/** Names of trigger functions contain that of the table, and PostgreSQL limits names to 63 characters. */
const TABLE_CHARACTERS_MAX = 38;

/** Refuses names of views that some interface cannot represent. */
export const demandViewNames = (domain: Domain): void => {
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
    const wrong = [...wrongNamesInView(view), ...clashesOf(view, taken)][0];
    if (wrong !== undefined) throw new StartRefused(`${view.name}: ${wrong}: give it another name.`);
    for (const table of [view.table, ...view.shares.map((share) => share.table)])
      taken.table.set(table, view.name);
    taken.path.set(view.path, view.name);
    taken.name.set(view.name, view.name);
    for (const type of typesOfView(view)) taken.type.set(type, view.name);
  }
};

/** The GraphQL types of a view. */
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

const clashesOf = (view: ViewInfo, taken: Taken): readonly string[] => {
  const among = (what: keyof Taken, names: readonly string[]): readonly string[] =>
    names.flatMap((name) => {
      const first = taken[what].get(name);
      return first === undefined ? [] : [`the ${what} ${name} already belongs to ${first}`];
    });
  return [
    ...among('name', [view.name]),
    ...among('table', [view.table, ...view.shares.map(({ table }) => table)]),
    ...among('path', [view.path]),
    ...among('type', typesOfView(view)),
  ];
};

const wrongNamesInView = (view: ViewInfo): readonly string[] => {
  const { name, table, path, key, values } = view;
  const named = [...Object.keys(key), ...Object.keys(values)];
  const columns = [
    ...Object.keys(keyColumnsOf(view)),
    ...Object.entries(values).map(([value, { def }]) => column(value, def)),
  ];
  return [
    ...[name, ...named]
      .filter((each) => !FORM.test(each))
      .map((each) => `${each} does not match ${FORM.source}`),
    ...named
      .filter((each) => FIELDS_OF_THE_KERNEL.has(each))
      .map((each) => `${each} is a field of every aggregate`),
    ...named.filter((each) => PARAMETERS.has(each)).map((each) => `${each} is a parameter of every list`),
    ...[table, ...columns].filter((each) => RESERVED.has(each)).map((each) => `${each} is reserved in SQL`),
    ...(isOfTheKernel({ table, path, name }) ? [`${name} is reserved`] : []),
    ...[table, ...view.shares.map((share) => share.table)]
      .filter(({ length }) => length > TABLE_CHARACTERS_MAX)
      .map((each) => `the table ${each} has more than ${TABLE_CHARACTERS_MAX} characters`),
    // A value may have a second column for the position of its event.
    ...columns
      .filter((each) => positionOf(each).length > SQL_NAME_CHARACTERS_MAX)
      .map(
        (each) =>
          `the column ${each} has more than ${SQL_NAME_CHARACTERS_MAX - positionOf('').length} characters`,
      ),
  ];
};
