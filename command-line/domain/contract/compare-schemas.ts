// Over 200 lines, because it is one comparison: every difference between two schemas.
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '#kernel/base/json.ts';
import { type Alternative, pairAlternatives } from './pair-alternatives.ts';

/**
 * A difference between two schemas. The new one accepts less (`narrower`), more (`wider`), or something else
 * (`other`). Otherwise a field was added or removed, became required or optional, or became nullable or not.
 */
export type SchemaChange = {
  /** A path such as `items[].amount`; empty for the whole. */
  readonly path: string;
  readonly kind:
    | 'narrower'
    | 'wider'
    | 'other'
    | 'gone'
    | 'came'
    | 'cameRequired'
    | 'required'
    | 'optional'
    | 'nullable'
    | 'notNull';
  readonly says: string;
};

/** With the schemas that `$ref` can name. */
type Schema = { readonly schema: JsonObject; readonly named?: Readonly<Record<string, JsonObject>> };

export const compareSchemas = (before: Schema, after: Schema): readonly SchemaChange[] => {
  const seen = new Set<string>();
  const changes = compare({ before, after, path: '', seen });
  // A schema referenced twice below the same field is compared once for each.
  return [...new Map(changes.map((change) => [`${change.path} ${change.says}`, change])).values()];
};

/** A reader may miss a field, meet null, or meet an unknown value. Fewer values are all known. */
export const breaksReaders = ({ kind }: SchemaChange): boolean =>
  ['gone', 'optional', 'nullable', 'other'].includes(kind);

type Pair = {
  readonly before: Schema;
  readonly after: Schema;
  readonly path: string;
  readonly seen: ReadonlySet<string>;
};
type Object_ = Readonly<Record<string, unknown>>;

const compare = ({ before, after, path, seen }: Pair): readonly SchemaChange[] => {
  const pair = `${String(before.schema.$ref)} ${String(after.schema.$ref)}`;
  // A recursive reference adds nothing the second time.
  if (before.schema.$ref !== undefined && seen.has(pair)) return [];
  const [one, other] = [plain(before), plain(after)];
  const within = new Set([...seen, pair]);
  const into = (was: unknown, is: unknown, name: string): readonly SchemaChange[] =>
    compare({
      before: { ...before, schema: was as JsonObject },
      after: { ...after, schema: is as JsonObject },
      path: name,
      seen: within,
    });
  const { pairs, gone, came } = pairAlternatives(alternativesOf(one, before), alternativesOf(other, after));
  return [
    ...nullChanges(one, other, path),
    ...typeChanges(one, other, path, into),
    ...pairs.flatMap(([was, is]) => into(was.schema, is.schema, path)),
    ...(gone > 0 && isUnion(other)
      ? [{ path, kind: 'narrower', says: 'has fewer alternatives' } as const]
      : []),
    ...(came > 0 && isUnion(one) ? [{ path, kind: 'wider', says: 'has more alternatives' } as const] : []),
  ];
};

const isUnion = ({ schema }: Plain): boolean => Array.isArray(schema.anyOf);

const alternativesOf = ({ schema: { anyOf = [] } }: Plain, whole: Schema): readonly Alternative[] =>
  (anyOf as readonly JsonObject[]).map((schema) => ({ schema, followed: followed({ ...whole, schema }) }));

type Into = (was: unknown, is: unknown, path: string) => readonly SchemaChange[];
type Plain = { readonly schema: Object_; readonly isNullable: boolean };

/** Without descriptions, with references resolved, and null separate. */
const plain = (whole: Schema): Plain => {
  const schema = followed(whole);
  const { anyOf, oneOf = anyOf, ...rest } = schema;
  if (Array.isArray(oneOf)) {
    const others = oneOf.filter((each) => (each as JsonObject).type !== 'null');
    const isNullable = others.length < oneOf.length;
    if (others.length > 1) return { schema: { ...rest, anyOf: others }, isNullable };
    const only = plain({ ...whole, schema: (others[0] ?? {}) as JsonObject });
    return { schema: { ...rest, ...only.schema }, isNullable: isNullable || only.isNullable };
  }
  if (!Array.isArray(schema.type)) return { schema, isNullable: schema.type === 'null' };
  const types = schema.type.filter((type) => type !== 'null');
  return {
    schema: { ...schema, type: types.toSorted().join(' or ') },
    isNullable: types.length < schema.type.length,
  };
};

