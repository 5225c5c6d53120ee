/** A syntactically valid representation: an object that names its type. */
export const demandRepresentation = (value: unknown): unknown => {
  if (
    typeof value === 'object' &&
    value !== null &&
    '__typename' in value &&
    typeof value.__typename === 'string'
  )
    return value;
  throw new TypeError('A representation is an object with its __typename.');
};
