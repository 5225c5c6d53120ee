import fc from 'fast-check';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { Random } from '../random.ts';
import { demandsOf, edgesOf, isWithin } from './edges.ts';

/**
 * Field values that match the declaration: equal for equal serial numbers, and different for different ones
 * as far as the field has room.
 */
export const fieldValue = (def: FieldDef, serial: number, year = 2026): unknown => {
  const found = candidatesOf(def, serial, year).find((value) => def.demanded.safeParse(value).success);
  if (found === undefined && !def.optional)
    throw new RangeError(`no value was found for a field of kind ${def.kind}: give it an .example()`);
  return found ?? null;
};

/**
 * Invalid values of a form that must be refused at this field, by its declared limits, independently of the
 * kernel.
 */
export const wrongValuesOf = (def: FieldDef, serial: number): readonly unknown[] => {
  const limits = demandsOf(def);
  return [
    ...WRONG[def.kind].filter((value) => !isWithin(limits, value)),
    ...edgesOf(def, serial).refused,
    ...(def.optional ? [] : [null]),
  ];
};

type Kind = FieldDef['kind'];
/** Of another type, or outside every limit. */
const WRONG: Readonly<Record<Kind, readonly unknown[]>> = {
  text: [5, '', ['a'], 'nul \u0000'],
  choice: ['no such word', 5],
  states: ['no such word', 5],
  instant: ['yesterday', 5],
  date: ['yesterday', 5],
  integer: ['1', 1.5, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER],
  boolean: ['true', 1],
  set: ['a', [5]],
  ref: ['x', -1, 0, 1.5],
  upload: ['javascript:alert(1)', 5],
  list: [],
  value: [],
};

/** A shorter text would be found everywhere. */
const MARKER_CHARACTERS = 12;

/** A unique word, as far as the field has room for it: a search finds this value and no other. */
export const markerOf = (def: FieldDef, random: Random): string | undefined => {
  if (def.kind !== 'text') return undefined;
  const word = `mark${Array.from({ length: 16 }, () => random.pick(LETTERS)).join('')}`;
  return [word, word.slice(0, MARKER_CHARACTERS)].find((text) => def.demanded.safeParse(text).success);
};
/** Whether the field accepts such a word at all. */
export const hasRoom = (def: FieldDef): boolean =>
  def.demanded.safeParse(LETTERS.slice(0, MARKER_CHARACTERS).join('')).success;
const LETTERS = [...'abcdefghijkmnopqrstuvwxyz'];

const candidatesOf = (def: FieldDef, serial: number, year: number): readonly unknown[] => {
  switch (def.kind) {
    case 'choice':
    case 'states': {
      const values = def.values ?? [];
      return values.slice(serial % values.length);
    }
    case 'boolean':
      return [serial % 2 === 0];
    case 'integer':
      return integersOf(def, serial);
    case 'instant':
      return [new Date(Date.UTC(year, 0, 1 + (serial % 300))).toISOString()];
    case 'date':
      return [new Date(Date.UTC(year, 0, 1 + (serial % 300))).toISOString().slice(0, 10)];
    case 'set':
      return [setsOf(def, serial), []];
    case 'upload':
      return [`https://example.com/${serial}.png`];
    case 'text':
      return textsOf(def, serial);
    default:
      return [];
  }
};

const integersOf = (def: FieldDef, serial: number): readonly number[] => {
  const { minimum = 0, maximum = 1_000 } = demandsOf(def);
  // Small, so that sums stay within the limits of a domain.
  const room = Math.min(maximum - minimum, 50);
  return [minimum + (room === 0 ? 0 : 1 + (serial % room)), minimum];
};

const textsOf = (def: FieldDef, serial: number): readonly unknown[] => {
  const number = serial.toString(36);
  const shown = typeof def.example === 'string' ? [`${def.example} ${number}`] : [];
  return [
    ...shown,
    `Words ${number}`,
    `w${number}`,
    `someone-${number}@example.com`,
    ...matching(demandsOf(def).pattern, serial),
    def.example,
    // As far as a very short field has room for it.
    number,
    number.at(-1),
  ];
};

const matching = (pattern: string | undefined, seed: number): readonly string[] =>
  pattern === undefined ? [] : fc.sample(fc.stringMatching(new RegExp(pattern)), { seed, numRuns: 20 });

/** One word, or two. */
const setsOf = (def: FieldDef, serial: number): readonly unknown[] => {
  const words = new Set(
    ['tag', ...matching(demandsOf(def).items?.pattern, serial)].filter(
      (word) => def.demanded.safeParse([word]).success,
    ),
  );
  return [...words].toSorted().slice(0, 1 + (serial % 2));
};
