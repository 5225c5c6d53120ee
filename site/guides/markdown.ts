import { Marked, type RendererObject, type Token, type Tokens } from 'marked';
import { type Html, html } from '#shared/html.ts';
import { codeBlock, commandBlock, outputBlock, SHELL } from '../code/block.ts';
import type { Content } from '../page/page.ts';
import { trustedMarkup } from '../page/trusted-markup.ts';
import { EXAMPLE_ORIGIN, tabGroupsAmong, tabsOf } from './example-tabs.ts';

type Surroundings = {
  /** The address of a link on the site; undefined if the target is not there. */
  resolve(href: string): string | undefined;
  pictureOf?(href: string): Picture;
  /** The address of this installation, for the examples. */
  readonly origin?: string;
};

/** With its size, so that nothing moves when it loads. */
export type Picture = { readonly address: string; readonly width: number; readonly height: number };

const GFM = { gfm: true } as const;
/** The levels of headings in the navigation. */
const SECTION_DEPTH = 2;

/**
 * Renders one of our own texts as HTML; the only markup it accepts is Markdown. Headings have the same
 * anchors as on GitHub.
 */
export const renderMarkdown = (text: string, surroundings: Surroundings): Content => {
  const reader = new Marked(GFM);
  const tokens = reader.lexer(text);
  const anchors = anchorsOf(tokens);
  const idOf = (heading: Tokens.Heading): string => anchors.get(heading) ?? '';
  const outputs = outputsAmong(tokens);
  const groups = tabGroupsAmong(tokens);
  reader.use({
    renderer: rendererFor(surroundings, {
      idOf,
      isOutput: (code) => outputs.has(code),
      groupOf: (code) => groups.get(code),
    }),
  });
  const sections = [...anchors].filter(([{ depth }]) => depth === SECTION_DEPTH);
  return {
    body: trustedMarkup(reader.parser(tokens)),
    sections: sections.map(([heading, id]) => ({ id, title: plainText(heading.tokens) })),
  };
};

const inline = new Marked(GFM);

/** A single line with code and emphasis, such as a description. */
export const renderLine = (text: string): Html => trustedMarkup(inline.parseInline(text, { async: false }));

type Document = {
  idOf(heading: Tokens.Heading): string;
  isOutput(code: object): boolean;
  /**
   * The blocks that are shown as tabs in place of this one; empty for blocks within the tabs of an earlier
   * one.
   */
  groupOf(code: object): readonly Tokens.Code[] | undefined;
};

