const ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/^paid$/, 'pay'],
  [/^sent$/, 'send'],
  [/^sold$/, 'sell'],
  [/^lost$/, 'lose'],
  [/^won$/, 'win'],
  [/^withdrawn$/, 'withdraw'],
  [/^cancelled$/, 'cancel'],
  [/ied$/, 'y'],
  // A doubled consonant, as in submitted, but not that of called or passed.
  [/([bdgmnprt])\1ed$/, '$1'],
  // Verbs that end with a silent e.
  [/((?:[aeiou][cgszv]|[aiou]t|ar?g|[lr][vs]|[td]u|[bcdfgkptz]l|[aiu]r|[iu]d|[aio]k|[io]n)e)d$/, '$1'],
  [/ed$/, ''],
];

/** The command that leads to a state: `approve` to `approved`. It is a suggestion, which authors can change. */
export const commandTo = (state: string): string => {
  const found = ENDINGS.find(([ending]) => ending.test(state));
  const made = found === undefined ? '' : state.replace(found[0], found[1]);
  return made.length < 2 ? `make${state.charAt(0).toUpperCase()}${state.slice(1)}` : made;
};
