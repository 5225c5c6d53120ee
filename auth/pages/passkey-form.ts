import { type Html, html } from '#shared/html.ts';
import { hidden } from './field.ts';

/** What the script needs to ask the authenticator, and where the answer goes. */
export type PasskeyForm = {
  readonly action: string;
  /** Carries the challenge to the answer. */
  readonly ticket: string;
  readonly options: object;
  readonly scriptUrl: string;
};

/**
 * Not shown before the script shows it. What is offered may be taken without a click, so a page that says
 * that a passkey was wrong does not offer it again.
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
