import { countText, spanText } from '#shared/format.ts';
import type {
  OpenHold,
  OperatorCommand,
  ParkedConsequence,
  ParkedItem,
  RunningTimer,
  ScheduleStatus,
} from '#shared/rest/operator.ts';
import { useApi, usePages } from '../base/asking.ts';
import { Confirm } from '../base/confirm.ts';
import { html } from '../base/html.ts';
import { SubjectNumber } from '../base/names.ts';
import { Act, Heading, Listing } from '../base/parts.ts';
import { go } from '../base/router.ts';
import { Time } from '../base/time.ts';
import { useDomain } from '../data/domain.ts';
import { Subject } from '../data/names.ts';
import { RefusedMessages } from './refused-messages.ts';

const EVERY_MS = 5_000;

/** Parked aggregates, and the two actions on them. */
export const Parked = () => {
  const pages = usePages<ParkedItem>('/operations/parked', EVERY_MS);
  return html`
    <${Heading} title="Parked" />
    <p>An item is parked if one of its events cannot be processed. The item cannot be read; everything else continues.
    Fix the cause (often by starting a newer release) and <strong>retry</strong>, or <strong>skip</strong> the event.</p>
    <${Listing}
      pages=${pages}
      caption="Parked items"
      keyOf=${({ stream }: ParkedItem) => stream}
      empty=${html`<p><strong>Nothing is parked.</strong> Items with an event that cannot be processed are listed here, with the reason.</p>`}
      columns=${[
        { label: 'Item', cell: ({ stream }: ParkedItem) => html`<${SubjectNumber} subject=${stream} />` },
        {
          label: 'Event',
          cell: ({ type, version }: ParkedItem) =>
            html`<code>${type}</code> <span class="soft">version ${version}</span>`,
        },
        { label: 'Reason', cell: ({ reason }: ParkedItem) => reason },
        { label: 'Since', cell: ({ since }: ParkedItem) => html`<${Time} at=${since} clock />` },
        { label: 'Actions', cell: (item: ParkedItem) => html`<${Actions} item=${item} />` },
      ]}
    />
    <${Consequences} />
    <${Timers} />
    <${Holds} />
    <${Schedules} />
    ${useDomain().hasInbox && html`<${RefusedMessages} />`}`;
};

const TASKS = { end: 'end it', erase: 'erase the user', run: 'react to', react: 'react by code to' } as const;

/** Consequences of events that failed. */
const Consequences = () => {
  const pages = usePages<ParkedConsequence>('/operations/consequences', EVERY_MS);
  return html`
    <h2>Consequences of events</h2>
    <p>A deletion ends what belonged to the item, a deleted user is erased, and aggregates react to the events of others. A consequence that fails is
    retried, and delays only later ones of the same item. Fix the cause; on the server, <code>npm run annals -- process-manager retry</code> retries at once.</p>
    <${Listing}
      pages=${pages}
      caption="Parked consequences"
      keyOf=${({ task, name, stream, cause }: ParkedConsequence) => `${task} ${name} ${stream} ${cause}`}
      empty=${html`<p><strong>No consequence is parked.</strong> Consequences that fail are listed here, with the reason.</p>`}
      columns=${[
        {
          label: 'Item',
          cell: ({ stream }: ParkedConsequence) => html`<${SubjectNumber} subject=${stream} />`,
        },
        {
          label: 'Task',
          cell: ({ task, name }: ParkedConsequence) => [TASKS[task], name].filter(Boolean).join(' '),
        },
        { label: 'Reason', cell: ({ reason }: ParkedConsequence) => reason },
        { label: 'Attempts', numeric: true, cell: ({ attempts }: ParkedConsequence) => countText(attempts) },
        { label: 'Since', cell: ({ since }: ParkedConsequence) => html`<${Time} at=${since} clock />` },
        {
          label: 'Next attempt',
          cell: ({ nextAt }: ParkedConsequence) =>
            nextAt === null ? 'none: an operator skipped it' : html`<${Time} at=${nextAt} clock />`,
        },
      ]}
    />`;
};

