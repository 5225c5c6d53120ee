import { type FieldOption, type FieldSketch, factsOfType } from './sketch.ts';

/** The width of lines of the template. */
export const COLUMNS_MAX = 110;

/** In the order of the examples. */
const OPTIONS: readonly (readonly [FieldOption, string])[] = [
  ['optional', '.optional()'],
  ['unique', '.unique()'],
  ['filter', '.filter()'],
  ['sort', '.sort()'],
  ['search', ".search('B')"],
  ['personal', '.personal()'],
];

/** The source of a field, such as `line(200).optional()`; `refer` writes the target of a reference. */
export const textOfField = (field: FieldSketch, refer: (kind: string) => string): string => {
  const { type, options = [], initial, says } = field;
  const written = OPTIONS.filter(([option]) => options.includes(option)).map(([, text]) => text);
  return [
    `${type}(${parametersOf(field, refer)})`,
    ...written,
    ...(initial === undefined ? [] : [`.default(${literal(initial)})`]),
    ...(says === undefined || says === '' ? [] : [`.says(${literal(says)})`]),
  ].join('');
};

const parametersOf = (field: FieldSketch, refer: (kind: string) => string): string => {
  const { type, min = 0, max = factsOfType(type).max ?? 0, words = [], of = '' } = field;
  switch (type) {
    case 'line':
    case 'prose':
    case 'markdown':
      return literal(max);
    case 'integer':
      return `${literal(min)}, ${literal(max)}`;
    case 'choice':
      return words.map(literal).join(', ');
    case 'ref':
      return refer(of);
    case 'flag':
    case 'date':
    case 'instant':
      return '';
  }
};

/** A value that a form of the field accepts, as source. */
export const exampleOfField = ({ type, min = 0, words = [], options = [], initial }: FieldSketch): string => {
  if (options.includes('optional')) return 'null';
  if (initial !== undefined) return literal(initial);
  switch (type) {
    case 'line':
    case 'prose':
    case 'markdown':
      return "'On engines'";
    case 'integer':
      return literal(min);
    case 'flag':
      return 'true';
    case 'choice':
      return literal(words[0] ?? '');
    case 'date':
      return "'2026-01-31'";
    case 'instant':
      return "'2026-01-31T12:00:00.000Z'";
    case 'ref':
      return '9';
  }
};

/** As formatters write it: with single quotes unless that needs more escapes, and digits in groups of three. */
export const literal = (value: string | number | boolean): string => {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, '_');
  const quoted = JSON.stringify(value);
  const singles = value.split("'").length;
  const doubles = value.split('"').length;
  if (singles > doubles) return quoted;
  return `'${quoted.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
};
