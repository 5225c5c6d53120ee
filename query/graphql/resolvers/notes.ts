import { responsePathAsArray } from 'graphql';

export type Path = Parameters<typeof responsePathAsArray>[0];

/** Why a field of the data is null although nothing failed, as clients see it in `extensions.notes`. */
export type Note = {
  readonly path: readonly (string | number)[];
  readonly code: string;
  readonly message: string;
};

/** The notes on one answer. */
export type Notes = {
  add(path: Path, note: Omit<Note, 'path'>): void;
  list(): readonly Note[];
};

/** An operation may ask for the same in every item of a list. */
const NOTES_MAX = 50;

export const createNotes = (): Notes => {
  const notes: Note[] = [];
  return {
    add(path, note) {
      if (notes.length < NOTES_MAX) notes.push({ path: responsePathAsArray(path), ...note });
    },
    list: () => notes,
  };
};