const REFERENCE = /^#\/(?:components\/schemas|\$defs)\//;
const ANNOTATIONS = [
  '$schema',
  '$id',
  'id',
  'title',
  'description',
  'examples',
  'default',
  'readOnly',
  'deprecated',
];

const followed = ({ schema, named = {} }: Schema): Object_ => {
  const { $ref, ...own } = schema;
  const target = typeof $ref === 'string' ? named[$ref.replace(REFERENCE, '')] : undefined;
  const said = Object.fromEntries(
    Object.entries({ ...target, ...own }).filter(([key]) => !ANNOTATIONS.includes(key)),
  );
  return isAnything(said) ? {} : isNumeric(said) ? numeric(said) : said;
};

const JSON_TYPES = ['string', 'number', 'boolean', 'null', 'array', 'object'];

/** A union of all JSON types. */
const isAnything = ({ anyOf = [] }: Object_): boolean => {
  const types = new Set((anyOf as readonly JsonObject[]).map(({ type }) => type));
  return JSON_TYPES.every((type) => types.has(type));
};

const isNumeric = ({ type }: Object_): boolean => type === 'integer' || type === 'number';

/**
 * `format` of a number is a hint for generators; its limits say which values it has. A whole constant is an
 * integer.
 */
const numeric = ({ format: _, ...schema }: Object_): Object_ =>
  Number.isSafeInteger(schema.const) ? { ...schema, type: 'integer' } : schema;

const nullChanges = (one: Plain, other: Plain, path: string): readonly SchemaChange[] => {
  if (one.isNullable === other.isNullable) return [];
  return other.isNullable
    ? [{ path, kind: 'nullable', says: 'can now be null' }]
    : [{ path, kind: 'notNull', says: 'can no longer be null' }];
};

const typeChanges = (
  { schema: one }: Plain,
  { schema: other }: Plain,
  path: string,
  into: Into,
): readonly SchemaChange[] => {
  if (one.type !== other.type || Array.isArray(one.anyOf) !== Array.isArray(other.anyOf)) {
    return [{ path, kind: 'other', says: `was ${shapeOf(one)} and is ${shapeOf(other)}` }];
  }
  return [
    ...propertyChanges(one, other, path, into),
    ...(one.items !== undefined && other.items !== undefined
      ? into(one.items, other.items, `${path}[]`)
      : []),
    ...(isSchema(one.additionalProperties) && isSchema(other.additionalProperties)
      ? into(one.additionalProperties, other.additionalProperties, `${path}.*`)
      : []),
    ...wordChanges(one, other, path),
    ...limitChanges(one, other, path),
    ...restChanges(one, other, path),
  ];
};

const isSchema = (value: unknown): boolean => typeof value === 'object' && value !== null;

const shapeOf = ({ type, anyOf }: Object_): string =>
  Array.isArray(anyOf) ? 'one of several' : type === undefined ? 'anything' : String(type);

const propertyChanges = (one: Object_, other: Object_, path: string, into: Into): readonly SchemaChange[] => {
  const [was, is] = [one, other].map(({ properties = {} }) => properties as Object_) as [Object_, Object_];
  const [needed, needs] = [one, other].map(({ required = [] }) => new Set(required as readonly string[])) as [
    Set<string>,
    Set<string>,
  ];
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  return [
    ...Object.keys(was).flatMap((name): readonly SchemaChange[] => {
      if (!(name in is)) return [{ path: at(name), kind: 'gone', says: 'is gone' }];
      const demand: readonly SchemaChange[] =
        needed.has(name) === needs.has(name)
          ? []
          : needs.has(name)
            ? [{ path: at(name), kind: 'required', says: 'is now required' }]
            : [{ path: at(name), kind: 'optional', says: 'is no longer required' }];
      return [...demand, ...into(was[name], is[name], at(name))];
    }),
    ...Object.keys(is).flatMap((name): readonly SchemaChange[] => {
      if (name in was) return [];
      return [
        needs.has(name)
          ? { path: at(name), kind: 'cameRequired', says: 'is new and required' }
          : { path: at(name), kind: 'came', says: 'is new' },
      ];
    }),
  ];
};

