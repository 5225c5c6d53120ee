import { type Html, html } from '#shared/html.ts';
import { highlight } from './highlight.ts';
import { withPrompts } from './prompts.ts';

export const SHELL = 'sh';

/** Code that scrolls by itself if it is too wide. */
export const codeBlock = (text: string, language = ''): Html =>
  html`<pre tabindex="0"><code>${highlight(text, language)}</code></pre>`;

/** Commands of a terminal, each after a prompt. */
export const commandBlock = (text: string): Html =>
  html`<pre class="commands" tabindex="0"><code>${withPrompts(highlight(text, SHELL))}</code></pre>`;

/** The output of commands, without a button to copy it. */
export const outputBlock = (text: string): Html =>
  html`<pre class="output" tabindex="0" aria-label="Output"><code>${highlight(text, languageOfOutput(text))}</code></pre>`;

const JSON_START = /^[[{]/;
const languageOfOutput = (text: string): string =>
  text.startsWith('HTTP/') ? 'http' : JSON_START.test(text) ? 'json' : '';
