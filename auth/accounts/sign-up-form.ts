import * as z from 'zod';
import { email } from '#kernel/declare/values.ts';
import { name } from '#shared/commands/fields.ts';
import { EMAIL_MAX, PASSWORD_MAX, PASSWORD_MIN } from '../pages/person-fields.ts';
import type { SignUpView } from '../pages/sign-up-page.ts';
import { formToken } from './form.ts';
import { isEasyToGuess } from './password-strength.ts';

const NAME_UNITS_MAX = 200;

export const SignUp = z.object({
  token: formToken,
  form: z.string().regex(/^[A-Za-z0-9_-]{22}$/),
  name: z.string().max(NAME_UNITS_MAX),
  email: z.string().max(EMAIL_MAX),
  password: z.string().max(PASSWORD_MAX),
});
export type SignUp = z.infer<typeof SignUp>;

/** What somebody must change, in words; nothing where all is well. */
export const problemsIn = async (form: Pick<SignUp, 'name' | 'email' | 'password'>): Promise<SignUpView['problems']> => {
  const password = await passwordProblem(form);
  return {
    ...(!name.safeParse(form.name).success && { name: 'Enter a name of at most 100 characters, in one line.' }),
    ...(!email.safeParse(form.email).success && { email: 'Enter an e-mail address, such as name@example.com.' }),
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
  'This password is easy to guess. Make it longer: three or four words that have nothing to do with each other, and not your name or address.';
