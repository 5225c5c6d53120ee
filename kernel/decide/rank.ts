/**
 * Ranks are strings, and between any two lies another, so that a move changes one item only. A rank starts
 * with an integer, whose first letter encodes its number of digits, so that repeated insertion at the start
 * or end keeps ranks short. The rest is a fraction that never ends with the lowest digit. Ranks sort by
 * character, like PostgreSQL’s collation "C".
 */
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const [LOWEST, HIGHEST] = ['0', 'z'];
const FIRST = 'a0';

/** Insertion at the start, at the end or into an evenly spread list never makes a rank this long. */
export const RANK_CHARACTERS_MAX = 50;
export const RANK = new RegExp(`^[A-Za-z][0-9A-Za-z]{1,${RANK_CHARACTERS_MAX - 1}}$`);

/**
 * A rank between two others; before all if the first is missing, after all if the second is. Undefined if there
 * is none: of imports and of domain code, the second may be the first with zeros behind it.
 */
export const between = (after: string | undefined, before: string | undefined): string | undefined => {
  const isBetween = (rank: string | undefined): boolean =>
    rank !== undefined &&
    IN_ALPHABET.test(rank) &&
    (after === undefined || rank > after) &&
    (before === undefined || rank < before);
  const rank = byIntegers(after, before);
  if (isBetween(rank)) return rank;
  // Ranks of imports and of domain code may lack digits of their integer, or have the last one there is.
  const other = midpoint(after ?? LEAST, before);
  const text = other?.length === 1 ? `${other}${MIDDLE}` : other;
  return isBetween(text) ? text : undefined;
};

const IN_ALPHABET = /^[A-Za-z][0-9A-Za-z]+$/;
const LEAST = 'A';
const MIDDLE = 'V';

const byIntegers = (after: string | undefined, before: string | undefined): string | undefined => {
  if (after === undefined && before === undefined) return FIRST;
  if (after === undefined) {
    const whole = wholeOf(before as string);
    return whole.length < (before as string).length ? whole : stepped(whole, -1);
  }
  const whole = wholeOf(after);
  if (before === undefined) return stepped(whole, 1);
  const next = whole === wholeOf(before) ? undefined : stepped(whole, 1);
  if (next !== undefined && next < before) return next;
  const fraction = midpoint(
    after.slice(whole.length),
    next === undefined ? before.slice(whole.length) : undefined,
  );
  return fraction === undefined ? undefined : whole + fraction;
};

/** Ordered ranks for that many items, each as short as possible. */
export const spread = (count: number): readonly string[] => {
  const ranks: string[] = [];
  for (let index = 0, rank = FIRST; index < count; index += 1, rank = stepped(rank, 1)) ranks.push(rank);
  return ranks;
};

/** Integers grow by one digit with each letter from `a` upwards and from `Z` downwards. */
const wholeOf = (rank: string): string => {
  const head = rank.charCodeAt(0);
  return rank.slice(0, 1 + (head >= 97 ? head - 96 : 91 - head));
};

/** The next integer, or the previous one. */
const stepped = (whole: string, step: 1 | -1): string => {
  const [from, to] = step === 1 ? [HIGHEST, LOWEST] : [LOWEST, HIGHEST];
  let kept = whole.slice(1);
  let turned = '';
  while (kept.endsWith(from)) {
    kept = kept.slice(0, -1);
    turned += to;
  }
  if (kept !== '')
    return `${whole.charAt(0)}${kept.slice(0, -1)}${DIGITS.charAt(DIGITS.indexOf(kept.slice(-1)) + step)}${turned}`;
  // All digits overflowed: the next letter has one digit more or less.
  const head = whole.charAt(0);
  if (head === 'Z' && step === 1) return FIRST;
  if (head === 'a' && step === -1) return `Z${HIGHEST}`;
  const next = String.fromCharCode(head.charCodeAt(0) + step);
  const isLonger = next >= 'a' ? step === 1 : step === -1;
  return next + (isLonger ? turned + to : turned.slice(1));
};

/** A fraction between two others, if there is one; without the second, up to the end of the range. */
const midpoint = (low: string, high: string | undefined): string | undefined => {
  const lengthMax = Math.max(low.length, high?.length ?? 0);
  for (let index = 0, above = high, rank = ''; index <= lengthMax; index += 1) {
    const from = DIGITS.indexOf(low.charAt(index) || LOWEST);
    const to = above === undefined ? DIGITS.length : DIGITS.indexOf(above.charAt(index) || LOWEST);
    if (to - from > 1) return rank + DIGITS.charAt(Math.floor((from + to) / 2));
    rank += DIGITS.charAt(from);
    if (from < to) above = undefined;
  }
  return undefined;
};
