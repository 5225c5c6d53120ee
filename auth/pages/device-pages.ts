import { html } from '#shared/html.ts';
import type { Page } from './page.ts';
import { hidden, type Problems, summaryOf, titleOf } from './parts/field.ts';

type CodeForm = { readonly action: string; readonly token: string; readonly userCode: string };

export const USER_CODE_MAX = 40;

/**
 * A code from the address is shown but not submitted: the user must compare it with the device (RFC 8628,
 * 3.3.1).
 */
export const deviceCodePage = ({
  action,
  token,
  userCode,
  problem,
}: CodeForm & { readonly problem: string | undefined }): Page => {
  const problems: Problems<'user_code'> = { user_code: problem };
  return {
    title: titleOf('Connect a device', problems),
    main: html`${summaryOf(problems)}
<h1>Connect a device</h1>
<form method="post" action="${action}" novalidate>
${hidden('xsrf', token)}
<div class="field${problem && ' bad'}">
<label for="user_code">Code</label>
<p class="hint" id="user_code-hint">The device shows it. Only enter a code from a device in front of you, never one that somebody sent you.</p>
${problem && html`<p class="wrong" id="user_code-problem">${problem}</p>`}
<input class="code" id="user_code" name="user_code" type="text" autocomplete="off" autocapitalize="characters" autocorrect="off" spellcheck="false" maxlength="${USER_CODE_MAX}" required value="${userCode}" aria-describedby="user_code-hint${problem && ' user_code-problem'}"${problem && html` aria-invalid="true"`}${!problem && html` autofocus`}>
</div>
<div class="actions"><button class="primary" type="submit">Continue</button></div>
</form>`,
  };
};

export const deviceConfirmPage = ({
  action,
  token,
  userCode,
  shownCode,
  clientName,
}: CodeForm & { readonly shownCode: string; readonly clientName: string }): Page => ({
  title: 'Is this your device?',
  main: html`<h1>Is this your device?</h1>
<p><strong>${clientName}</strong> must show exactly this code:</p>
<p class="code-shown">${shownCode}</p>
<form method="post" action="${action}">
${hidden('xsrf', token)}
${hidden('user_code', userCode)}
<div class="actions">
<button class="primary" type="submit" name="confirm" value="yes">Yes, the codes match</button>
<button type="submit" name="abort" value="yes">No, cancel</button>
</div>
</form>`,
});

export const deviceDonePage = (clientName: string): Page => ({
  title: 'The device is connected',
  main: html`<h1>The device is connected</h1>
<p><strong>${clientName}</strong> continues by itself in a few seconds. You can close this page.</p>`,
});

export const deviceAbortedPage: Page = {
  title: 'The device was not connected',
  main: html`<h1>The device was not connected</h1>
<p>Nothing was allowed. You can close this page.</p>`,
};

export const deviceCodeAgainPage: Page = {
  title: 'This page has expired',
  main: html`<h1>This page has expired</h1>
<p><a href="/device">Enter the code again.</a> Your browser must allow cookies.</p>`,
};
