import type { ZxcvbnFactory } from '@zxcvbn-ts/core';

/** What the person is called: the first that is tried of anybody. */
export type Owner = { readonly name: string; readonly email: string };

/** Guesses, as a power of ten: what a hundred million of them find is too weak where the hashes are stolen. */
const GUESSES_LOG10_MIN = 8;
/** What the estimate looks at: it takes longer than linear time, and what is strong so far is strong. */
const LENGTH_MAX = 24;
const PART_CHARACTERS_MIN = 3;
/** Of the name, and as many of the address: each takes time in each guess. */
const PARTS_MAX = 5;

/** Whether a password would be found soon by whoever tries known passwords, words, patterns, and what the person is called. */
export const isEasyToGuess = async (password: string, owner: Owner): Promise<boolean> => {
  estimator ??= load();
  const { guessesLog10 } = (await estimator).check(password.normalize('NFC'), partsOf(owner));
  return guessesLog10 < GUESSES_LOG10_MIN;
};

/** About 30 MiB, so it is loaded when somebody first chooses a password, and in no other role. */
let estimator: Promise<ZxcvbnFactory> | undefined;

const load = async (): Promise<ZxcvbnFactory> => {
  const [{ ZxcvbnFactory }, { dictionary, adjacencyGraphs }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: LENGTH_MAX });
};

const partsOf = ({ name, email }: Owner): string[] => {
  const together = [name, name.replaceAll(/\s+/g, ''), email, 'annals'];
  return [...together, ...partsAt(/\s+/, name), ...partsAt(/[@.+_-]/, email)].filter(isLongEnough);
};

const partsAt = (separator: RegExp, text: string): string[] => text.split(separator).filter(isLongEnough).slice(0, PARTS_MAX);
const isLongEnough = (part: string): boolean => part.length >= PART_CHARACTERS_MIN;
