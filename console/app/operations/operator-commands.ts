import type { OperatorCommand } from '#shared/rest/operator.ts';
import { usePages } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { SubjectNumber } from '../base/names.ts';
import { Badge, Heading, Listing } from '../base/parts.ts';
import { Time } from '../base/time.ts';
import { ActorName } from '../data/names.ts';

const EVERY_MS = 5_000;

export const titleOf = ({ kind, stream, version }: OperatorCommand): string => {
  switch (kind) {
    case 'retry':
      return `Retry ${stream}`;
    case 'release':
      return `Skip version ${version} of ${stream}`;
    case 'verify':
      return 'Verify everything';
  }
};

/** A completed verification may have found differences. */
export const CommandState = ({ command: { state, report } }: { readonly command: OperatorCommand }) => {
  if (report?.outcome === 'different') return html`<${Badge} tone="bad">differences<//>`;
  const tone = { waiting: 'plain', running: 'warn', done: 'good', failed: 'bad' }[state];
  return html`<${Badge} tone=${tone}>${state}<//>`;
};

export const OperatorCommands = () => {
  const pages = usePages<OperatorCommand>('/operations/orders', EVERY_MS);
  return html`
    <${Heading} title="Operator commands" />
    <${Listing}
      pages=${pages}
      caption="Operator commands, the latest first"
      keyOf=${({ id }: OperatorCommand) => id}
      empty=${html`<p>No operator commands yet. Retries, skipped events and verifications are listed here, with their results.</p>`}
      columns=${[
        {
          label: 'Command',
          cell: (command: OperatorCommand) =>
            html`<a href=${`/console/orders/${command.id}`}>${titleOf(command)}</a>`,
        },
        { label: 'State', cell: (command: OperatorCommand) => html`<${CommandState} command=${command} />` },
        {
          label: 'Outcome',
          cell: ({ outcome }: OperatorCommand) => outcome ?? html`<span class="soft">–</span>`,
        },
        { label: 'By', cell: ({ by }: OperatorCommand) => html`<${ActorName} actor=${by} />` },
        {
          label: 'Requested',
          cell: ({ requestedAt }: OperatorCommand) => html`<${Time} at=${requestedAt} clock />`,
        },
      ]}
    />`;
};

export const Item = ({ command: { stream } }: { readonly command: OperatorCommand }) =>
  stream === undefined ? null : html`<${SubjectNumber} subject=${stream} />`;