const rendererFor = (
  { resolve, pictureOf, origin = EXAMPLE_ORIGIN }: Surroundings,
  { idOf, isOutput, groupOf }: Document,
): RendererObject => ({
  html: ({ text }) => html`${text}`.toString(),
  code(code) {
    const group = groupOf(code);
    if (group !== undefined) return group.length === 0 ? '' : tabsOf(group, origin);
    // After the language comes the name of the file.
    const [language = '', file] = (code.lang ?? '').split(' ');
    const here = code.text.replaceAll(EXAMPLE_ORIGIN, origin);
    if (language === SHELL) return `${commandBlock(here)}\n`;
    if (isOutput(code)) return `${outputBlock(here)}\n`;
    const block = codeBlock(here, language);
    return `${file === undefined ? block : html`<p class="source"><code>${file}</code></p>${block}`}\n`;
  },
  heading(heading) {
    const content = trustedMarkup(this.parser.parseInline(heading.tokens));
    const id = idOf(heading);
    const name = `h${heading.depth}`;
    const anchor =
      heading.depth > 1 &&
      html` <a class="anchor" href="#${id}" aria-label="Link to “${plainText(heading.tokens)}”">#</a>`;
    return `${html`<${trustedMarkup(name)} id="${id}">${content}${anchor}</${trustedMarkup(name)}>`}\n`;
  },
  link({ href, tokens }) {
    const content = trustedMarkup(this.parser.parseInline(tokens));
    const address = resolve(href);
    return (address === undefined ? content : html`<a href="${address}">${content}</a>`).toString();
  },
  image({ href, text }) {
    if (pictureOf === undefined) throw new Error(`the picture ${href} cannot be resolved here`);
    const { address, width, height } = pictureOf(href);
    const picture = html`<img src="${address}" alt="${text}" width="${width}" height="${height}">`;
    return html`<span class="picture" tabindex="0" role="group" aria-label="A picture, which scrolls where it is too wide">${picture}</span>`.toString();
  },
  table({ header, rows }) {
    const cells = (inline: readonly Token[]): Html => trustedMarkup(this.parser.parseInline([...inline]));
    const widths = columnWidths([header, ...rows].map((row) => row.map(({ tokens }) => plainText(tokens))));
    const labels = header.map(({ tokens }) => plainText(tokens));
    const cellOf = (tokens: readonly Token[], column: number): Html =>
      html`<td data-label="${labels[column]}">${cells(tokens)}</td>`;
    return `${html`<table class="cards">
<colgroup>${widths.map((width) => html`<col width="${width}%">`)}</colgroup>
<thead><tr>${header.map(({ tokens }) => headerCell(cells(tokens), plainText(tokens)))}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${row.map(({ tokens }, column) => cellOf(tokens, column))}</tr>\n`)}</tbody>
</table>`}\n`;
  },
});

/** Plain text after commands is their output. */
const outputsAmong = (tokens: readonly Token[]): ReadonlySet<object> => {
  const outputs = new Set<object>();
  let language = '';
  for (const token of tokens) {
    if (token.type === 'heading') language = '';
    if (token.type !== 'code') continue;
    const isOutput = token.lang === 'text' && language === SHELL;
    if (isOutput) outputs.add(token);
    else [language = ''] = String(token.lang ?? '').split(' ');
  }
  return outputs;
};

/** A column without a title needs no header cell. */
const headerCell = (content: Html, text: string): Html =>
  text === '' ? html`<td></td>` : html`<th scope="col">${content}</th>`;

/** The anchor of each heading, as GitHub computes it. */
export const anchorsOf = (tokens: readonly Token[]): ReadonlyMap<Tokens.Heading, string> => {
  const anchors = new Map<Tokens.Heading, string>();
  const taken = new Map<string, number>();
  for (const token of tokens) {
    if (!isHeading(token)) continue;
    const anchor = anchorOf(plainText(token.tokens));
    const before = taken.get(anchor) ?? 0;
    taken.set(anchor, before + 1);
    anchors.set(token, before === 0 ? anchor : `${anchor}-${before}`);
  }
  return anchors;
};

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading';

const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** Without emphasis, links and code. */
const plainText = (tokens: readonly Token[]): string =>
  tokens
    .map((token) =>
      'tokens' in token && token.tokens ? plainText(token.tokens) : 'text' in token ? token.text : '',
    )
    .join('');

/** A longer word is broken. */
const WORD_CHARACTERS_MAX = 32;
/** A longer text wraps. */
const TEXT_CHARACTERS_MAX = 60;
const PADDING_CHARACTERS = 6;
/** Long words are code, whose letters are wider than those of text. */
const WORD_CHARACTER_WIDTH = 1.15;

/**
 * The width of each column, as a percentage, estimated from its contents. If the browser computed it, the
 * table would move again while the rest of the page loads.
 */
const columnWidths = (rows: readonly (readonly string[])[]): readonly number[] => {
  const [first = []] = rows;
  const wanted = first.map((_, column) => wantedBy(rows.map((row) => row[column] ?? '')));
  const sum = wanted.reduce((total, each) => total + each, 0);
  return wanted.map((each) => Math.round((each / sum) * 100));
};

const wantedBy = (cells: readonly string[]): number => {
  const word = Math.max(...cells.flatMap((cell) => cell.split(/[\s/]/).map(({ length }) => length)));
  const average = cells.reduce((total, { length }) => total + length, 0) / cells.length;
  return (
    Math.max(
      Math.min(word, WORD_CHARACTERS_MAX) * WORD_CHARACTER_WIDTH,
      Math.min(average, TEXT_CHARACTERS_MAX),
    ) + PADDING_CHARACTERS
  );
};
