/** A syntactically valid representation: an object that names its type. */
export const demandRepresentation = (value: unknown): unknown => {
  if (
    typeof value === 'object' &&
    value !== null &&
    '__typename' in value &&
    typeof value.__typename === 'string'
  )
    return value;
  throw new TypeError('A representation must be an object with a __typename.');
};
