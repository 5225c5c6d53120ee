/** Random values that follow from a seed alone. */
export type Random = {
  /** A whole number below the limit. */
  below(limit: number): number;
  chance(percent: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  some<Item>(max: number, make: (index: number) => Item): Item[];
  text(): string;
};

const LETTERS = [
  ...['"', '\\', '\n', '\t', '\b', '\f', '\r', '\u0001', '\u001f', '\u007f', '\u2028', '\ufeff', '\uffff'],
  ...['😀', 'é', 'e\u0301', "'", '$1', '/', '%', '<', '&', ' engines ', 'of Ada', 'null', '0', ' '],
];

/** Numbers in [0, 1) determined by a seed (mulberry32), so that a run can be repeated. */
export const createRandom = (seed: number): (() => number) => {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

export const randomOf = (seed: number): Random => {
  const next = createRandom(seed);
  const below = (limit: number): number => Math.floor(next() * limit);
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  const some = <Item>(max: number, make: (index: number) => Item): Item[] =>
    Array.from({ length: below(max + 1) }, (_, index) => make(index));
  const character = (): string => {
    const code = 1 + below(below(10) === 0 ? 0x10ffff : 0xff);
    return code >= 0xd800 && code <= 0xdfff ? '?' : String.fromCodePoint(code);
  };
  return {
    below,
    pick,
    some,
    chance: (percent) => below(100) < percent,
    text: () => some(8, () => (below(2) === 0 ? pick(LETTERS) : character())).join(''),
  };
};

export const shuffled = <Each>(random: () => number, all: readonly Each[]): readonly Each[] =>
  all
    .map((each) => ({ each, rank: random() }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ each }) => each);
