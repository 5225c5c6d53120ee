import type { KindFacts } from '../../domain-facts.ts';
import { useApi, useAsked } from '../base/asking.ts';
import { Confirm } from '../base/confirm.ts';
import { html } from '../base/html.ts';
import { changesOf, fieldsToFill, rawOfAll } from '../data/form-values.ts';
import type { Item } from '../data/links.ts';
import { Difference } from './compare.ts';

type RestoreOptions = {
  readonly kind: KindFacts;
  readonly path: string;
  readonly version: number;
  readonly now: Item;
  readonly etag: string | undefined;
  readonly done: () => void;
};

/** Restores an earlier state with the edit command: later events stay in the history. */
export const Restore = ({ kind, path, version, now, etag, done }: RestoreOptions) => {
  const api = useApi();
  const { body: then } = useAsked<Item>(`${path}?at=v${version}`);
  const edit = kind.commands.find(({ does }) => does === 'edit');
  const link = edit && now._links[edit.rel];
  if (then === undefined || edit === undefined || link?.method === undefined) return null;
  // Excludes fields that cannot be restored: replaced pictures are deleted, and fields unreadable at that
  // version are absent.
  const fields = fieldsToFill(edit.form).filter(({ name, wire }) => name in then || wire in then);
  const body = changesOf(fields, rawOfAll(fields, now), rawOfAll(fields, then));
  const names = fields.filter(({ wire }) => wire in body).map(({ name }) => name);
  if (names.length === 0) return html`<span class="soft">Same content as the current version</span>`;
  const restore = async () => {
    await api.send(link.method ?? 'PATCH', link.href, { body, ifMatch: etag });
    done();
  };
  return html`<${Confirm} label="Restore" title=${`Restore the content of version ${version}?`} doing="Restore it" act=${restore}>
    <p>This adds a new version; the history keeps all earlier ones. Pictures do not change.</p>
    <${Difference} kind=${kind} from=${now} to=${then} names=${names} />
  <//>`;
};
