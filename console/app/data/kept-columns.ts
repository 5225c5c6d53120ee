const keyOf = (kind: string): string => `console:columns:${kind}`;

/** The columns that somebody has chosen for a list in this browser, as the address has them. */
export const keptColumns = (kind: string): string | null => {
  try {
    return localStorage.getItem(keyOf(kind));
  } catch {
    // A browser that keeps nothing shows the usual columns.
    return null;
  }
};

/** Undefined: the usual ones again. */
export const keepColumns = (kind: string, columns: string | undefined): void => {
  try {
    if (columns === undefined) localStorage.removeItem(keyOf(kind));
    else localStorage.setItem(keyOf(kind), columns);
  } catch {
    // The address has them as long as the list is open.
  }
};
