import fc from 'fast-check';
import type { Random } from '../../testing/random.ts';

/** A schema of `/openapi.json`. */
export type Schema = { readonly [word: string]: unknown };
type Drawing = {
  readonly random: Random;
  /** The schemas that references name. */
  readonly schemas: Readonly<Record<string, Schema>>;
  /** Ids of existing aggregates. */
  readonly ids: readonly number[];
};

const MEMBERS_MAX = 3;
/** Longer texts are tested elsewhere, and would only take time. */
const CHARACTERS_MAX = 300;

/** A random value that the schema accepts, often at its limits; numbers are often ids. */
export const valueFrom = (schema: Schema, drawing: Drawing): unknown => {
  const { random, schemas } = drawing;
  if (typeof schema.$ref === 'string')
    return valueFrom(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, drawing);
  if ('const' in schema) return schema.const;
  for (const word of ['anyOf', 'oneOf'] as const)
    if (Array.isArray(schema[word])) return valueFrom(random.pick(schema[word] as Schema[]), drawing);
  if (Array.isArray(schema.allOf))
    return Object.assign({}, ...(schema.allOf as Schema[]).map((each) => valueFrom(each, drawing)));
  if (Array.isArray(schema.enum)) return random.pick(schema.enum);
  const type = Array.isArray(schema.type) ? random.pick(schema.type as string[]) : schema.type;
  switch (type) {
    case 'object':
      return objectFrom(schema, drawing);
    case 'array':
      return random.some(Math.min(MEMBERS_MAX, Number(schema.maxItems ?? MEMBERS_MAX)), () =>
        valueFrom((schema.items ?? {}) as Schema, drawing),
      );
    case 'integer':
    case 'number':
      return numberFrom(schema, drawing);
    case 'boolean':
      return random.chance(50);
    case 'null':
      return null;
    default:
      return textFrom(schema, random);
  }
};

const objectFrom = (schema: Schema, drawing: Drawing): Readonly<Record<string, unknown>> => {
  const required = new Set((schema.required ?? []) as readonly string[]);
  return Object.fromEntries(
    Object.entries((schema.properties ?? {}) as Readonly<Record<string, Schema>>)
      .filter(([name]) => required.has(name) || drawing.random.chance(60))
      .map(([name, each]) => [name, valueFrom(each, drawing)]),
  );
};

const numberFrom = ({ minimum, maximum }: Schema, { random, ids }: Drawing): number => {
  const low = Number(minimum ?? 0);
  const high = Number(maximum ?? Number.MAX_SAFE_INTEGER);
  const known = ids.filter((id) => id >= low && id <= high);
  if (known.length > 0 && random.chance(60)) return random.pick(known);
  return random.pick([low, high, low + random.below(Math.min(1_000, high - low + 1))]);
};

const TEXTS: Readonly<Record<string, readonly string[]>> = {
  date: ['2026-01-31', '0001-01-01', '9999-12-31'],
  'date-time': ['2026-01-02T03:04:05.678Z', '9999-12-31T23:59:59.999Z'],
  email: ['ada@example.com', 'a@b.example'],
  uri: ['https://example.com/a.png'],
};

const textFrom = ({ format, pattern, minLength = 0, maxLength }: Schema, random: Random): string => {
  const known = TEXTS[String(format)];
  if (known !== undefined) return random.pick(known);
  if (typeof pattern === 'string') {
    const [text] = fc.sample(fc.stringMatching(new RegExp(pattern)), {
      seed: random.below(2 ** 31),
      numRuns: 1,
    });
    return (text ?? '').slice(0, Number(maxLength ?? CHARACTERS_MAX));
  }
  const length = Math.min(CHARACTERS_MAX, Number(maxLength ?? CHARACTERS_MAX));
  return random
    .text()
    .padEnd(Math.max(Number(minLength), random.pick([0, length])), 'x')
    .slice(0, length);
};
