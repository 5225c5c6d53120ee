/**
 * Makes a value when somebody first asks for it, and keeps it; for code that most processes never need. A
 * failure is not kept, so the next caller tries again.
 */
export const whenAsked = <Value>(make: () => Promise<Value>): (() => Promise<Value>) => {
  let made: Promise<Value> | undefined;
  const keep = (): Promise<Value> => {
    const making = make();
    making.catch(() => {
      made = undefined;
    });
    return making;
  };
  return () => {
    made ??= keep();
    return made;
  };
};
