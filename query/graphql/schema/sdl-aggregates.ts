import { oneOf } from '#kernel/base/names.ts';
import {
  dimensionsOf,
  FUNCTIONS,
  GROUPS_DEFAULT,
  isNumber,
  type Measure,
  measuresOf,
} from '#kernel/rest/aggregates.ts';
import type { Source } from '../../rows/source.ts';
import { aggregateName, aggregateNames, listsOf, memberName } from '../rules/names.ts';
import { block, type Line, valueType } from './sdl-lines.ts';

/** The description by which the cost of an operation knows our groups. */
export const GROUP_BY = 'The parts that the items of a group can have in common.';

/** The groups of a kind, in SDL. */
export const aggregateTypesOf = (source: Source): readonly string[] => [
  ...argumentTypesOf(source),
  ...groupTypesOf(source),
];

const argumentTypesOf = ({ kind }: Source): readonly string[] => {
  const type = `${kind.type}Aggregate`;
  const [dimensions, measures] = [dimensionsOf(kind), measuresOf(kind)];
  const numbers = [...aggregateNames(measures.filter(isNumber))];
  return [
    block(
      GROUP_BY,
      `enum ${type}GroupBy`,
      [...aggregateNames(dimensions)].map(([name, { name: says }]): Line => [`By \`${says}\`.`, name]),
    ),
    block(
      'A number that is computed of each group.',
      `enum ${type}Measure`,
      numbers.map(([name, { name: says }]): Line => [`\`${says}\`.`, name]),
    ),
    block(
      'The order of groups; those without a value come last.',
      `enum ${type}Sort`,
      [...aggregateNames([...dimensions, ...measures])].flatMap(([name, { name: says }]): readonly Line[] => [
        [`By \`${says}\`: the lowest first.`, `${name}_ASC`],
        [`By \`${says}\`: the highest first.`, `${name}_DESC`],
      ]),
    ),
    block('Only groups with this measure in this range.', `input ${type}Having`, [
      ['The measure; it need not be selected.', `measure: ${type}Measure!`],
      ['At least this.', 'min: Float'],
      ['At most this.', 'max: Float'],
    ]),
  ];
};

const groupTypesOf = (source: Source): readonly string[] => {
  const { kind } = source;
  const type = `${kind.type}Aggregate`;
  const functions = FUNCTIONS.map((of) => ({ of, values: valuesOf(kind, of) })).filter(
    ({ values }) => values.length > 0,
  );
  return [
    block(`Groups of ${listsOf(kind)} that you may read.`, `type ${type}`, [
      ['The groups, in the order of `sort`.', `groups: [${type}Group!]!`],
      ['Whether there are more groups than `limit`.', 'hasMore: Boolean!'],
      ['Cursor of the requested point in time; null for current data.', 'asOf: Cursor'],
    ]),
    block(`A group of ${listsOf(kind)}.`, `type ${type}Group`, [
      ['The parts of `groupBy` that its items have in common.', `key: ${type}Key!`],
      [`The number of ${listsOf(kind)}.`, 'count: Int!'],
      ...functions.map(
        ({ of }): Line => [
          `${SAYS[of]} Values that you may not read are left out.`,
          `${of}: ${type}${TYPES[of]}!`,
        ],
      ),
    ]),
    block(
      'Null if `groupBy` does not name it, or if the items have no value that you may read.',
      `type ${type}Key`,
      keyLines(source),
    ),
    ...functions.map(({ of, values }) =>
      block(
        `${SAYS[of]} Null without a value.`,
        `type ${type}${TYPES[of]}`,
        values.map(
          ({ field, def }): Line => [
            `Of \`${field}\`.`,
            `${field}: ${of === 'sum' || of === 'avg' ? 'Float' : def.graphql}`,
          ],
        ),
      ),
    ),
  ];
};

const SAYS = {
  sum: 'The sums.',
  avg: 'The averages.',
  min: 'The lowest values.',
  max: 'The highest values.',
} as const;
const TYPES = { sum: 'Sum', avg: 'Avg', min: 'Min', max: 'Max' } as const;

const valuesOf = (kind: Source['kind'], of: (typeof FUNCTIONS)[number]) =>
  measuresOf(kind).filter((measure): measure is Extract<Measure, { field: string }> => measure.of === of);

const keyLines = ({ kind, members }: Source): readonly Line[] => {
  const byField = new Map(dimensionsOf(kind).map((dimension) => [dimension.field, dimension]));
  return [...byField.values()].map(({ field, period }): Line => {
    const member = members.find(({ name }) => name === field);
    if (member === undefined || period !== undefined)
      return [
        `The day, week or month of \`${field}\`, in UTC.`,
        `${member ? memberName(member) : field}: String`,
      ];
    const says = member.target ? `The id of ${oneOf(member.target.field)}.` : `The ${field}.`;
    return [says, `${memberName(member)}: ${member.target ? 'ID' : valueType(kind, member)}`];
  });
};

/** The field that groups a list; `arguments` are those of the list itself. */
export const aggregateLine = ({ kind }: Source, args: readonly string[]): Line => {
  const type = `${kind.type}Aggregate`;
  const all = [
    ...args,
    `groupBy: [${type}GroupBy!]`,
    `having: [${type}Having!]`,
    `sort: [${type}Sort!]`,
    `limit: Int = ${GROUPS_DEFAULT}`,
  ];
  return [
    `The number of ${listsOf(kind)} that you may read, with sums and other measures, by groups; without \`groupBy\`, all are one group.`,
    `${aggregateName(kind)}(${all.join(', ')}): ${type}!`,
  ];
};
