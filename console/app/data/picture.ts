import { bytesText } from '#shared/format.ts';
import { useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';

type Address = { readonly href: string };
type DownloadOptions = { readonly address: string; readonly isSmall?: boolean };
type PictureOptions = { readonly path: string; readonly title: string; readonly isSmall?: boolean };

/** A file that is no picture, whose address states its details: a link that downloads it. */
export const Download = ({ address, isSmall = false }: DownloadOptions) => {
  const [path, details] = [address.split('?', 1)[0] ?? '', detailsIn(address)];
  const { body, problem } = useAsked<Address>(`${path}/address`);
  const name = details.name ?? 'File';
  const size = bytesText(Number(details.bytes));
  if (problem) return html`<span class="soft">${name}: cannot be read</span>`;
  return html`<span class="file"><a href=${body?.href} download=${name} title=${details.type}><bdi>${name}</bdi></a> <span class="soft">${size}</span>
    ${!isSmall && html`<span class="soft">SHA-256 <code>${details.sha256}</code></span>`}</span>`;
};

const detailsIn = (address: string) => {
  const query = new URLSearchParams(address.split('?', 2)[1] ?? '');
  const [name, type, bytes, sha256] = ['name', 'type', 'bytes', 'sha256'].map((each) => query.get(each));
  return { name, type, bytes, sha256 };
};

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
