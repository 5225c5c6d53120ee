import { html } from '#shared/html.ts';
import { hasProblems, hidden, type Problems, summaryOf, titleOf } from './field.ts';
import type { Page } from './page.ts';
import { type PasskeyForm, passkeyForm } from './passkey-form.ts';
import { emailField, PASSWORD_NOTE, passwordField } from './person-fields.ts';

export type SignInView = {
  readonly action: string;
  readonly token: string;
  readonly clientName: string;
  readonly email: string;
  readonly problems: Problems<'email' | 'password'>;
  /** Undefined where nobody can sign up. */
  readonly signUpUrl: string | undefined;
  /** Undefined where there can be no passkeys. */
  readonly passkey: PasskeyForm | undefined;
  /** Among the names that the browser fills in, though something was wrong: it was not the passkey. */
  readonly isPasskeyOffered?: boolean;
  readonly formTargets: readonly string[];
  readonly status?: number;
};

export const signInPage = ({
  action,
  token,
  clientName,
  email,
  problems,
  signUpUrl,
  passkey,
  isPasskeyOffered,
  ...page
}: SignInView): Page => ({
  ...page,
  ...(passkey !== undefined && { scriptUrl: passkey.scriptUrl }),
  note: PASSWORD_NOTE,
  title: titleOf('Sign in', problems),
  main: html`${summaryOf(problems)}
<h1>Sign in</h1>
<p class="lead">You will go on to <strong>${clientName}</strong>.</p>
<form method="post" action="${action}" novalidate>
${hidden('token', token)}
${emailField({ autocomplete: passkey === undefined ? 'username' : 'username webauthn', value: email, problem: problems.email, hasFocus: email === '' && !hasProblems(problems) })}
${passwordField({ problem: problems.password, hasFocus: email !== '' && !hasProblems(problems) })}
<div class="actions">
<button class="primary" type="submit">Sign in</button>
<button type="submit" name="cancel" value="yes">Cancel</button>
</div>
</form>
${passkey !== undefined && passkeyForm(hasProblems(problems) && !isPasskeyOffered ? 'get' : 'offer', passkey, html`<button type="submit">Sign in with a passkey</button>`)}
<p><a href="/account/reset">Forgotten your password?</a></p>
${signUpUrl !== undefined && html`<p>New here? <a href="${signUpUrl}">Create an account</a></p>`}`,
});
