import * as z from 'zod';
import { name } from '#shared/commands/fields.ts';
import { email } from '#shared/events/fields.ts';
import { EMAIL_MAX, PASSWORD_MAX, PASSWORD_MIN } from '../pages/person-fields.ts';
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

/** What somebody must change, in words; nothing where all is well. */
export const problemsIn = (form: Pick<SignUp, 'name' | 'email' | 'password'>): SignUpView['problems'] => {
  const password = passwordProblem(form);
  return {
    ...(!name.safeParse(form.name).success && { name: 'Enter a name of at most 100 characters, in one line.' }),
    ...(!email.safeParse(form.email).success && { email: 'Enter an e-mail address, such as name@example.com.' }),
    ...(password !== undefined && { password }),
  };
};

/** The first that are tried of those that are long enough. */
const KNOWN = new Set([
  '1234567890',
  '12345678910',
  '0123456789',
  '0987654321',
  'qwertyuiop',
  'password12',
  'password123',
  'iloveyou12',
  'letmein123',
]);

export const passwordProblem = ({ name, email, password }: Pick<SignUp, 'name' | 'email' | 'password'>): string | undefined => {
  if ([...password].length < PASSWORD_MIN) return `Choose a password of at least ${PASSWORD_MIN} characters.`;
  const plain = password.toLowerCase();
  const isGuessable = KNOWN.has(plain) || new Set(plain).size <= 2 || plain === email.toLowerCase() || plain === name.toLowerCase();
  return isGuessable ? 'Choose a password that is harder to guess.' : undefined;
};
