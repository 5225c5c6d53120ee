import { html } from '../base/html.ts';

/** A string that is a key, a string, a number, or a literal of JSON. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|\b(true|false|null)\b/g;

type JsonPart = { readonly text: string; readonly kind?: 'name' | 'text' | 'number' | 'word' };

/** JSON text, split by kinds of token. */
export const partsOf = (json: string): readonly JsonPart[] => {
  const parts: JsonPart[] = [];
  let end = 0;
  for (const match of json.matchAll(TOKEN)) {
    const [whole, string, colon, number] = match;
    if (match.index > end) parts.push({ text: json.slice(end, match.index) });
    if (string !== undefined)
      parts.push(
        { text: string, kind: colon === undefined ? 'text' : 'name' },
        ...(colon === undefined ? [] : [{ text: colon }]),
      );
    else parts.push({ text: whole, kind: number === undefined ? 'word' : 'number' });
    end = match.index + whole.length;
  }
  return end < json.length ? [...parts, { text: json.slice(end) }] : parts;
};

/** JSON with highlighted tokens. */
export const Json = ({ value }: { readonly value: unknown }) =>
  html`<pre class="json" tabindex="0"><code>${partsOf(JSON.stringify(value, null, 2)).map(({ text, kind }) => (kind === undefined ? text : html`<span class=${kind}>${text}</span>`))}</code></pre>`;
