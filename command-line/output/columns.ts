import { stripVTControlCharacters } from 'node:util';
import { harmless } from './print-event.ts';

const GAP = '  ';

/** Rows as aligned columns below their headings; numbers are right-aligned. */
export const columns = (
  headings: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): readonly string[] => {
  const all = [
    headings,
    ...rows.map((row) => row.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : cell))),
  ];
  const widths = headings.map((_, index) => Math.max(...all.map((row) => widthOf(row[index] ?? ''))));
  const isNumeric = headings.map(
    (_, index) => rows.length > 0 && rows.every((row) => typeof row[index] === 'number'),
  );
  return all.map((row) =>
    row
      .map((cell, index) => padded(cell, widths[index] ?? 0, isNumeric[index] ?? false))
      .join(GAP)
      .trimEnd(),
  );
};

const padded = (cell: string, width: number, isNumeric: boolean): string => {
  const room = ' '.repeat(width - widthOf(cell));
  return isNumeric ? room + cell : cell + room;
};

const widthOf = (cell: string): number => stripVTControlCharacters(cell).length;

const CELL_CHARACTERS_MAX = 60;

/** Foreign text on one line, safe for a terminal. */
export const cellOf = (text: string, charactersMax = CELL_CHARACTERS_MAX): string => {
  const line = harmless(text.replaceAll(/\s+/g, ' ').trim());
  return line.length > charactersMax ? `${line.slice(0, charactersMax - 1)}…` : line;
};
