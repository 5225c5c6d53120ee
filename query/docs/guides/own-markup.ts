import { type Html, html } from '#shared/html.ts';

/** What a renderer of ours has made, of texts of ours: it stands where the template's own words do, and is not escaped. */
export const ownMarkup = (markup: string): Html => html(Object.assign([markup], { raw: [markup] }));
