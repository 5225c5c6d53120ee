import type { KindFacts } from '../../domain-facts.ts';
import { useApi, useAsked } from '../asking.ts';
import { Confirm } from '../confirm.ts';
import type { Item } from '../data/domain.ts';
import { changesOf, fieldsToFill, rawOfAll } from '../data/form-values.ts';
import { html } from '../html.ts';
import { Difference } from './compare.ts';

type RestoreOptions = {
  readonly kind: KindFacts;
  readonly path: string;
  readonly version: number;
  readonly now: Item;
  readonly etag: string | undefined;
  readonly done: () => void;
};

/**
 * An earlier content again, by the command that changes it: nothing of what happened since is undone or
 * forgotten.
 */
export const Restore = ({ kind, path, version, now, etag, done }: RestoreOptions) => {
  const api = useApi();
  const { body: then } = useAsked<Item>(`${path}?at=v${version}`);
  const edit = kind.commands.find(({ does }) => does === 'edit');
  const link = edit && now._links[edit.rel];
  if (then === undefined || edit === undefined || link?.method === undefined) return null;
  // A picture that was replaced is gone, and a field that one could not read then says nothing of what it
  // was.
  const fields = fieldsToFill(edit.form).filter(({ name, wire }) => name in then || wire in then);
  const body = changesOf(fields, rawOfAll(fields, now), rawOfAll(fields, then));
  const names = fields.filter(({ wire }) => wire in body).map(({ name }) => name);
  if (names.length === 0) return html`<span class="soft">The same content as now</span>`;
  const restore = async () => {
    await api.send(link.method ?? 'PATCH', link.href, { body, ifMatch: etag });
    done();
  };
  return html`<${Confirm} label="Restore" title=${`Restore the content of version ${version}?`} doing="Restore it" act=${restore}>
    <p>This is a new change, and the history keeps all others. Pictures stay as they are.</p>
    <${Difference} kind=${kind} from=${now} to=${then} names=${names} />
  <//>`;
};
