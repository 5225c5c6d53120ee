import { useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';

type Address = { readonly href: string };
type PictureOptions = { readonly path: string; readonly title: string; readonly isSmall?: boolean };

/**
 * An uploaded picture, by a signed address. A picture elsewhere is a link, because nothing is loaded from
 * other origins.
 */
export const Picture = ({ path, title, isSmall = false }: PictureOptions) =>
  path.startsWith('/uploads/')
    ? html`<${Uploaded} path=${path} title=${title} isSmall=${isSmall} />`
    : html`<a href=${path} rel="noopener noreferrer" target="_blank">${path}</a>`;

const Uploaded = ({ path, title, isSmall }: PictureOptions) => {
  const { body, problem } = useAsked<Address>(`${path}/address`);
  if (problem) return html`<span class="soft">${title}: cannot be shown</span>`;
  return html`<span class=${isSmall ? 'picture small' : 'picture'}>${body && html`<img src=${body.href} alt=${title} />`}</span>`;
};
