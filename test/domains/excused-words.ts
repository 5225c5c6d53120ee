/** Parts of the words that make no difference, each with the reason. */
const EXCUSED: Readonly<Record<string, string>> = {
  'return { aggregate,⟦view, ⟧': 'publishing has no view',
  'const SECOND_APPROVAL_FROM =': 'only code of the author uses it',
  'rights: { read: { signedIn: true },⟦write⟧': 'nobody has a right that is not declared',
  '⟦label⟧ → labelx': 'nothing refers to a claim, and the compiler refuses it',
  "⟦label: 'purpose'": 'nothing refers to a claim',
  "word(/^[a-z0-9-]{1,40}$/,⟦'Must be": 'only answers to a wrong word have this message',
  'delete: {⟦says': 'the text is the one that follows from the name',
  'write: {}⟧ → nothing': 'nobody has a right that is not declared',
};

export const isExcused = (word: string): boolean => Object.keys(EXCUSED).some((part) => word.includes(part));
