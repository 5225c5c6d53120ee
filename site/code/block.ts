import { createRequire } from 'node:module';
import { type Html, html } from '#shared/html.ts';
import { textIn } from '../page/text-in.ts';
import { trustedMarkup } from '../page/trusted-markup.ts';

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

type Highlighter = {
  registerLanguage(name: string, language: unknown): void;
  getLanguage(name: string): object | undefined;
  highlight(text: string, options: { readonly language: string }): { readonly value: string };
};

// Required rather than imported, because the types of the package declare the DOM for the whole program.
const require = createRequire(import.meta.url);
const highlighter: Highlighter = require('highlight.js/lib/core');

/** Each also has its usual aliases: `sh`, `ts`, `js`, `py`, `toml`, `html`. */
const LANGUAGES = [
  ...['bash', 'css', 'diff', 'go', 'graphql', 'http', 'ini', 'java'],
  ...['javascript', 'json', 'python', 'sql', 'typescript', 'xml', 'yaml'],
] as const;
for (const name of LANGUAGES)
  highlighter.registerLanguage(name, require(`highlight.js/lib/languages/${name}`));

export const isHighlighted = (language: string): boolean => highlighter.getLanguage(language) !== undefined;

/** Code with a span around each token. Code of an unknown language stays plain text. */
const highlight = (text: string, language: string): Html => {
  if (!isHighlighted(language)) return html`${text}`;
  // Our templates escape apostrophes differently.
  return trustedMarkup(highlighter.highlight(text, { language }).value.replaceAll('&#x27;', '&#39;'));
};

/** Starts with a blank, a comment, or the end of a block: not the first line of a command. */
const CONTINUES = /^(?:\s|#|\}|\)|done\b|fi\b|$)/;
const GOES_ON = /(?:\\|\||&&)$/;
const HERE_DOCUMENT = /<<-?\s*['"]?(\w+)/;
const PROMPT = '<i class="prompt"></i>';

/**
 * Marks where each command begins in highlighted shell code. The style sheet shows the prompt, so that nobody
 * copies it.
 */
const withPrompts = (highlighted: Html): Html => {
  let depth = 0;
  let before = '';
  let until: string | undefined;
  const lines = highlighted
    .toString()
    .split('\n')
    .map((line) => {
      const text = textIn(line);
      // A line that begins inside of a span is part of a string over several lines.
      const isStart = depth === 0 && until === undefined && !GOES_ON.test(before) && !CONTINUES.test(text);
      depth += line.split('<span').length - line.split('</span>').length;
      before = text;
      if (until === undefined) until = HERE_DOCUMENT.exec(text)?.[1];
      else if (text.trim() === until) until = undefined;
      return isStart ? `${PROMPT}${line}` : line;
    });
  return trustedMarkup(lines.join('\n'));
};
