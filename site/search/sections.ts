import { unescaped } from '../page/text-in.ts';

/** A part of a page under a heading. */
type Found = {
  readonly id: string;
  /** From the root, with the anchor of the heading. */
  readonly path: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
  /** The beginning of the text, which results show. */
  readonly start: string;
};

type Page = { readonly path: string; readonly title: string };

/**
 * A heading without an address belongs to the part before. `data-anchor` is the id of an element below the
 * heading.
 */
const HEADINGS = /(?=<h1[ >]|<h[2-4] (?:id|data-anchor)=)/;
const HEADING = /^<h[1-4](?: (?:id|data-anchor)="([^"]*)")?[^>]*>(.*?)<\/h[1-4]>/s;
const START_CHARACTERS = 140;

/** Splits the HTML of a page, which our own templates have made, at its headings. */
export const sectionsOf = ({ path, title }: Page, html: string): readonly Found[] =>
  html.split(HEADINGS).flatMap((part, index) => {
    const [whole = '', id, inner = ''] = HEADING.exec(part) ?? [];
    const address = id === undefined ? path : `${path}#${unescaped(id)}`;
    const heading = plain(inner.replace(/<a class="anchor".*?<\/a>/s, '')) || title;
    const text = plain(part.slice(whole.length));
    if (whole === '' && text === '') return [];
    return [
      {
        id: `${path} ${index}`,
        path: address,
        page: title,
        heading,
        text,
        start: text.slice(0, START_CHARACTERS),
      },
    ];
  });

/** Tags that may be in the middle of a word, such as those around the tokens of code. */
const INSIDE_OF_WORDS = /<wbr>|<\/?span\b[^>]*>|<i class="prompt"><\/i>/g;

const plain = (html: string): string =>
  unescaped(html.replaceAll(INSIDE_OF_WORDS, '').replaceAll(/<[^>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();
