const VALUES_MAX = 1_000;
const KEY_CHARACTERS_MAX = 1_000;

/**
 * Memoizes a function of a text. Clears a full cache as a whole: an order of use would cost more at each
 * look-up than computing the values again.
 */
export const remember = <Value extends object | string | boolean>(
  make: (text: string) => Value,
): ((text: string) => Value) => {
  const known = new Map<string, Value>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = make(text);
    if (known.size >= VALUES_MAX) known.clear();
    if (text.length <= KEY_CHARACTERS_MAX) known.set(text, made);
    return made;
  };
};
