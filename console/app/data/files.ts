import { useId } from 'preact/hooks';
import type { UploadFacts } from '../../domain-facts.ts';
import type { Api } from '../base/api.ts';
import { html } from '../base/html.ts';
import { Problem } from '../base/parts.ts';
import { factsOf, type ProblemFacts } from '../base/problem.ts';
import type { Item } from './links.ts';

/** The files chosen in a form, by the names of their fields. */
export type Files = Readonly<Record<string, File | undefined>>;

type FieldsOptions = {
  readonly uploads: readonly UploadFacts[];
  readonly files: Files;
  readonly setFiles: (files: Files) => void;
};

/** Chooses files by the file dialog, or by dropping them onto the control. */
export const FileFields = ({ uploads, files, setFiles }: FieldsOptions) =>
  uploads.map(
    (upload) =>
      html`<${FileField} key=${upload.field} upload=${upload} choose=${(file: File | undefined) => setFiles({ ...files, [upload.field]: file })} />`,
  );

type FieldOptions = {
  readonly upload: UploadFacts;
  readonly choose: (file: File | undefined) => void;
};

const FileField = ({ upload: { field, title, types, isPicture }, choose }: FieldOptions) => {
  const id = useId();
  const onChange = ({ currentTarget }: Event) => choose((currentTarget as HTMLInputElement).files?.[0]);
  return html`<div class="field"><label for=${id}>${title} <span class="soft">(optional)</span></label>
    <input type="file" id=${id} name=${field} accept=${isPicture ? 'image/*' : types.join()} onChange=${onChange} /></div>`;
};

/** A file that was not uploaded, and why. */
type Left = { readonly title: string; readonly problem: ProblemFacts };

type Uploading = Pick<FieldsOptions, 'uploads' | 'files'> & {
  /** The path of what was created. */
  readonly path: string;
};

const FORBIDDEN: ProblemFacts = { status: 403, code: 'forbidden', title: 'You may not upload it.' };

/** Uploads the chosen files to what was created, one after the other; returns those that are left. */
export const uploadAll = async (
  api: Pick<Api, 'get' | 'send'>,
  { path, uploads, files }: Uploading,
  begin: (title: string) => void,
): Promise<readonly Left[]> => {
  const chosen = uploads.flatMap(({ field, title, rel }) => {
    const file = files[field];
    return file === undefined ? [] : [{ title, rel, file }];
  });
  const left: Left[] = [];
  for (const { title, rel, file } of chosen) {
    begin(title);
    try {
      // Each upload makes a version, whose links may differ.
      const link = (await api.get<Item>(path)).body._links[rel];
      if (link?.method === undefined) left.push({ title, problem: FORBIDDEN });
      else await api.send(link.method, link.href, { file });
    } catch (error) {
      left.push({ title, problem: factsOf(error) });
    }
  }
  return left;
};

type LeftOptions = { readonly left: readonly Left[]; readonly at: string };

/** After a creation whose files were not all uploaded. */
export const FilesLeft = ({ left, at }: LeftOptions) => html`
  ${left.map(({ title, problem }) => html`<div key=${title}><p>Created, but without this file: ${title.toLowerCase()}.</p><${Problem} problem=${problem} /></div>`)}
  <p><a class="button primary" href=${at}>Open it, and upload again</a></p>`;
