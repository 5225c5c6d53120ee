import type { Html } from '#shared/html.ts';
import { type FieldOptions, field } from './field.ts';

/** The fields about a person: the same on every page that asks for them. */
export const NAME_MAX = 100;
export const EMAIL_MAX = 254;
export const PASSWORD_MIN = 10;
export const PASSWORD_MAX = 200;
export const PASSWORD_NOTE = 'Check the address bar before you type a password.';

type Typed = Pick<FieldOptions, 'value' | 'problem'> & { readonly hasFocus?: boolean };

export const nameField = (typed: Typed): Html =>
  field({
    name: 'name',
    label: 'Name',
    hint: 'Everybody can see it.',
    type: 'text',
    autocomplete: 'name',
    maxLength: NAME_MAX,
    ...typed,
  });

/** `autocomplete` says whose address it is: one’s own, the one to sign in with, or somebody else’s. */
export const emailField = (typed: Typed & { readonly autocomplete: string; readonly hint?: string }): Html =>
  field({ name: 'email', label: 'E-mail address', type: 'email', maxLength: EMAIL_MAX, ...typed });

type Password = Omit<Typed, 'value'> & { readonly label?: string };

export const newPasswordField = ({ label = 'New password', ...typed }: Password): Html =>
  field({
    name: 'password',
    label,
    hint: `At least ${PASSWORD_MIN} characters. Longer is better: a few words in a row are easy to remember, and need no digits or symbols.`,
    type: 'password',
    autocomplete: 'new-password',
    maxLength: PASSWORD_MAX,
    ...typed,
  });

/** The current password, as proof of identity. */
export const passwordField = ({
  label = 'Password',
  name = 'password',
  ...typed
}: Password & { readonly name?: string }): Html =>
  field({
    name,
    label,
    type: 'password',
    autocomplete: 'current-password',
    maxLength: PASSWORD_MAX,
    ...typed,
  });
