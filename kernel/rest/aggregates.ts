import * as z from 'zod';
import { capital } from '../base/names.ts';
import { oncePer } from '../base/once-per.ts';
import type { Period } from '../base/period.ts';
import { Links } from '../base/rest/fields.ts';
import { type FieldDef, instant } from '../declare/fields.ts';
import type { Kind } from '../registry/registry.ts';

/** A field, or the period of a time, by which aggregates are grouped: `status`, `month(createdAt)`. */
export type Dimension = {
  readonly name: string;
  readonly field: string;
  readonly def: FieldDef;
  readonly period: Period | undefined;
};
export type MeasureFunction = 'sum' | 'avg' | 'min' | 'max';
/** A number or a time, computed of a group: `count`, `sum(total)`. */
export type Measure = { readonly name: string } & (
  | { readonly of: 'count' }
  | { readonly of: MeasureFunction; readonly field: string; readonly def: FieldDef }
);
type Dimensions = readonly Dimension[];
type Measures = readonly Measure[];

export const FUNCTIONS: readonly MeasureFunction[] = ['sum', 'avg', 'min', 'max'];
const PERIODS: readonly Period[] = ['day', 'week', 'month'];
const TIMES: ReadonlySet<string> = new Set(['instant', 'date']);
const GROUPED: ReadonlySet<string> = new Set(['choice', 'states', 'boolean', 'integer', 'ref']);
/** As in the key of a view. */
const TEXT_CHARACTERS_MAX = 200;

const isShort = ({ kind, recorded }: FieldDef): boolean =>
  kind === 'text' && Number(recorded.meta()?.maxLength ?? Infinity) <= TEXT_CHARACTERS_MAX;

/** Personal data is in no aggregate: it would show who is in a group, and change with an erasure. */
const fieldsOf = ({ fields }: Kind): readonly (readonly [name: string, def: FieldDef])[] => [
  ...Object.entries(fields).filter(([, { personal, isAddress, parts }]) => !(personal ?? isAddress ?? parts)),
  ['createdAt', instant().def],
  ['updatedAt', instant().def],
];

export const dimensionsOf = oncePer(
  (kind: Kind): Dimensions =>
    fieldsOf(kind).flatMap(([field, def]): Dimensions => {
      if (TIMES.has(def.kind))
        return PERIODS.map((period) => ({ name: `${period}(${field})`, field, def, period }));
      return GROUPED.has(def.kind) || isShort(def) ? [{ name: field, field, def, period: undefined }] : [];
    }),
);

export const measuresOf = oncePer(
  (kind: Kind): Measures => [
    { name: 'count', of: 'count' },
    ...fieldsOf(kind).flatMap(([field, def]): Measures => {
      const functions = TIMES.has(def.kind) ? FUNCTIONS.slice(2) : def.kind === 'integer' ? FUNCTIONS : [];
      return functions.map((of) => ({ name: `${of}(${field})`, of, field, def }));
    }),
  ],
);

/** A range of a measure in `having`. */
export type Having = { readonly measure: Measure; readonly min?: number; readonly max?: number };
export type Order = { readonly by: Dimension | Measure; readonly descending: boolean };

export const GROUPS_MAX = 1_000;
export const GROUPS_DEFAULT = 100;
export const ENTRIES_MAX = 10;
export const TOO_MANY = `Must have at most ${ENTRIES_MAX} entries.`;
/** `3..`, `..5` or `3..5`. */
const RANGE = /^([^:]+):(-?\d{1,15}(?:\.\d{1,6})?)?\.\.(-?\d{1,15}(?:\.\d{1,6})?)?$/;
export const isNumber = (measure: Measure): boolean =>
  measure.of === 'count' || measure.def.kind === 'integer';

/** A parameter with names separated by commas; `read` returns a sentence for one that it refuses. */
const listed = <Entry extends object>(
  read: (text: string) => Entry | string,
  meta: { readonly description: string; readonly examples: readonly string[] },
) =>
  z
    .string()
    .transform((text, context): readonly Entry[] => {
      const found = text.split(',').map(read);
      const refused =
        found.find((entry) => typeof entry === 'string') ??
        (found.length > ENTRIES_MAX ? TOO_MANY : undefined);
      if (typeof refused !== 'string') return found as readonly Entry[];
      context.addIssue({ code: 'custom', message: refused });
      return z.NEVER;
    })
    .meta({ type: 'string', ...meta });

