import { field, hasProblems, hidden, type Problems, summaryOf, titleOf } from './field.ts';
import { html } from './html.ts';
import type { Page } from './page.ts';

export type SignInView = {
  readonly action: string;
  readonly token: string;
  readonly clientName: string;
  readonly email: string;
  readonly problems: Problems<'email' | 'password'>;
  /** Undefined where nobody can sign up. */
  readonly signUpUrl: string | undefined;
  readonly formTargets: readonly string[];
  readonly status?: number;
};

export const EMAIL_MAX = 254;
export const PASSWORD_MAX = 200;
export const PASSWORD_NOTE = 'Check the address bar before you type a password.';

export const signInPage = ({ action, token, clientName, email, problems, signUpUrl, ...page }: SignInView): Page => ({
  ...page,
  note: PASSWORD_NOTE,
  title: titleOf('Sign in', problems),
  main: html`${summaryOf(problems)}
<h1>Sign in</h1>
<p class="lead">You will go on to <strong>${clientName}</strong>.</p>
<form method="post" action="${action}" novalidate>
${hidden('token', token)}
${field({
  name: 'email',
  label: 'E-mail address',
  type: 'email',
  autocomplete: 'username',
  value: email,
  problem: problems.email,
  maxLength: EMAIL_MAX,
  hasFocus: email === '' && !hasProblems(problems),
})}
${field({
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
  problem: problems.password,
  maxLength: PASSWORD_MAX,
  hasFocus: email !== '' && !hasProblems(problems),
})}
<div class="actions">
<button class="primary" type="submit">Sign in</button>
<button type="submit" name="cancel" value="yes">Cancel</button>
</div>
</form>
<p><a href="/account/reset">Forgotten your password?</a></p>
${signUpUrl !== undefined && html`<p>New here? <a href="${signUpUrl}">Create an account</a></p>`}`,
});
