import { type Html, html } from '#shared/html.ts';

/** Marks markup that a renderer made from our own texts, so that the template does not escape it. */
export const trustedMarkup = (markup: string): Html => html(Object.assign([markup], { raw: [markup] }));
