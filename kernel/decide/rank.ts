/**
 * Texts between which there is always another one, so that an item is moved by changing it alone. A rank
 * begins with a whole number, whose first letter says how many digits it has, so that what is put first or
 * last again and again stays short; what follows lies between two whole numbers, and never ends with the
 * lowest digit. They sort by their characters, as PostgreSQL's collation "C" does.
 */
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const [LOWEST, HIGHEST] = ['0', 'z'];
const FIRST = 'a0';

/** So long is none of those that are made by putting items first or last, or where others are. */
export const RANK_CHARACTERS_MAX = 50;
export const RANK = new RegExp(`^[A-Za-z][0-9A-Za-z]{1,${RANK_CHARACTERS_MAX - 1}}$`);

/** Between two others; before all without the first, after all without the second. */
export const between = (after: string | undefined, before: string | undefined): string => {
  if (after === undefined && before === undefined) return FIRST;
  if (after === undefined) {
    const whole = wholeOf(before as string);
    return whole.length < (before as string).length ? whole : stepped(whole, -1);
  }
  const whole = wholeOf(after);
  if (before === undefined) return stepped(whole, 1);
  const next = whole === wholeOf(before) ? undefined : stepped(whole, 1);
  if (next !== undefined && next < before) return next;
  return (
    whole + midpoint(after.slice(whole.length), next === undefined ? before.slice(whole.length) : undefined)
  );
};

/** So many, in order, each as short as can be. */
export const spread = (count: number): readonly string[] => {
  const ranks: string[] = [];
  for (let index = 0; index < count; index += 1) ranks.push(between(ranks.at(-1), undefined));
  return ranks;
};

/** From `a` upwards, and from `Z` downwards, whole numbers have one digit more with each letter. */
const wholeOf = (rank: string): string => {
  const head = rank.charCodeAt(0);
  return rank.slice(0, 1 + (head >= 97 ? head - 96 : 91 - head));
};

/** The next whole number, or the one before. */
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
  // All of its digits turned: those of the next letter are one more, or one less.
  const head = whole.charAt(0);
  if (head === 'Z' && step === 1) return FIRST;
  if (head === 'a' && step === -1) return `Z${HIGHEST}`;
  const next = String.fromCharCode(head.charCodeAt(0) + step);
  const isLonger = next >= 'a' ? step === 1 : step === -1;
  return next + (isLonger ? turned + to : turned.slice(1));
};

/** Of what follows whole numbers; nothing above is the end of all. */
const midpoint = (low: string, high: string | undefined): string => {
  const lengthMax = Math.max(low.length, high?.length ?? 0);
  for (let index = 0, above = high, rank = ''; index <= lengthMax; index += 1) {
    const from = DIGITS.indexOf(low.charAt(index) || LOWEST);
    const to = above === undefined ? DIGITS.length : DIGITS.indexOf(above.charAt(index) || LOWEST);
    if (to - from > 1) return rank + DIGITS.charAt(Math.floor((from + to) / 2));
    rank += DIGITS.charAt(from);
    if (from < to) above = undefined;
  }
  throw new Error(`no rank is between ${low} and ${high}, which are in no order`);
};
