const VALUES_MAX = 1_000;
const KEY_CHARACTERS_MAX = 1_000;

/**
 * Remembers what was made of a text that comes again and again. Where there are too many, all are forgotten: an order of use would cost
 * more at every look than to make them anew.
 */
export const remember = <Value extends object | string | boolean>(make: (text: string) => Value): ((text: string) => Value) => {
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
