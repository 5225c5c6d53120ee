/**
 * Computes a value once for each key, and keeps it as long as the key: for a domain, a kind, a right. The first
 * argument names its type, because the value must depend on nothing else.
 */
export const oncePer = <Key extends object, Value>(
  compute: (key: Key) => Exclude<Value, undefined>,
): ((key: Key) => Value) => {
  const known = new WeakMap<Key, Exclude<Value, undefined>>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const made = compute(key);
    known.set(key, made);
    return made;
  };
};
