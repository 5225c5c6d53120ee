import type { Json } from '#kernel/base/json.ts';
import type { Random } from '../../testing/random.ts';
import { someOf, WORDS } from './names.ts';
import { code, type FieldPlan } from './plan.ts';

const of = (type: string, ...given: Json[]): FieldPlan => ({ type, given, options: {} });
const range = (random: Random): readonly [number, number] => {
  const least = random.pick([0, 1, -5, -1_000_000, 18, Number.MIN_SAFE_INTEGER]);
  return random.chance(90)
    ? [least, least + random.pick([0, 1, 9, 1_000, 2_147_483_648])]
    : [0, Number.MAX_SAFE_INTEGER];
};
const word = (): FieldPlan => of('word', code('/^[a-z]{1,9}$/'), 'Must be 1 to 9 small letters.');
const length = (random: Random): number => random.pick([1, 2, 40, 200, 1_000, 100_000]);

const MEDIA_TYPES = 'application/pdf image/png text/csv application/zip application/x-unknown'.split(' ');

const MAKERS: Readonly<Record<string, (random: Random) => FieldPlan>> = {
  line: (random) => of('line', length(random)),
  prose: (random) => of('prose', length(random)),
  markdown: (random) => of('markdown', length(random)),
  word,
  date: () => of('date'),
  instant: () => of('instant'),
  integer: (random) => of('integer', ...range(random)),
  flag: () => of('flag'),
  choice: (random) => of('choice', ...someOf(random, WORDS, 1).slice(0, 3)),
  set: (random) => of('set', word() as unknown as Json, random.pick([1, 2, 9])),
  file: (random) =>
    of('file', {
      types: someOf(random, MEDIA_TYPES, 1),
      bytesMax: random.pick([1_000, 10_000_000, 104_857_600]),
    }),
  picture: (random) => (random.chance(50) ? of('picture') : of('picture', { external: true })),
};

/** A field that is neither a reference, a list, nor a state. */
export const randomField = (random: Random): FieldPlan => {
  const type = random.pick(Object.keys(MAKERS));
  const plan = MAKERS[type]?.(random) ?? of('flag');
  if (random.chance(30) || isUploadOnly(plan)) plan.options.optional = [];
  return plan;
};

/** Its aggregate or item exists before its file. */
export const isUploadOnly = ({ type, given }: FieldPlan): boolean =>
  type === 'file' || (type === 'picture' && given.length === 0);

/** Values that the field accepts, for defaults, examples and conditions. */
export const valuesFor = ({ type, given }: FieldPlan): readonly Json[] => {
  switch (type) {
    case 'line':
    case 'prose':
      return Number(given[0]) > 5 ? ['Ada', 'a b', "it's", '0'] : ['A', '7'];
    case 'markdown':
      return Number(given[0]) > 5 ? ['', '**Ada**', "it's"] : ['', 'A'];
    case 'word':
      return ['ada', 'x'];
    case 'date':
      return ['2026-01-31', '1999-12-31'];
    case 'instant':
      return ['2026-01-02T03:04:05.678Z'];
    case 'integer':
      return [...new Set([Number(given[0]), Number(given[1])])];
    case 'flag':
      return [true, false];
    case 'choice':
    case 'states':
      return given;
    default:
      return [];
  }
};

const hasRoom = (type: string, [length]: readonly Json[]): boolean =>
  ['line', 'prose'].includes(type) && Number(length) >= 40;

const OPTIONS: readonly ((plan: FieldPlan, random: Random) => readonly [string, Json[]])[] = [
  () => ['optional', []],
  (plan, random) => ['default', [random.pick([...valuesFor(plan), ...(plan.type === 'set' ? [[]] : [])])]],
  (_, random) => ['filter', random.chance(50) ? [] : [random.pick(['only', 'with', 'status', 'tag'])]],
  () => ['sort', []],
  (_, random) => ['search', [random.pick(['A', 'B', 'C', 'D'])]],
  // Where no two values need to be equal; the checks would soon run out of others.
  ({ type, given }) => ['unique', hasRoom(type, given) ? [] : [undefined as never]],
  (plan, random) => [
    'personal',
    ['line', 'prose', 'markdown'].includes(plan.type) && random.chance(50) ? [{ erased: '[x]' }] : [],
  ],
  (_, random) => ['says', [random.pick(['One sentence.', 'With `code`, "quotes" and <b>.', 'A\nB'])]],
  (plan, random) => ['example', [random.pick(valuesFor(plan))]],
];

/** One more option; false if there is nothing to give it. */
export const addOption = (plan: FieldPlan, random: Random): boolean => {
  const [name, given] = random.pick(OPTIONS)(plan, random);
  if (given.includes(undefined as never) || Object.hasOwn(plan.options, name)) return false;
  plan.options[name] = given;
  return true;
};
