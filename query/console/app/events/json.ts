import { html } from '../html.ts';

/** A string that is the name of a field, a string, a number, or a word of JSON. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|\b(true|false|null)\b/g;

export type JsonPart = { readonly text: string; readonly kind?: 'name' | 'text' | 'number' | 'word' };

/** The text of JSON, in parts that look different. */
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

/** JSON to read, with what differs in kind in different colours. */
export const Json = ({ value }: { readonly value: unknown }) =>
  html`<pre class="json" tabindex="0"><code>${partsOf(JSON.stringify(value, null, 2)).map(({ text, kind }) => (kind === undefined ? text : html`<span class=${kind}>${text}</span>`))}</code></pre>`;
