/** Parts of the words that make no difference, each with the reason. */
const EXCUSED: Readonly<Record<string, string>> = {
  'return { aggregate,⟦view, ⟧': 'publishing has no view',
  'const SECOND_APPROVAL_FROM =': 'only code of the author uses it',
  'delete: {⟦says': 'the text is the one that follows from the name',
  'write: {}⟧ → nothing': 'nobody has a right that is not declared',
  '⟦write⟧ → writex': 'the same, and the compiler refuses it',
};

export const isExcused = (word: string): boolean => Object.keys(EXCUSED).some((part) => word.includes(part));
