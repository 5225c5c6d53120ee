import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import * as z from 'zod';
import { email } from '#kernel/base/values.ts';
import { name } from '#shared/commands/fields.ts';
import { EMAIL_MAX, PASSWORD_MAX, PASSWORD_MIN } from '../pages/parts/person-fields.ts';
import type { SignUpView } from '../pages/sign-up-page.ts';
import { formToken } from './form.ts';

const NAME_UNITS_MAX = 200;

export const SignUp = z.object({
  token: formToken,
  form: z.string().regex(/^[A-Za-z0-9_-]{22}$/),
  name: z.string().max(NAME_UNITS_MAX),
  email: z.string().max(EMAIL_MAX),
  password: z.string().max(PASSWORD_MAX),
});
export type SignUp = z.infer<typeof SignUp>;

/** The problems of a form in words; empty if it is valid. */
export const problemsIn = async (
  form: Pick<SignUp, 'name' | 'email' | 'password'>,
): Promise<SignUpView['problems']> => {
  const password = await passwordProblem(form);
  return {
    ...(!name.safeParse(form.name).success && {
      name: 'Enter a name of at most 100 characters, on one line.',
    }),
    ...(!email.safeParse(form.email).success && {
      email: 'Enter an e-mail address, such as name@example.com.',
    }),
    ...(password !== undefined && { password }),
  };
};

export const passwordProblem = async ({
  name,
  email,
  password,
}: Pick<SignUp, 'name' | 'email' | 'password'>): Promise<string | undefined> => {
  if ([...password].length < PASSWORD_MIN) return `Choose a password of at least ${PASSWORD_MIN} characters.`;
  return (await isEasyToGuess(password, { name, email })) ? GUESSABLE : undefined;
};

const GUESSABLE =
  'This password is easy to guess. Make it longer: use three or four unrelated words, and not your name or address.';

/** Personal details, which an attacker tries first. */
type Owner = { readonly name: string; readonly email: string };

/**
 * Guesses as a power of ten. A password that a hundred million guesses find is too weak if the hashes are
 * stolen.
 */
const GUESSES_LOG10_MIN = 8;
/**
 * The estimate reads only the beginning, because its time grows faster than the length. A password whose
 * beginning is strong is strong.
 */
const LENGTH_MAX = 24;
const PART_CHARACTERS_MIN = 3;
/** Parts of the name, and as many of the address: each makes every estimate slower. */
const PARTS_MAX = 5;

/** Returns whether known passwords, words, patterns or the person's own details find a password soon. */
const isEasyToGuess = async (password: string, owner: Owner): Promise<boolean> => {
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

const partsAt = (separator: RegExp, text: string): string[] =>
  text.split(separator).filter(isLongEnough).slice(0, PARTS_MAX);
const isLongEnough = (part: string): boolean => part.length >= PART_CHARACTERS_MIN;
