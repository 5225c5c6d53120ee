import { type Html, html } from '#shared/html.ts';
import { hidden } from './field.ts';

/** The script's input for the authenticator, and the target of the answer. */
export type PasskeyForm = {
  readonly action: string;
  /** Carries the challenge to the next request. */
  readonly ticket: string;
  readonly options: object;
  readonly scriptUrl: string;
};

/**
 * Hidden until the script shows it. An offered passkey may be used without a click, so a page that reports a
 * wrong passkey does not offer it again.
 */
export const passkeyForm = (
  kind: 'create' | 'get' | 'offer',
  { action, ticket, options }: PasskeyForm,
  content: Html,
): Html =>
  html`<form method="post" action="${action}" class="passkey" hidden data-passkey="${kind}" data-options="${JSON.stringify(options)}" novalidate>
${hidden('ticket', ticket)}
${hidden('credential', '')}
<p class="wrong" role="alert"></p>
${content}
</form>`;
