import fc from 'fast-check';
import * as z from 'zod';
import type { FieldDef } from '#kernel/declare/fields.ts';

/** The limits of a field as JSON Schema states them, read without the kernel’s own code for them. */
type Limits = {
  readonly type?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly items?: Limits;
};
export const demandsOf = ({ demanded }: Pick<FieldDef, 'demanded'>): Limits =>
  z.toJSONSchema(demanded, { io: 'input', unrepresentable: 'any' }) as Limits;

/** Values on both sides of each limit: the last valid and the first invalid ones. */
type Edges = { readonly taken: readonly unknown[]; readonly refused: readonly unknown[] };
const NONE: Edges = { taken: [], refused: [] };

export const edgesOf = (def: FieldDef, serial: number): Edges => {
  switch (def.kind) {
    case 'text':
      return textEdges(demandsOf(def), serial);
    case 'integer':
      return integerEdges(demandsOf(def));
    case 'set':
      return setEdges({ ...demandsOf(def), ...(def.max !== undefined && { maxItems: def.max }) }, serial);
    case 'choice':
      return {
        taken: def.values ?? [],
        refused: (def.values ?? []).slice(0, 1).flatMap((word) => [`${word} `, `${word}x`, '']),
      };
    case 'date':
      return {
        taken: ['0001-01-01', '2028-02-29', '9999-12-31'],
        refused: ['0000-12-31', '2027-02-29', '2026-13-01', '2026-1-1'],
      };
    case 'instant':
      return {
        taken: ['0001-01-01T00:00:00.000Z', '2026-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
        refused: [
          ...['0000-12-31T23:59:59.999Z', '2026-02-30T00:00:00.000Z', '2026-12-31T24:00:00.001Z'],
          '2026-12-31',
        ],
      };
    case 'boolean':
      return { taken: [true, false], refused: [] };
    default:
      return NONE;
  }
};

const isExact = (value: number): boolean => Number.isSafeInteger(value);
const integerEdges = ({ minimum, maximum }: Limits): Edges => {
  const [low, high] = [minimum ?? Number.NaN, maximum ?? Number.NaN].map((edge) =>
    isExact(edge) ? [edge] : [],
  ) as [number[], number[]];
  return {
    taken: [...low, ...high],
    refused: [...low.map((edge) => edge - 1), ...high.map((edge) => edge + 1)].filter(isExact),
  };
};

/** Characters are code points: one that takes two units of UTF-16 counts once. Some texts need a letter. */
const WIDE = '😀';
/** Longer ones would only take time. */
const WIDE_MAX = 5_000;

const textEdges = (limits: Limits, serial: number): Edges => {
  const { maxLength, minLength = 0, pattern, format } = limits;
  if (maxLength === undefined) return pattern === undefined ? NONE : wordEdges(new RegExp(pattern), serial);
  const isSuch = (text: string): boolean =>
    format === 'email' || pattern === undefined || new RegExp(pattern, 'u').test(text);
  const filled = FILLED.map((fill) => fill(maxLength, serial)).find(
    (text) => text.length === maxLength && isSuch(text),
  );
  if (filled === undefined || (format === 'email' && !filled.includes('@')))
    return format === 'email' ? mailEdges(maxLength, serial) : NONE;
  const wide = `w${WIDE.repeat(maxLength - 1)}`;
  const mayBeWide = maxLength <= WIDE_MAX && isSuch(wide) && isSuch('w') && format === undefined;
  return {
    taken: [filled, ...(mayBeWide ? [wide] : [])],
    refused: [`${filled}x`, ...(mayBeWide ? [`${wide}${WIDE}`] : []), ...(minLength > 0 ? [''] : [])],
  };
};

const FILLED: readonly ((length: number, serial: number) => string)[] = [
  (length, serial) => `w${serial.toString(36)}`.padEnd(length, 'x').slice(0, length),
  (length, serial) => `https://example.com/${serial}`.padEnd(length, 'x'),
];

/** A local part of 64 characters, and a host name that fills the rest. */
const mailEdges = (maxLength: number, serial: number): Edges => {
  const of = (length: number): string => {
    const name = `${serial.toString(36).padStart(LOCAL_MAX, 'a')}@`;
    return `${name}${'b'.repeat(length - name.length - DOMAIN.length)}${DOMAIN}`;
  };
  return { taken: [of(maxLength)], refused: [of(maxLength + 1), ''] };
};
const LOCAL_MAX = 64;
const DOMAIN = '.example';

const LONGER_MAX = 400;
/**
 * The longest and the shortest match of a pattern, as far as repeating or dropping one of its characters
 * leads there.
 */
const wordEdges = (pattern: RegExp, serial: number): Edges => {
  const [first] = fc.sample(fc.stringMatching(pattern), { seed: serial, numRuns: 1 });
  if (first === undefined) return NONE;
  const longer = (text: string): string | undefined =>
    [...text]
      .map((letter, index) => `${text.slice(0, index)}${letter}${text.slice(index)}`)
      .find((each) => pattern.test(each));
  const shorter = (text: string): string | undefined =>
    [...text]
      .map((letter, index) => `${text.slice(0, index)}${text.slice(index + letter.length)}`)
      .find((each) => pattern.test(each));
  const longest = lastOf(first, longer);
  const shortest = lastOf(first, shorter);
  return {
    taken: longest.length < LONGER_MAX ? [longest] : [],
    refused: [
      ...(longest.length < LONGER_MAX ? [`${longest}${longest.at(-1) ?? 'x'}`] : []),
      shortest.slice(1),
    ].filter((text) => !pattern.test(text)),
  };
};

const lastOf = (first: string, next: (text: string) => string | undefined): string => {
  const following = first.length < LONGER_MAX ? next(first) : undefined;
  return following === undefined ? first : lastOf(following, next);
};

/** The maximum number of different items, one more, and a duplicate. */
const setEdges = ({ maxItems, uniqueItems = false, items = {} }: Limits, serial: number): Edges => {
  if (maxItems === undefined) return NONE;
  const words = distinctWords(items, { count: maxItems + 1, serial });
  const [first] = words;
  return {
    taken: words.length > maxItems ? [words.slice(0, maxItems)] : [],
    refused: [
      ...(words.length > maxItems ? [words] : []),
      ...(uniqueItems && first !== undefined && maxItems > 1 ? [[first, first]] : []),
    ],
  };
};

const SAMPLES = 20;
const distinctWords = (
  { pattern, maxLength }: Limits,
  { count, serial }: { readonly count: number; readonly serial: number },
): readonly string[] => {
  const numbered = Array.from({ length: count }, (_, index) =>
    `w${(serial + index).toString(36)}`.slice(0, maxLength),
  );
  const form = pattern === undefined ? undefined : new RegExp(pattern, 'u');
  const fitting = numbered.filter((word) => form === undefined || form.test(word));
  const sampled =
    form === undefined ? [] : fc.sample(fc.stringMatching(form), { seed: serial, numRuns: count * SAMPLES });
  return [...new Set([...fitting, ...sampled])].slice(0, count);
};

/** Whether a value is within the limits; any other must be refused, whatever the kernel thinks of it. */
export const isWithin = (limits: Limits, value: unknown): boolean => {
  if (typeof value === 'string') return limits.type === 'string' && isTextWithin(limits, value);
  if (typeof value === 'number')
    return (
      (limits.type === 'number' || (limits.type === 'integer' && Number.isInteger(value))) &&
      value >= (limits.minimum ?? value) &&
      value <= (limits.maximum ?? value)
    );
  if (Array.isArray(value))
    return (
      limits.type === 'array' &&
      value.length <= (limits.maxItems ?? value.length) &&
      value.every((each) => isWithin(limits.items ?? {}, each))
    );
  return limits.type === typeof value;
};

const isTextWithin = (
  { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format, enum: words }: Limits,
  value: string,
): boolean => {
  const { length } = [...value];
  if (words !== undefined) return words.includes(value);
  if (format === 'email' && !value.includes('@')) return false;
  return (
    length >= minLength &&
    length <= maxLength &&
    (pattern === undefined || new RegExp(pattern, 'u').test(value))
  );
};
