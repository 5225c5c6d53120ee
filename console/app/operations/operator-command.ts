import { countText } from '#shared/format.ts';
import type { OperatorCommand } from '#shared/rest/operator.ts';
import { useAsked, useEvery } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Badge, Heading, Whole } from '../base/parts.ts';
import type { Route } from '../base/router.ts';
import { Time } from '../base/time.ts';
import { ActorName } from '../data/names.ts';
import { CommandState, Item, titleOf } from './operator-commands.ts';

const EVERY_MS = 1_000;

/** One operator command, refreshed every second until it is finished. */
export const OperatorCommandPage = ({ route: { parameters } }: { readonly route: Route }) => {
  const path = `/operations/orders/${parameters.id}`;
  const asked = useFinishing(path);
  return html`
    <p class="back"><a href="/console/orders">All operator commands</a></p>
    <${Heading} title=${asked.body === undefined ? 'Operator command' : titleOf(asked.body)} />
    <${Whole} asked=${asked} show=${(command: OperatorCommand) => html`<${Facts} command=${command} />`} />`;
};

/** A finished command no longer changes. */
const useFinishing = (path: string) => {
  const first = useAsked<OperatorCommand>(path);
  const isOpen = first.body !== undefined && first.body.finishedAt === null;
  useEvery(isOpen ? EVERY_MS : undefined, first.reload);
  return first;
};

const Facts = ({ command }: { readonly command: OperatorCommand }) => {
  const { outcome, by, requestedAt, startedAt, finishedAt, report, state } = command;
  return html`
    <p role="status"><${CommandState} command=${command} /> ${outcome ?? ''}</p>
    <${Progress} command=${command} />
    <dl class="facts">
      ${command.stream && html`<div><dt>Item</dt><dd><${Item} command=${command} /></dd></div>`}
      <div><dt>Requested</dt><dd><${Time} at=${requestedAt} /> by <${ActorName} actor=${by} /></dd></div>
      <div><dt>Started</dt><dd><${Time} at=${startedAt} /></dd></div>
      <div><dt>Finished</dt><dd><${Time} at=${finishedAt} /></dd></div>
    </dl>
    ${report && html`<${ReportOf} report=${report} />`}
    ${state === 'failed' && command.stream && html`<p><a href="/console/parked">Parked items</a></p>`}`;
};

type Report = NonNullable<OperatorCommand['report']>;

/** The progress of a verification; indeterminate if the total is unknown. */
const Progress = ({ command: { state, progress } }: { readonly command: OperatorCommand }) => {
  if (state !== 'running' && state !== 'waiting') return null;
  if (progress === undefined)
    return html`<p role="status">${state === 'waiting' ? 'Waiting to start.' : 'In progress.'}</p><progress aria-label="In progress"></progress>`;
  const { done, of } = progress;
  if (of === null)
    return html`<p role="status">${countText(done)} read so far.</p><progress aria-label="In progress"></progress>`;
  return html`<p>${countText(done)} of ${countText(of)} read.</p><progress aria-label="Progress through the log" value=${done} max=${Math.max(of, 1)}></progress>`;
};

const MS_PER_SECOND = 1_000;

/** A summary of a verification. `annals audit verify` prints the whole report. */
const ReportOf = ({ report }: { readonly report: Report }) => {
  const { log, readModel, chain, parked, leftOut, findings, startedAt, tookMs, outcome } = report;
  const rows = Object.entries(readModel?.rows ?? {});
  return html`<section>
    <p class=${`finding ${outcome === 'proven' ? 'good' : 'bad'}`}>
      ${outcome === 'proven' ? html`<strong>Proven.</strong> The read model equals the log.` : html`<strong>There are differences.</strong> See below, and docs/audit.md.`}
    </p>
    <dl class="facts">
      <div><dt>Started</dt><dd><${Time} at=${startedAt} />, took ${(tookMs / MS_PER_SECOND).toFixed(1)} s</dd></div>
      <div><dt>Events read</dt><dd>${countText(log.events)}</dd></div>
      <div><dt>In the chain</dt><dd>${countText(chain.chained)}, ${countText(chain.signed)} of them signed</dd></div>
      <div><dt>Head of the chain</dt><dd><code>${chain.head}</code></dd></div>
      ${rows.length > 0 && html`<div><dt>Rows compared</dt><dd>${rows.map(([table, count]) => `${countText(count)} ${table}`).join(', ')}</dd></div>`}
      <div><dt>Parked</dt><dd>${countText(parked.total)}</dd></div>
      <div><dt>Skipped</dt><dd>${countText(leftOut.total)}</dd></div>
    </dl>
    ${
      findings.total > 0 &&
      html`<h2>Differences</h2><ul class="findings">
      ${Object.entries(findings.byKind).map(([kind, count]) => html`<li><${Badge} tone="bad">${countText(count)}<//> <code>${kind}</code></li>`)}
    </ul>
    <h3>First differences</h3>
    ${findings.listed.slice(0, LISTED_MAX).map((finding) => html`<pre tabindex="0"><code>${JSON.stringify(finding, null, 2)}</code></pre>`)}`
    }
  </section>`;
};

const LISTED_MAX = 10;