/** Timers that follow events. */
const Timers = () => {
  const pages = usePages<RunningTimer>('/operations/timers', EVERY_MS);
  return html`
    <h2>Timers</h2>
    <p>Commands that the domain runs some time after an event. If the command is no longer allowed when the timer expires, nothing happens.</p>
    <${Listing}
      pages=${pages}
      caption="Timers"
      keyOf=${({ stream, name }: RunningTimer) => `${stream} ${name}`}
      empty=${html`<p><strong>No timer is running.</strong></p>`}
      columns=${[
        { label: 'Item', cell: ({ stream }: RunningTimer) => html`<${Subject} subject=${stream} />` },
        { label: 'Timer', cell: ({ name }: RunningTimer) => name },
        {
          label: 'Expires',
          cell: ({ dueAt, leftSeconds }: RunningTimer) =>
            dueAt === null
              ? `${spanText(leftSeconds ?? 0)} left, paused`
              : html`<${Time} at=${dueAt} clock />`,
        },
      ]}
    />`;
};

/** Holds on items of all kinds. */
const Holds = () => {
  const pages = usePages<OpenHold>('/operations/holds', EVERY_MS);
  return html`
    <h2>Holds</h2>
    <p>Nobody can delete an item under a hold, until another person releases it at the item.</p>
    <${Listing}
      pages=${pages}
      caption="Holds"
      keyOf=${({ stream, hold }: OpenHold) => `${stream} ${hold}`}
      empty=${html`<p><strong>Nothing is under a hold.</strong></p>`}
      columns=${[
        { label: 'Item', cell: ({ stream }: OpenHold) => html`<${Subject} subject=${stream} />` },
        { label: 'Reason', cell: ({ reason }: OpenHold) => reason },
        {
          label: 'Placed by',
          cell: ({ placedBy }: OpenHold) => html`<${Subject} subject=${`user-${placedBy}`} />`,
        },
        { label: 'Since', cell: ({ placedAt }: OpenHold) => html`<${Time} at=${placedAt} clock />` },
      ]}
    />`;
};

/** Commands at the times of cron expressions. */
const Schedules = () => {
  const pages = usePages<ScheduleStatus>('/operations/schedules', EVERY_MS);
  return html`
    <h2>Schedules</h2>
    <p>Commands that the domain runs at fixed times. Those that fail are retried, and listed above.</p>
    <${Listing}
      pages=${pages}
      caption="Schedules"
      keyOf=${({ name }: ScheduleStatus) => name}
      empty=${html`<p><strong>The domain has no schedule.</strong></p>`}
      columns=${[
        { label: 'Schedule', cell: ({ name }: ScheduleStatus) => name },
        {
          label: 'Times',
          cell: ({ cron, timeZone }: ScheduleStatus) =>
            html`<code>${cron}</code> <span class="soft">${timeZone}</span>`,
        },
        { label: 'Next run', cell: ({ nextAt }: ScheduleStatus) => timeOr(nextAt, 'never again') },
        { label: 'Last run', cell: ({ lastAt }: ScheduleStatus) => timeOr(lastAt, 'none yet') },
        { label: 'Outcome', cell: outcomeOf },
        { label: 'Skipped', cell: ({ missedAt }: ScheduleStatus) => timeOr(missedAt, '–') },
      ]}
    />`;
};

const timeOr = (time: string | null, otherwise: string) =>
  time === null ? html`<span class="soft">${otherwise}</span>` : html`<${Time} at=${time} clock />`;

const outcomeOf = ({ state, commands, failed, reason, requestedBy }: ScheduleStatus) => {
  if (state === null) return html`<span class="soft">–</span>`;
  const by = requestedBy === null ? '' : `, run now by ${requestedBy}`;
  const sent = `${state}, ${countText(commands)} ${commands === 1 ? 'command' : 'commands'}${by}`;
  return failed === 0 ? sent : `${sent}, ${countText(failed)} failed: ${reason}`;
};

const Actions = ({ item: { stream, version, type, _links } }: { readonly item: ParkedItem }) => {
  const api = useApi();
  const send = async (href: string, body?: object) =>
    go(`/console/orders/${(await api.post<OperatorCommand>(href, body)).body.id}`);
  const { retry, release } = _links;
  if (retry === undefined && release === undefined) return html`<span class="soft">–</span>`;
  return html`<div class="tools">
    ${retry && html`<${Act} act=${() => send(retry.href)}>Retry<//>`}
    ${
      release &&
      html`<${Confirm} label="Skip" kind="danger" title=${`Skip version ${version} of ${stream} permanently?`} doing="Skip it" act=${() => send(release.href, { version })}>
        <p>The event <code>${type}</code> stays in the log, but its changes are never shown: not now, and not after a rebuild.</p>
        <p>The item can be read again, as if the event had not happened. This cannot be undone.</p>
      <//>`
    }
  </div>`;
};
