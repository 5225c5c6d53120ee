const WEIGHT_OF_EACH = 300;
const WEIGHT_OF_ITEM = 64;

/** The memory of a state, in characters. */
export const weigh = (state: unknown): number => WEIGHT_OF_EACH + lengthOf(state);

const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  const ofEach = Array.isArray(value) ? WEIGHT_OF_ITEM : 0;
  return Object.values(value).reduce(
    (sum: number, each) => sum + (typeof each === 'object' ? ofEach : 0) + lengthOf(each),
    0,
  );
};
