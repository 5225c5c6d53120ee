import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import type { VNode } from 'preact';
import { html } from '../base/html.ts';

type Content = VNode | string | false | null | readonly Content[];

/** Deeper ones are shown as they were written: each level takes space on the stack. */
const DEPTH_MAX = 16;
/** The page has the title and the names of its sections above the headings of a text. */
const HEADINGS_ABOVE = 2;
const HEADING_MAX = 6;

/**
 * Markdown of users as elements. No HTML is parsed: what looks like it is shown as text. Nothing is loaded:
 * pictures are links. It throws if a text is nested too deeply for the parser.
 */
export const treeOf = (text: string): Content => {
  const lines = text.split(/\r\n?|\n/);
  const columns = Math.max(
    ...lines.filter((line) => RULE.test(line)).map((line) => line.split('|').length),
    0,
  );
  if (columns * lines.length > CELLS_MAX) return html`<pre tabindex="0">${text}</pre>`;
  const rest = lines.slice(LINES_MAX).join('\n');
  return [
    blocks(tokensOf(lines.slice(0, LINES_MAX).join('\n')), 0),
    rest !== '' && html`<pre tabindex="0">${rest}</pre>`,
  ];
};

/** The line below the head of a table. The parser gives each line of it as many cells. */
const RULE = /^[\s>*+\d.)|:-]+$/;
const CELLS_MAX = 100_000;

/** The time for lists and tables grows with the square of their length. */
const LINES_MAX = 4_000;

/** Signs from which the parser looks for their counterpart, to the end of the paragraph. */
const SIGNS = /[*_~`[\]<!@]/g;
/** About a second. A text may freeze no page: from there on, paragraphs are shown as they were written. */
const COST_MAX = 40_000_000;

const tokensOf = (text: string): readonly Token[] => {
  const lexer = new Lexer({ gfm: true });
  const tokens = lexer.blockTokens(text);
  let cost = 0;
  for (const { src, tokens: into } of lexer.inlineQueue) {
    cost += src.length * (src.match(SIGNS)?.length ?? 0);
    if (cost > COST_MAX) into.push({ type: 'text', raw: src, text: src, escaped: false });
    else lexer.inlineTokens(src, into);
  }
  rankHeadings(tokens, []);
  return tokens;
};

/** Authors skip levels, and begin with any; those who hear the page need each level below the next higher one. */
const rankHeadings = (tokens: readonly Token[], open: number[]): void => {
  for (const token of tokens) {
    if (token.type === 'heading') {
      while ((open.at(-1) ?? 0) >= token.depth) open.pop();
      open.push(token.depth);
      token.depth = open.length;
    }
    if (token.type === 'blockquote') rankHeadings(token.tokens ?? [], open);
    if (token.type === 'list') rankHeadings(token.items, open);
    if (token.type === 'list_item') rankHeadings(token.tokens ?? [], open);
  }
};

const blocks = (tokens: readonly Token[], depth: number): Content =>
  tokens.map((token) => (depth > DEPTH_MAX ? token.raw : block(token as MarkedToken, depth + 1)));

const block = (token: MarkedToken, depth: number): Content => {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading': {
      const tag = `h${Math.min(token.depth + HEADINGS_ABOVE, HEADING_MAX)}`;
      return html`<${tag} dir="auto">${inline(token.tokens, depth)}<//>`;
    }
    case 'paragraph':
      return html`<p dir="auto">${inline(token.tokens, depth)}</p>`;
    case 'blockquote':
      return html`<blockquote>${blocks(token.tokens, depth)}</blockquote>`;
    case 'code':
      return html`<pre tabindex="0"><code>${token.text}</code></pre>`;
    case 'hr':
      return html`<hr />`;
    case 'list':
      return list(token, depth);
    case 'table':
      return table(token, depth);
    case 'html':
      return html`<p dir="auto">${token.raw.trim()}</p>`;
    default:
      return inlineToken(token, depth);
  }
};

const list = ({ ordered, start, items }: Tokens.List, depth: number): Content => {
  const shown = items.map(({ task, checked, tokens }) => {
    const content = tokens.filter(({ type }) => type !== 'checkbox');
    return html`<li dir="auto">${task && (checked ? '☑ ' : '☐ ')}${blocks(content, depth)}</li>`;
  });
  return ordered ? html`<ol start=${start === '' ? 1 : start}>${shown}</ol>` : html`<ul>${shown}</ul>`;
};

const table = ({ header, rows }: Tokens.Table, depth: number): Content => {
  const cells = (tag: 'th' | 'td', row: readonly Tokens.TableCell[]) =>
    row.map(
      ({ tokens, align }) => html`<${tag} class=${align ? `to-${align}` : ''}>${inline(tokens, depth)}<//>`,
    );
  return html`<div class="wide" tabindex="0"><table><thead><tr>${cells('th', header)}</tr></thead><tbody>${rows.map((row) => html`<tr>${cells('td', row)}</tr>`)}</tbody></table></div>`;
};

const inline = (tokens: readonly Token[] | undefined, depth: number): Content =>
  (tokens ?? []).map((token) =>
    depth > DEPTH_MAX ? token.raw : inlineToken(token as MarkedToken, depth + 1),
  );

const inlineToken = (token: MarkedToken, depth: number): Content => {
  switch (token.type) {
    case 'strong':
      return html`<strong>${inline(token.tokens, depth)}</strong>`;
    case 'em':
      return html`<em>${inline(token.tokens, depth)}</em>`;
    case 'del':
      return html`<del>${inline(token.tokens, depth)}</del>`;
    case 'codespan':
      return html`<code>${token.text}</code>`;
    case 'br':
      return html`<br />`;
    case 'link':
      return link(token.href, token.title, inline(token.tokens, depth));
    case 'image':
      return link(token.href, token.title, token.text === '' ? 'Picture' : token.text);
    case 'text':
      return 'tokens' in token && token.tokens !== undefined
        ? inline(token.tokens, depth)
        : withEntities(token.text);
    case 'escape':
      return withEntities(token.text);
    // HTML, and whatever a later release of the parser adds.
    default:
      return token.raw;
  }
};

const SCHEMES = ['http:', 'https:', 'mailto:'];

/** An address that a text may link to; undefined for scripts, data, and what has no scheme. */
export const safeAddress = (href: string): string | undefined => {
  try {
    const url = new URL(href);
    return SCHEMES.includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
};

/** The address is shown on pointing, because the text may name another one. */
const link = (href: string, title: string | null | undefined, content: Content): Content => {
  const address = safeAddress(withEntities(href));
  if (address === undefined) return content;
  return html`<a href=${address} title=${title ? `${title} (${address})` : address} target="_blank" rel="noopener noreferrer nofollow ugc">${content}</a>`;
};

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};

/** Those that the parser leaves; elements escape texts by themselves. */
const withEntities = (text: string): string =>
  text.replaceAll(/&(\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole);