const wordChanges = (one: Object_, other: Object_, path: string): readonly SchemaChange[] => {
  const [was, is] = [wordsIn(one), wordsIn(other)];
  if (was === undefined || is === undefined) {
    if (was === is) return [];
    return [
      was === undefined
        ? { path, kind: 'narrower', says: 'is now one of a fixed set of values' }
        : { path, kind: 'wider', says: 'can now be any string' },
    ];
  }
  return [
    ...was
      .filter((word) => !is.includes(word))
      .map((word): SchemaChange => ({ path, kind: 'narrower', says: `cannot be ${word} any more` })),
    ...is
      .filter((word) => !was.includes(word))
      .map((word): SchemaChange => ({ path, kind: 'wider', says: `can be ${word} now` })),
  ];
};

const wordsIn = (schema: Object_): readonly string[] | undefined =>
  'const' in schema
    ? [JSON.stringify(schema.const)]
    : Array.isArray(schema.enum)
      ? schema.enum.map((each) => JSON.stringify(each))
      : undefined;

/** Whether a higher limit accepts more. */
const LIMITS: Readonly<Record<string, boolean>> = {
  maxLength: true,
  maximum: true,
  exclusiveMaximum: true,
  maxItems: true,
  minLength: false,
  minimum: false,
  exclusiveMinimum: false,
  minItems: false,
};

const limitChanges = (one: Object_, other: Object_, path: string): readonly SchemaChange[] =>
  Object.entries(LIMITS).flatMap(([limit, isUpper]): readonly SchemaChange[] => {
    const [was, is] = [one[limit], other[limit]] as readonly (number | undefined)[];
    if (was === is) return [];
    const isWider = is === undefined || (was !== undefined && is > was === isUpper);
    return [
      {
        path,
        kind: isWider ? 'wider' : 'narrower',
        says: `${limit} was ${was ?? 'open'} and is ${is ?? 'open'}`,
      },
    ];
  });

const COMPARED = new Set([
  'type',
  'properties',
  'required',
  'items',
  'anyOf',
  'enum',
  'const',
  ...Object.keys(LIMITS),
]);

const GROUP = /\(\?:((?:[\w.-]+\|)*[\w.-]+)\)/;

/** Two patterns whose first group of words differs: the names of aggregates, to which one was added. */
const acceptsMore = (was: unknown, is: unknown): boolean => {
  const [one, other] = [GROUP.exec(String(was)), GROUP.exec(String(is))];
  if (one === null || other === null) return false;
  if (String(was).replace(GROUP, '') !== String(is).replace(GROUP, '')) return false;
  const words = new Set(other[1]?.split('|'));
  return one[1]?.split('|').every((word) => words.has(word)) === true;
};

/** Otherwise it is undecidable here which of two patterns accepts more. */
const restChanges = (one: Object_, other: Object_, path: string): readonly SchemaChange[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key): readonly SchemaChange[] => {
    const [was, is] = [one[key], other[key]];
    if (
      COMPARED.has(key) ||
      isDeepStrictEqual(was, is) ||
      (key === 'additionalProperties' && isSchema(was) && isSchema(is))
    )
      return [];
    if (was === undefined) return [{ path, kind: 'narrower', says: `has a ${key} now` }];
    if (is === undefined) return [{ path, kind: 'wider', says: `has no ${key} any more` }];
    if (key === 'pattern' && acceptsMore(was, is))
      return [{ path, kind: 'wider', says: 'accepts more words' }];
    return [{ path, kind: 'other', says: `has another ${key}` }];
  });
