import { Marked, type RendererObject, type Token, type Tokens } from 'marked';
import { type Html, html } from '#shared/html.ts';
import type { Content } from '../page.ts';
import { anchorsOf, plainText } from './anchors.ts';
import { columnWidths } from './columns.ts';
import { ownMarkup } from './own-markup.ts';

type Surroundings = {
  /** Where a link leads; undefined where it leads to what is not on the site. */
  resolve(href: string): string | undefined;
  pictureOf?(href: string): Picture;
};

/** With its size, so that nothing moves when it comes. */
export type Picture = { readonly address: string; readonly width: number; readonly height: number };

const GFM = { gfm: true } as const;
/** Those that the navigation shows. */
const SECTION_DEPTH = 2;

/** A text of ours as HTML, in which no markup comes through but that of Markdown. Headings have the anchors that they have on GitHub. */
export const renderMarkdown = (text: string, surroundings: Surroundings): Content => {
  const reader = new Marked(GFM);
  const tokens = reader.lexer(text);
  const anchors = anchorsOf(tokens);
  const idOf = (heading: Tokens.Heading): string => anchors.get(heading) ?? '';
  reader.use({ renderer: rendererFor(surroundings, idOf) });
  const sections = [...anchors].filter(([{ depth }]) => depth === SECTION_DEPTH);
  return {
    body: ownMarkup(reader.parser(tokens)),
    sections: sections.map(([heading, id]) => ({ id, title: plainText(heading.tokens) })),
  };
};

const inline = new Marked(GFM);

/** A line with code and emphasis in it, as descriptions are. */
export const renderLine = (text: string): Html => ownMarkup(inline.parseInline(text, { async: false }));

/** Code, which scrolls by itself where it is too wide. */
export const codeBlock = (text: string): Html => html`<pre tabindex="0"><code>${text}</code></pre>`;

const rendererFor = ({ resolve, pictureOf }: Surroundings, idOf: (heading: Tokens.Heading) => string): RendererObject => ({
  html: ({ text }) => html`${text}`.toString(),
  code({ text, lang = '' }) {
    // After the language, the file that it stands in.
    const [, file] = lang.split(' ');
    return `${file === undefined ? codeBlock(text) : html`<p class="source"><code>${file}</code></p>${codeBlock(text)}`}\n`;
  },
  heading(heading) {
    const content = ownMarkup(this.parser.parseInline(heading.tokens));
    const id = idOf(heading);
    const name = `h${heading.depth}`;
    const anchor = heading.depth > 1 && html` <a class="anchor" href="#${id}" aria-label="Link to “${plainText(heading.tokens)}”">#</a>`;
    return `${html`<${ownMarkup(name)} id="${id}">${content}${anchor}</${ownMarkup(name)}>`}\n`;
  },
  link({ href, tokens }) {
    const content = ownMarkup(this.parser.parseInline(tokens));
    const address = resolve(href);
    return (address === undefined ? content : html`<a href="${address}">${content}</a>`).toString();
  },
  image({ href, text }) {
    if (pictureOf === undefined) throw new Error(`nobody knows where ${href} is`);
    const { address, width, height } = pictureOf(href);
    const picture = html`<img src="${address}" alt="${text}" width="${width}" height="${height}">`;
    return html`<span class="picture" tabindex="0" role="group" aria-label="A picture, which scrolls where it is too wide">${picture}</span>`.toString();
  },
  table({ header, rows }) {
    const cells = (inline: readonly Token[]): Html => ownMarkup(this.parser.parseInline([...inline]));
    const widths = columnWidths([header, ...rows].map((row) => row.map(({ tokens }) => plainText(tokens))));
    const labels = header.map(({ tokens }) => plainText(tokens));
    const cellOf = (tokens: readonly Token[], column: number): Html => html`<td data-label="${labels[column]}">${cells(tokens)}</td>`;
    return `${html`<table class="cards">
<colgroup>${widths.map((width) => html`<col width="${width}%">`)}</colgroup>
<thead><tr>${header.map(({ tokens }) => headerCell(cells(tokens), plainText(tokens)))}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${row.map(({ tokens }, column) => cellOf(tokens, column))}</tr>\n`)}</tbody>
</table>`}\n`;
  },
});

/** A column without a name is none that a reader should look for. */
const headerCell = (content: Html, text: string): Html => (text === '' ? html`<td></td>` : html`<th scope="col">${content}</th>`);
