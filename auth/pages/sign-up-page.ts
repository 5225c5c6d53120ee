import { field, hasProblems, hidden, type Problems, summaryOf, titleOf } from './field.ts';
import { html } from './html.ts';
import type { Page } from './page.ts';
import { EMAIL_MAX, PASSWORD_MAX, PASSWORD_NOTE } from './sign-in-page.ts';

export type SignUpView = {
  readonly action: string;
  readonly token: string;
  readonly formId: string;
  readonly name: string;
  readonly email: string;
  readonly problems: Problems<'name' | 'email' | 'password'>;
  /** Where somebody with an account goes; undefined where nobody came to sign in. */
  readonly signInUrl: string | undefined;
  readonly formTargets?: readonly string[];
  readonly status?: number;
};

export const NAME_MAX = 100;
export const PASSWORD_MIN = 10;
export const PASSWORD_HINT = `At least ${PASSWORD_MIN} characters. A few words in a row are easy to remember.`;

export const signUpPage = ({ action, token, formId, name, email, problems, signInUrl, ...page }: SignUpView): Page => ({
  ...page,
  note: PASSWORD_NOTE,
  title: titleOf('Create an account', problems),
  main: html`${summaryOf(problems)}
<h1>Create an account</h1>
<form method="post" action="${action}" novalidate>
${hidden('token', token)}
${hidden('form', formId)}
${field({
  name: 'name',
  label: 'Name',
  hint: 'Everybody can see it.',
  type: 'text',
  autocomplete: 'name',
  value: name,
  problem: problems.name,
  maxLength: NAME_MAX,
  hasFocus: !hasProblems(problems),
})}
${field({
  name: 'email',
  label: 'E-mail address',
  hint: 'You sign in with it. Nobody else sees it.',
  type: 'email',
  autocomplete: 'email',
  value: email,
  problem: problems.email,
  maxLength: EMAIL_MAX,
})}
${field({
  name: 'password',
  label: 'Password',
  hint: PASSWORD_HINT,
  type: 'password',
  autocomplete: 'new-password',
  problem: problems.password,
  maxLength: PASSWORD_MAX,
})}
<div class="actions"><button class="primary" type="submit">Create account</button></div>
</form>
${signInUrl !== undefined && html`<p>You have an account? <a href="${signInUrl}">Sign in</a></p>`}`,
});

/** Where somebody ends who did not come from an application. */
export const signedUpPage: Page = {
  title: 'Your account is ready',
  main: html`<h1>Your account is ready</h1>
<p>Go back to the application that you want to use, and sign in there with your e-mail address and password.</p>`,
};
