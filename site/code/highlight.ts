import { createRequire } from 'node:module';
import { type Html, html } from '#shared/html.ts';
import { trustedMarkup } from '../page/trusted-markup.ts';

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
export const highlight = (text: string, language: string): Html => {
  if (!isHighlighted(language)) return html`${text}`;
  // Our templates escape apostrophes differently.
  return trustedMarkup(highlighter.highlight(text, { language }).value.replaceAll('&#x27;', '&#39;'));
};
