/** A word longer than this is broken. */
const WORD_CHARACTERS_MAX = 32;
/** Text longer than this has its lines. */
const TEXT_CHARACTERS_MAX = 60;
const PADDING_CHARACTERS = 6;
/** Long words are code, whose letters are wider than those of text. */
const WORD_CHARACTER_WIDTH = 1.15;

/**
 * How wide each column of a table is, in hundredths of it, by what stands in it: a browser that finds that out for itself moves
 * everything once more while the rest of the page comes in.
 */
export const columnWidths = (rows: readonly (readonly string[])[]): readonly number[] => {
  const [first = []] = rows;
  const wanted = first.map((_, column) => wantedBy(rows.map((row) => row[column] ?? '')));
  const sum = wanted.reduce((total, each) => total + each, 0);
  return wanted.map((each) => Math.round((each / sum) * 100));
};

const wantedBy = (cells: readonly string[]): number => {
  const word = Math.max(...cells.flatMap((cell) => cell.split(/[\s/]/).map(({ length }) => length)));
  const average = cells.reduce((total, { length }) => total + length, 0) / cells.length;
  return Math.max(Math.min(word, WORD_CHARACTERS_MAX) * WORD_CHARACTER_WIDTH, Math.min(average, TEXT_CHARACTERS_MAX)) + PADDING_CHARACTERS;
};
