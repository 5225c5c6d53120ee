export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

export const quantilesOf = (values: readonly number[]) => {
  const sorted = values.toSorted((a, b) => a - b);
  return (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

/** Prints Markdown, so that a run can be pasted into a note as it is. */
export const printTable = (head: readonly string[], rows: readonly (readonly string[])[]): void => {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string => {
    const padded = cells.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    return `| ${padded.join(' | ')} |`;
  };
  console.log(line(head));
  console.log(
    line(widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))),
  );
  for (const row of rows) console.log(line(row));
  console.log();
};

const firsts = new Map<string, number>();

/** A cost relative to that at the first scale. */
export const besideFirst = (key: string, cost: number): string => {
  const first = firsts.get(key) ?? cost;
  firsts.set(key, first);
  return `${(cost / first).toFixed(2)} ×`;
};
