const CHARACTERS: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

export const unescaped = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => CHARACTERS[entity] ?? entity);

/** The text of markup that our templates have made, with its line breaks. */
export const textIn = (markup: string): string => unescaped(markup.replaceAll(/<[^>]*>/g, ''));
