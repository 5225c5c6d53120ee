import * as z from 'zod';
import { byName, capital, kebab, snake } from '../base/names.ts';
import { type FieldDef, type Fields, integer } from '../declare/fields.ts';
import type { AnyShare, AnyView, Avg, Sum } from '../declare/view.ts';
import type { Kind, ShareEffect, ShareInfo, ShareSource, ViewInfo, ViewValue } from './registry.ts';

/** Derives the view from its declaration. */
export const viewOf = ({ view: name, says, of, key, values, from, read }: AnyView): ViewInfo => ({
  name,
  table: snake(name),
  path: kebab(name),
  type: capital(name),
  says,
  key: byName(Object.entries(key).map(([part, { def }]) => [part, def])),
  values: byName(
    Object.entries(values).map(([value, spec]) => [value, viewValueOf(spec, isCount(value, from))]),
  ),
  shares: Object.entries(from).map(([kind, { by, on }]) =>
    shareOf(name, kind, {
      by: Object.fromEntries(Object.keys(key).map((part) => [part, by[part] ?? ''])),
      on,
      periods: periodsIn(key, by, of.find((source) => source.kind === kind)?.fields ?? {}),
    }),
  ),
  asked: askedOf(name, key, { says, read }),
});

const NUMBER = integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER).def;
/** Null while no share has a value. */
const AVERAGE: FieldDef = {
  ...{ ...NUMBER, optional: true },
  ...{ recorded: z.number(), demanded: z.number() },
};

/** True for a sum of numbers of the declaration alone. */
const isCount = (value: string, from: AnyView['from']): boolean =>
  Object.values(from)
    .flatMap(({ on }) => Object.values(on))
    .flatMap(({ gives, changes, adds }) => [gives, changes, adds])
    .every((parts) => typeof (parts?.[value] ?? 0) === 'number');

const viewValueOf = (spec: AnyView['values'][string], isCounted: boolean): ViewValue => {
  switch (spec.value) {
    // Sums of numbers in events may exceed the integers of GraphQL.
    case 'sum':
      return {
        kind: 'sum',
        def: { ...NUMBER, ...(isCounted && { graphql: 'Int' }), ...saidOf(spec) },
      };
    case 'avg':
      return { kind: 'avg', def: { ...AVERAGE, ...saidOf(spec) } };
    case 'latest':
    case 'min':
    case 'max':
      return { kind: spec.value, def: { ...spec.field.def, optional: true } };
  }
};

const saidOf = ({ text, isSorted }: Sum | Avg): Partial<FieldDef> => ({
  ...(text !== undefined && { says: text }),
  ...(isSorted && { sort: true }),
});

/** A kind with the key as fields, so that rights apply to rows as to aggregates. */
const askedOf = (
  name: string,
  key: AnyView['key'],
  { says, read }: Pick<AnyView, 'says' | 'read'>,
): Kind => ({
  ...{
    name,
    plural: name,
    table: snake(name),
    path: kebab(name),
    type: capital(name),
    field: name,
    says,
    rights: { read },
  },
  fields: byName(Object.entries(key).map(([part, { def }]) => [part, def])),
  ...{
    lists: {},
    owner: undefined,
    parent: undefined,
    label: undefined,
    identity: [],
    persons: {},
    derived: [],
    facts: {},
    events: {},
    commands: {},
  },
  ...{
    refusals: {},
    fieldRights: {},
    invariants: {},
    limits: [],
    reactions: {},
    react: {},
    timers: {},
    schedules: {},
    oldestFirst: false,
  },
});

const shareOf = (
  view: string,
  kind: string,
  {
    by,
    on,
    periods,
  }: Pick<ShareInfo, 'by'> & {
    readonly on: Readonly<Record<string, AnyShare>>;
    readonly periods: ShareInfo['periods'] | undefined;
  },
): ShareInfo => ({
  kind,
  table: `${snake(view)}_of_${snake(kind)}`,
  by,
  ...(periods && { periods }),
  on: Object.fromEntries(Object.entries(on).map(([event, spec]) => [event, effectOf(spec)])),
  values: [
    ...new Set(
      Object.values(on).flatMap(({ gives, changes, adds }) =>
        [gives, changes, adds].flatMap((each) => Object.keys(each ?? {})),
      ),
    ),
  ],
});

/** The parts that are periods of a time; a day that is a date of the aggregate is a field like any other. */
const periodsIn = (
  key: AnyView['key'],
  by: Readonly<Record<string, string>>,
  fields: Fields,
): ShareInfo['periods'] => {
  const periods = Object.entries(key).flatMap(([part, { def }]) => {
    const from = by[part] ?? '';
    const isOfTime = from === 'now' || fields[from]?.def.kind === 'instant';
    const period = def.period ?? (def.kind === 'date' && isOfTime ? 'day' : undefined);
    return period === undefined ? [] : [[part, period] as const];
  });
  return periods.length === 0 ? undefined : Object.fromEntries(periods);
};

const effectOf = ({ gives, changes, adds }: AnyShare): ShareEffect => ({
  kind: gives === null ? 'ends' : gives ? 'gives' : 'changes',
  sets: sourcesOf(gives ?? changes ?? {}),
  adds: sourcesOf(adds ?? {}),
});

const sourcesOf = (parts: Readonly<Record<string, number | string>>): Readonly<Record<string, ShareSource>> =>
  Object.fromEntries(Object.entries(parts).map(([value, part]) => [value, sourceOf(part)]));

const sourceOf = (part: number | string): ShareSource => {
  if (typeof part === 'number' || part === 'now') return { from: part, isNegative: false };
  const isNegative = part.startsWith('-');
  return { from: { field: isNegative ? part.slice(1) : part }, isNegative };
};

/** True for a value that one share gives; false for a number that is computed from all of them. */
export const isOfOneShare = (value: ViewValue | undefined): boolean =>
  value?.kind === 'latest' || value?.kind === 'min' || value?.kind === 'max';
