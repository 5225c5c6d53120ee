/**
 * HTML that is escaped by construction: the template `html` escapes every value, unless it is a result of the
 * template itself. Nothing else creates one, so markup cannot come from outside.
 */
class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

export type { Html };

/** Absent values are left out, so that `condition && html…` reads well. */
type Value = Html | string | number | false | null | undefined | readonly Value[];

/** Values may be in text and between the double quotes of an attribute, and nowhere else. */
export const html = (literals: TemplateStringsArray, ...values: readonly Value[]): Html =>
  new Html(
    literals
      .map((literal, index) => (index === 0 ? literal : `${markupOf(values[index - 1])}${literal}`))
      .join(''),
  );

const markupOf = (value: Value): string => {
  if (value === undefined || value === null || value === false) return '';
  if (value instanceof Html) return value.toString();
  if (typeof value === 'object') return value.map(markupOf).join('');
  return escapeText(String(value));
};

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeText = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
