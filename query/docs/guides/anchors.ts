import type { Token, Tokens } from 'marked';

/** What each heading is linked to by, as GitHub does it. */
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
export const plainText = (tokens: readonly Token[]): string =>
  tokens.map((token) => ('tokens' in token && token.tokens ? plainText(token.tokens) : 'text' in token ? token.text : '')).join('');