const findIn =
  <Entry extends { readonly name: string }>(all: readonly Entry[], what: string) =>
  (name: string): Entry | string =>
    all.find((each) => each.name === name) ?? `Must be ${what}: ${namesOf(all)}, separated by commas.`;
const namesOf = (all: readonly { readonly name: string }[]): string => all.map(({ name }) => name).join(', ');
const quoted = (all: readonly { readonly name: string }[]): string =>
  all.map(({ name }) => `\`${name}\``).join(', ');

/** The parameters that every aggregate has beside the filters of its list. */
export const parametersOf = (kind: Kind) => {
  const [dimensions, measures] = [dimensionsOf(kind), measuresOf(kind)];
  const numbers = measures.filter(isNumber);
  const rangeIn = (text: string): Having | string => {
    const [, name, min, max] = RANGE.exec(text) ?? [];
    const measure = numbers.find((each) => each.name === name);
    if (measure === undefined || (min ?? max) === undefined)
      return `Must be measures with ranges, such as count:3.. or count:3..5; measures that are numbers: ${namesOf(numbers)}.`;
    return { measure, ...(min && { min: Number(min) }), ...(max && { max: Number(max) }) };
  };
  const orderIn = (text: string): Order | string => {
    const by = findIn(
      // First the measures: a field may have the name of one.
      [...measures, ...dimensions],
      'one of these, with or without a minus',
    )(text.replace(/^-/, ''));
    return typeof by === 'string' ? by : { by, descending: text.startsWith('-') };
  };
  const example = dimensions.find(({ def }) => def.kind === 'states') ?? dimensions[0];
  return {
    groupBy: listed(findIn(dimensions, 'parts of groups'), {
      description: `The parts that the items of a group have in common, separated by commas, each field once: ${quoted(dimensions)}. Without it, all items are one group. Periods are in UTC: \`2026-01-31\`, \`2026-W05\`, \`2026-01\`.`,
      examples: [example?.name ?? '', 'month(createdAt)'],
    }).optional(),
    measures: listed(findIn(measures, 'measures'), {
      description: `The measures of each group, separated by commas; by default \`count\`: ${quoted(measures)}.`,
      examples: ['count', 'count,max(createdAt)'],
    }).optional(),
    having: listed(rangeIn, {
      description:
        'Only groups whose measures are in these ranges, separated by commas: at least (`count:3..`), at most (`count:..5`), or both.',
      examples: ['count:3..', 'count:1..5'],
    }).optional(),
    sort: listed(orderIn, {
      description:
        'The order of the groups: a part of `groupBy`, or a measure; a minus means the highest first. By default `groupBy`.',
      examples: ['-count'],
    }).optional(),
    limit: z
      .string()
      .regex(/^(?:[1-9]\d{0,2}|1000)$/, { error: `Must be a whole number from 1 to ${GROUPS_MAX}.` })
      .meta({
        type: 'integer',
        pattern: undefined,
        minimum: 1,
        maximum: GROUPS_MAX,
        default: GROUPS_DEFAULT,
        description: 'Maximum number of groups.',
      })
      .transform(Number)
      .optional(),
  };
};

const valuesBy = (of: MeasureFunction, kind: Kind) => {
  const values = measuresOf(kind).flatMap((measure) => {
    if (measure.of !== of) return [];
    const value = of === 'sum' || of === 'avg' ? z.number() : measure.def.recorded;
    return [[measure.field, value.nullable().exactOptional()] as const];
  });
  return values.length === 0
    ? []
    : [[of, z.strictObject(Object.fromEntries(values)).exactOptional()] as const];
};

export const aggregateSchema = oncePer((kind: Kind) => {
  const key = dimensionsOf(kind).map(({ field, def, period }) => [
    field,
    (period === undefined ? def.recorded : z.string()).nullable().exactOptional(),
  ]);
  const group = z.strictObject({
    key: z.strictObject(Object.fromEntries(key)).meta({
      description: 'The parts of `groupBy`. Null is no value, or one that you may not read.',
    }),
    count: z.int().nonnegative().exactOptional(),
    ...Object.fromEntries(FUNCTIONS.flatMap((of) => valuesBy(of, kind))),
  });
  return z
    .strictObject({
      groups: z.array(group),
      hasMore: z.boolean().meta({ description: 'Whether there are more groups than `limit`.' }),
      _links: Links,
    })
    .meta({ id: `${capital(kind.name)}Aggregate` });
});
