import { useState } from 'preact/hooks';
import type { UploadFacts } from '../../domain-facts.ts';
import { useApi } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Problem } from '../base/parts.ts';
import { factsOf, type ProblemFacts } from '../base/problem.ts';
import type { Links } from './links.ts';

type UploadOptions = {
  readonly upload: UploadFacts;
  readonly links: Links;
  readonly etag: string | undefined;
  readonly done: () => void;
  readonly isSmall?: boolean;
};

/** Uploads a picture or another file by drag and drop or by the file dialog, and removes it. */
export const Upload = ({ upload, links, etag, done, isSmall = false }: UploadOptions) => {
  const { title, rel, types, isPicture } = upload;
  const api = useApi();
  const [isOver, setOver] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ProblemFacts>();
  const [given, removed] = [links[rel], links[`un${rel}`]];
  if (given?.method === undefined) return null;
  const send = (method: string, href: string, file?: File) => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    api
      .send(method, href, { file, ifMatch: etag })
      .then(done)
      .catch((error: unknown) => setProblem(factsOf(error)))
      .finally(() => setBusy(false));
  };
  const give = (file: File | undefined) => file && send('PUT', given.href, file);
  const over = (is: boolean) => (event: DragEvent) => {
    event.preventDefault();
    setOver(is);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    give(event.dataTransfer?.files[0]);
  };
  const choose = ({ currentTarget }: Event) => {
    const input = currentTarget as HTMLInputElement;
    give(input.files?.[0]);
    // Choosing the same file again must fire another event.
    input.value = '';
  };
  const name = title.toLowerCase();
  return html`<div class=${`drop ${isSmall ? 'small' : ''} ${isOver ? 'over' : ''}`} onDragEnter=${over(true)} onDragOver=${over(true)} onDragLeave=${over(false)} onDrop=${drop}>
    <label class=${`button ${isSmall ? 'quiet' : ''}`} aria-disabled=${isBusy}>${removed ? 'Replace' : 'Upload'} ${name}<input type="file" class="unseen" accept=${isPicture ? 'image/*' : types.join()} onChange=${choose} /></label>
    ${!isSmall && html`<span class="soft">${isBusy ? 'Just a moment …' : `or drop a ${isPicture ? 'picture' : 'file'} here`}</span>`}
    ${removed?.method && html`<button type="button" class=${isSmall ? 'quiet' : ''} onClick=${() => send(removed.method ?? 'DELETE', removed.href)}>Remove ${name}</button>`}
    ${problem && html`<${Problem} problem=${problem} />`}
  </div>`;
};
