import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';

/**
 * Two values are equal if they are the same in JSON: an undefined property counts as absent. The error
 * shows the difference.
 */
export const demandEqual = (actual: unknown, wanted: unknown, what = ''): void => {
  const [is, should] = [plain(actual), plain(wanted)];
  if (isDeepStrictEqual(is, should)) return;
  throw new Error(`${what}${what === '' ? '' : '\n'}${differenceOf(is, should)}`);
};

/** Of the difference itself, so that no runner adds its own. */
const differenceOf = (actual: unknown, wanted: unknown): string => {
  try {
    assert.deepEqual(actual, wanted);
    return 'the values differ';
  } catch (error) {
    return (error as Error).message;
  }
};

const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .map(([name, each]) => [name, plain(each)]),
  );
};
