/** A difference between the recorded contract and the current declaration. */
export type Finding = {
  /** The words that accept it, such as `event claim.paid amount`. */
  readonly what: string;
  /** Refused, shown as a warning, or recorded as an addition. */
  readonly weight: 'breaks' | 'warns' | 'adds';
  readonly says: string;
  /** The compatible way to make the change. */
  readonly instead?: string;
};

export const breaks = (what: string, says: string, instead: string): Finding => ({
  what,
  weight: 'breaks',
  says,
  instead,
});
export const warns = (what: string, says: string): Finding => ({ what, weight: 'warns', says });
export const adds = (what: string, says: string): Finding => ({ what, weight: 'adds', says });

export const byName = <T>(
  before: Readonly<Record<string, T>>,
  after: Readonly<Record<string, T>>,
): {
  readonly gone: readonly string[];
  readonly came: readonly string[];
  readonly both: readonly (readonly [string, T, T])[];
} => ({
  gone: Object.keys(before).filter((name) => !Object.hasOwn(after, name)),
  came: Object.keys(after).filter((name) => !Object.hasOwn(before, name)),
  both: Object.entries(before).flatMap(([name, was]) =>
    Object.hasOwn(after, name) ? [[name, was, after[name] as T] as const] : [],
  ),
});
