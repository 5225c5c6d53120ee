import type { HistoryEntry } from '#kernel/base/rest/history.ts';
import type { KindFacts } from '../../domain-facts.ts';
import { html } from '../base/html.ts';
import { Time } from '../base/time.ts';
import { Changes } from './changes.ts';
import type { Raw } from './form-values.ts';
import { ActorName } from './names.ts';

/** The changes of others while a form is open. */
export type Meanwhile = {
  readonly theirs: Raw;
  readonly entries: readonly HistoryEntry[];
  readonly conflicts: readonly string[];
};

type NoticeOptions = {
  readonly kind: KindFacts;
  readonly meanwhile: Meanwhile;
  readonly hasInput: boolean;
};

export const Notice = ({
  kind,
  meanwhile: { entries, conflicts },
  hasInput,
}: NoticeOptions) => html`<div class="finding warn meanwhile" role="alert">
  ${entries.length === 0 && html`<p><strong>Changed meanwhile</strong></p>`}
  ${entries.map(
    ({
      id,
      actor,
      at,
      changes,
    }) => html`<p key=${id}><strong>Changed by <${ActorName} actor=${actor} /> meanwhile</strong>, <${Time} at=${at} clock /></p>
      <${Changes} changes=${changes} kind=${kind} />`,
  )}
  <p>${conflicts.length === 0 ? (hasInput ? 'You have changed other fields: nothing is lost if you save.' : 'The form shows the current values.') : 'You have both changed the fields that are marked below. Choose, and save.'}</p>
</div>`;

type TheirsOptions = {
  readonly value: string | boolean | undefined;
  readonly take: (value: string | boolean) => void;
};

export const Theirs = ({ value = '', take }: TheirsOptions) => html`<div class="theirs">
  <p><span class="soft">Current value:</span> <bdi>${value === '' ? '–' : String(value)}</bdi></p>
  <button type="button" class="quiet" onClick=${() => take(value)}>Use this</button>
</div>`;
