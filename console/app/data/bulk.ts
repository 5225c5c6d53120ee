import { useState } from 'preact/hooks';
import { plural } from '#shared/format.ts';
import type { CommandFacts, KindFacts } from '../../domain-facts.ts';
import { useApi } from '../base/asking.ts';
import { Confirm } from '../base/confirm.ts';
import { html } from '../base/html.ts';
import { factsOf } from '../base/problem.ts';
import { pageOfItem, titleOf } from './domain.ts';
import { type Item, possibleOf } from './links.ts';

type BulkOptions = {
  readonly kind: KindFacts;
  readonly chosen: readonly Item[];
  readonly clear: () => void;
  readonly reload: () => void;
};

/** Commands without a form that are possible for some of the chosen items. */
const commandsOf = (
  kind: KindFacts,
  chosen: readonly Item[],
): readonly (readonly [CommandFacts, readonly Item[]])[] =>
  kind.commands.flatMap((command) => {
    const able =
      command.form.length > 0
        ? []
        : chosen.filter(({ _links }) => possibleOf(kind, _links).includes(command));
    return able.length === 0 ? [] : [[command, able] as const];
  });

type Failure = { readonly item: Item; readonly reason: string };

/** Sends one command to many items, one after the other. Failures are shown, and do not stop the rest. */
export const Bulk = ({ kind, chosen, clear, reload }: BulkOptions) => {
  const api = useApi();
  const [failures, setFailures] = useState<readonly Failure[]>([]);
  const run =
    ({ rel }: CommandFacts, items: readonly Item[]) =>
    async () => {
      const failed: Failure[] = [];
      for (const item of items) {
        const link = item._links[rel];
        await api
          .send(link?.method ?? 'POST', link?.href ?? '', { ifMatch: '*' })
          .catch(
            (error: unknown) =>
              void failed.push({ item, reason: factsOf(error).detail ?? factsOf(error).title }),
          );
      }
      setFailures(failed);
      clear();
      reload();
    };
  const commands = commandsOf(kind, chosen);
  return html`
    <div class="bulk" role="group" aria-label="With what is chosen">
      <span role="status">${chosen.length === 0 ? '' : `${plural(chosen.length, 'item')} chosen`}</span>
      ${commands.map(
        ([command, items]) => html`<${Confirm}
          key=${command.name}
          label=${items.length === chosen.length ? command.title : `${command.title} (${items.length})`}
          kind=${command.does === 'end' ? 'danger' : ''}
          title=${`${command.title} ${plural(items.length, kind.title.toLowerCase(), kind.plural.toLowerCase())}?`}
          doing=${command.title}
          act=${run(command, items)}
        ><ul class="named">${items.map((item) => html`<li dir="auto">${titleOf(kind, item)}</li>`)}</ul><//>`,
      )}
      ${chosen.length > 0 && commands.length === 0 && html`<span class="soft">No command applies to all of them.</span>`}
      ${chosen.length > 0 && html`<button type="button" class="quiet" onClick=${clear}>Clear selection</button>`}
    </div>
    ${
      failures.length > 0 &&
      html`<div class="problem" role="alert"><p><strong>${plural(failures.length, 'item')} could not be changed.</strong></p>
        <ul>${failures.map(({ item, reason }) => html`<li><a href=${pageOfItem(kind, item.id)}><bdi>${titleOf(kind, item)}</bdi></a>: ${reason}</li>`)}</ul>
        <p><button type="button" class="quiet" onClick=${() => setFailures([])}>Dismiss</button></p></div>`
    }`;
};
