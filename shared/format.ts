/** Numbers, sizes and spans for people. */

const WHOLE = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });
const ONE_DIGIT = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 });
const SMALL = 10;

export const countText = (value: number): string => WHOLE.format(value);

export const rateText = (perSecond: number): string =>
  `${(perSecond < SMALL ? ONE_DIGIT : WHOLE).format(perSecond)}/s`;

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 86_400;

/** A span, with no more than two units. */
export const spanText = (seconds: number): string => {
  if (seconds < SMALL) return `${ONE_DIGIT.format(seconds)} s`;
  if (seconds < MINUTE_S) return `${Math.round(seconds)} s`;
  if (seconds < HOUR_S) return withRest(seconds, [MINUTE_S, 'min'], [1, 's']);
  if (seconds < DAY_S) return withRest(seconds, [HOUR_S, 'h'], [MINUTE_S, 'min']);
  return withRest(seconds, [DAY_S, 'd'], [HOUR_S, 'h']);
};

type Unit = readonly [seconds: number, name: string];

const withRest = (seconds: number, [large, largeName]: Unit, [small, smallName]: Unit): string => {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
};

const KIB = 1_024;

export const bytesText = (bytes: number): string => {
  let [value, unit] = [bytes, 'B'];
  for (const larger of ['KiB', 'MiB', 'GiB', 'TiB']) {
    if (value < KIB) break;
    [value, unit] = [value / KIB, larger];
  }
  return `${ONE_DIGIT.format(value)} ${unit}`;
};

/** `1 item`, `2 items`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;

const CURSOR_SHOWN = 24;

/** Cuts long text to its beginning. */
export const shortText = (text: string, shown = CURSOR_SHOWN): string =>
  text.length > shown ? `${text.slice(0, shown - 1)}…` : text;
