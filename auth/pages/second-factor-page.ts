import { html } from '#shared/html.ts';
import type { Page } from './page.ts';
import { field, hasProblems, hidden, type Problems, summaryOf, titleOf } from './parts/field.ts';

/** Room for a recovery code with separators between its groups. */
export const CODE_MAX = 40;

export type SecondFactorView = {
  readonly action: string;
  readonly ticket: string;
  readonly clientName: string;
  readonly isAfterPassword: boolean;
  readonly problems: Problems<'code' | 'recovery'>;
  readonly formTargets: readonly string[];
  readonly status?: number;
};

/** The second step of a sign-in, after the password. */
export const secondFactorPage = ({
  action,
  ticket,
  clientName,
  isAfterPassword,
  problems,
  ...page
}: SecondFactorView): Page => ({
  ...page,
  title: titleOf('Enter a code', problems),
  main: html`${summaryOf(problems)}
<h1>Enter a code</h1>
<p class="lead">${isAfterPassword && 'Your password is right. '}You will continue to <strong>${clientName}</strong>.</p>
<form method="post" action="${action}" novalidate>
${hidden('ticket', ticket)}
${field({
  name: 'code',
  label: 'Code',
  hint: 'The six digits that your app shows now.',
  type: 'digits',
  autocomplete: 'one-time-code',
  problem: problems.code,
  maxLength: CODE_MAX,
  hasFocus: !hasProblems(problems),
})}
<div class="actions">
<button class="primary" type="submit">Sign in</button>
<button type="submit" name="cancel" value="yes">Cancel</button>
</div>
</form>
<details${problems.recovery && html` open`}>
<summary>Cannot use the app?</summary>
<form method="post" action="${action}" novalidate>
${hidden('ticket', ticket)}
${field({
  name: 'recovery',
  label: 'Recovery code',
  hint: 'One of those that you saved. It is valid once.',
  type: 'exact',
  autocomplete: 'off',
  problem: problems.recovery,
  maxLength: CODE_MAX,
})}
<div class="actions"><button type="submit">Sign in with a recovery code</button></div>
</form>
<p>If you have neither, ask an administrator to remove the codes from your account.</p>
</details>`,
});
