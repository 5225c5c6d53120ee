import { useState } from 'preact/hooks';
import type { CommandFacts, FormFieldFacts, UploadFacts } from '../../domain-facts.ts';
import { useApi } from '../base/asking.ts';
import { useFormKeys } from '../base/form-key.ts';
import { html } from '../base/html.ts';
import { Heading } from '../base/parts.ts';
import { go, type Route } from '../base/router.ts';
import { creationOf, kindAt, pageOf, pageOfItem, useDomain, useMe } from './domain.ts';
import { useDraft } from './drafts.ts';
import { FileFields, type Files, FilesLeft, uploadAll } from './files.ts';
import { Form } from './form.ts';
import { bodyOf, fieldsToFill, type Raw, rawOfAll, reasonIn } from './form-values.ts';
import { NotThere } from './not-there.ts';

type Of = { readonly route: Route };

/** A new item of a kind with a list of its own. */
export const DataNew = ({ route: { parameters } }: Of) => {
  const kind = kindAt(useDomain(), parameters.kind);
  const command = kind && creationOf(kind);
  if (kind?.list.path === undefined || command === undefined) return html`<${NotThere} />`;
  return html`<p class="back"><a href=${pageOf(kind)}>${kind.plural}</a></p>
    <${Heading} title=${`New ${kind.title.toLowerCase()}`} />
    <${Creation} command=${command} namers=${kind.namers} uploads=${kind.uploads} path=${kind.list.path} back=${pageOf(kind)} then=${(id: number) => pageOfItem(kind, id)} />`;
};

/** A new child of an item. */
export const DataNewUnder = ({ route: { parameters } }: Of) => {
  const domain = useDomain();
  const [kind, child] = [kindAt(domain, parameters.kind), kindAt(domain, parameters.child)];
  const command = child && creationOf(child);
  if (kind === undefined || child === undefined || command === undefined) return html`<${NotThere} />`;
  const above = pageOfItem(kind, parameters.id);
  return html`<p class="back"><a href=${above}>${kind.title}</a></p>
    <${Heading} title=${`${command.title} ${child.title.toLowerCase()}`} />
    <${Creation} command=${command} namers=${child.namers} uploads=${child.uploads} path=${`/${kind.path}/${encodeURIComponent(parameters.id ?? '')}/${child.path}`} back=${above} then=${() => above} />`;
};

/** A new item of an item’s list. */
export const DataAdd = ({ route: { parameters } }: Of) => {
  const kind = kindAt(useDomain(), parameters.kind);
  const list = kind?.lists.find(({ path }) => path === parameters.list);
  const command = kind?.commands.find(
    ({ does, verb, name, list: of }) =>
      does === 'addItem' &&
      of === list?.name &&
      (parameters.command === undefined ? verb === undefined : name === parameters.command),
  );
  if (kind === undefined || list === undefined || command === undefined) return html`<${NotThere} />`;
  const above = pageOfItem(kind, parameters.id);
  return html`<p class="back"><a href=${above}>${kind.title}</a></p>
    <${Heading} title=${command.verb === undefined ? `Add ${list.one}` : command.title} />
    <${Creation} command=${command} uploads=${list.uploads} path=${`/${kind.path}/${encodeURIComponent(parameters.id ?? '')}/${command.verb === undefined ? list.path : command.rel}`} back=${above} then=${() => above} />`;
};

type CreationOptions = {
  readonly command: CommandFacts;
  /** The roles that may choose the owner. */
  readonly namers?: readonly string[];
  readonly uploads: readonly UploadFacts[];
  readonly path: string;
  readonly back: string;
  readonly then: (id: number) => string;
};

/** The owner: its default, the caller, cannot be written into the form. */
const isOwner = ({ type, isRequired, isNullable }: FormFieldFacts): boolean =>
  type === 'ref' && !isRequired && !isNullable;

const Creation = ({ command, namers = [], uploads, path, back, then }: CreationOptions) => {
  const api = useApi();
  const [files, setFiles] = useState<Files>({});
  const [uploading, setUploading] = useState<string>();
  const [left, setLeft] = useState<Parameters<typeof FilesLeft>[0]>();
  const isNamer = namers.includes(useMe()?.role ?? '');
  // The owner comes last, and only for those who may choose it.
  const all = fieldsToFill(command.form);
  const fields = [...all.filter((field) => !isOwner(field)), ...(isNamer ? all.filter(isOwner) : [])];
  const initial = () => rawOfAll(fields, undefined);
  const [empty] = useState(initial);
  const draft = useDraft<Raw>({
    initial,
    isChanged: (typed) => fields.some(({ wire }) => typed[wire] !== empty[wire]),
  });
  const raw = draft.content;
  const sendOnce = useFormKeys();
  const send = async () => {
    const body = bodyOf(fields, raw);
    const reason = reasonIn(fields, raw);
    const made = await sendOnce({ body, reason }, (key) =>
      api.send<{ readonly id: number }>('POST', path, { body, reason, key }),
    );
    draft.end();
    const at = then(made.body.id);
    const failed = await uploadAll(api, { path: made.location ?? path, uploads, files }, setUploading);
    if (failed.length === 0) go(at);
    else setLeft({ left: failed, at });
  };
  if (left !== undefined) return html`<${FilesLeft} left=${left.left} at=${left.at} />`;
  return html`<${Form} fields=${fields} raw=${raw} setRaw=${draft.set} draft=${draft} send=${send} doing=${uploading === undefined ? (command.does === 'addItem' ? 'Add' : 'Create') : `Uploading ${uploading.toLowerCase()} …`} back=${back}
    after=${html`<${FileFields} uploads=${uploads} files=${files} setFiles=${setFiles} />`} />`;
};
