import type { Api } from '../base/api.ts';
import { useApi } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Act } from '../base/parts.ts';

type ProofOptions = {
  /** The address of the proof, if the user may have it. */
  readonly link: { readonly href: string } | undefined;
  /** The name of the file, and how its contents are fetched. */
  readonly name: string;
  readonly read: (api: Api, href: string) => Promise<Blob>;
  readonly children?: unknown;
};

/** Downloads a proof; the children are the sentence that says what it shows. */
const Proof = ({ link, name, read, children }: ProofOptions) => {
  const api = useApi();
  if (link === undefined) return null;
  const download = async () => save(name, await read(api, link.href));
  return html`<section class="proof"><h2>Proof</h2><p>${children} <a href="/audit/check">Check a proof</a></p><${Act} act=${download}>Download proof<//></section>`;
};

type Linked = { readonly _links: Readonly<Record<string, { readonly href: string }>> };

export const EventProof = ({ id, links }: { readonly id: string; readonly links: Linked['_links'] }) =>
  html`<${Proof} link=${links.proof} name=${`event-${id}.tlog-proof`} read=${readEventProof}>A file that shows, to everybody who has the key of the log, that it has this event, as it was recorded.<//>`;

/** The server wraps this file in JSON. */
const readEventProof = async (api: Api, href: string): Promise<Blob> =>
  new Blob([(await api.get<{ readonly proof: string }>(href)).body.proof], { type: 'text/plain' });

export const ItemProof = ({ links }: { readonly links: Linked['_links'] }) =>
  html`<${Proof} link=${links.proof} name=${nameOf(links.proof?.href ?? '')} read=${readItemProof}>A file that shows, to everybody who has the key of the log, all events of this item up to the newest in the file.<//>`;

const readItemProof = (api: Api, href: string): Promise<Blob> => api.file(href, 'application/x-ndjson');

/** `/articles/8001/proof` is saved as `articles-8001-proof.jsonl`. */
const nameOf = (href: string): string => `${href.slice(1).replaceAll('/', '-')}.jsonl`;

const save = (name: string, file: Blob): void => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};
