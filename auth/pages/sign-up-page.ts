import { html } from '#shared/html.ts';
import type { Page } from './page.ts';
import { hasProblems, hidden, type Problems, summaryOf, titleOf } from './parts/field.ts';
import { emailField, nameField, newPasswordField, PASSWORD_NOTE } from './parts/person-fields.ts';

export type SignUpView = {
  readonly action: string;
  readonly token: string;
  readonly formId: string;
  readonly name: string;
  readonly email: string;
  readonly problems: Problems<'name' | 'email' | 'password'>;
  /** Where a person with an account goes; undefined if the page is not part of a sign-in. */
  readonly signInUrl: string | undefined;
  readonly formTargets?: readonly string[];
  readonly status?: number;
};

export const signUpPage = ({
  action,
  token,
  formId,
  name,
  email,
  problems,
  signInUrl,
  ...page
}: SignUpView): Page => ({
  ...page,
  note: PASSWORD_NOTE,
  title: titleOf('Create an account', problems),
  main: html`${summaryOf(problems)}
<h1>Create an account</h1>
<form method="post" action="${action}" novalidate>
${hidden('token', token)}
${hidden('form', formId)}
${nameField({ value: name, problem: problems.name, hasFocus: !hasProblems(problems) })}
${emailField({ autocomplete: 'email', hint: 'You sign in with it. Nobody else sees it.', value: email, problem: problems.email })}
${newPasswordField({ label: 'Password', problem: problems.password })}
<div class="actions"><button class="primary" type="submit">Create account</button></div>
</form>
${signInUrl !== undefined && html`<p>Already have an account? <a href="${signInUrl}">Sign in</a></p>`}`,
});

/** Shown to a person who did not come from an application. */
export const signedUpPage: Page = {
  title: 'Your account is ready',
  main: html`<h1>Your account is ready</h1>
<p>Go back to the application that you want to use, and sign in there with your e-mail address and password.</p>`,
};
