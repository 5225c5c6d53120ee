import { countText, plural } from '#shared/format.ts';
import type { AuditHead } from '#shared/rest/audit-head.ts';
import type { AuditStatus } from '#shared/rest/audit-status.ts';
import type { OperatorCommand } from '#shared/rest/operator.ts';
import { useApi, useAsked, usePages } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { SubjectNumber } from '../base/names.ts';
import { Act, Heading, Listing, Table, Whole } from '../base/parts.ts';
import { go } from '../base/router.ts';
import { Time } from '../base/time.ts';

const EVERY_MS = 10_000;

/** How far the read model is proven to equal the log. */
export const Proof = () => {
  const api = useApi();
  const status = useAsked<AuditStatus>('/audit/status', EVERY_MS);
  const heads = usePages<AuditHead>('/audit/heads');
  const verify = async () =>
    go(`/console/orders/${(await api.post<OperatorCommand>('/audit/verifications')).body.id}`);
  return html`
    <${Heading} title="Proof"><${Act} kind="primary" act=${verify}>Verify everything<//><//>
    <p>Every event is part of a hash chain, whose heads are signed and stored outside the database. A background verification checks everything in rounds. <strong>Verify
    everything</strong> checks it now: the log, its chain and heads, and each row of the read model.</p>
    <${Whole} asked=${status} show=${(body: AuditStatus) => html`<${State} status=${body} />`} />
    <h2>Signed heads</h2>
    <${Listing}
      pages=${heads}
      caption="Signed heads"
      keyOf=${({ count }: AuditHead) => String(count)}
      empty=${html`<p>There are no signed heads yet. The first is signed soon after the first events.</p>`}
      columns=${[
        { label: 'Events', numeric: true, cell: ({ count }: AuditHead) => countText(count) },
        { label: 'Signed', cell: ({ at }: AuditHead) => html`<${Time} at=${at} />` },
        { label: 'Head', cell: ({ head }: AuditHead) => html`<code class="long">${head}</code>` },
      ]}
    />`;
};

const State = ({ status }: { readonly status: AuditStatus }) => {
  const {
    verified,
    chain,
    signed,
    unproven,
    differences = [],
    problem,
    witnessed,
    stamped,
    witnesses = [],
  } = status;
  const found = verified?.differences ?? 0;
  return html`
    <div role="status">${
      found > 0
        ? html`<p class="finding bad"><strong>${plural(found, 'difference was', 'differences were')} found.</strong> Verify everything to see them.</p>`
        : html`<p class="finding good"><strong>No differences.</strong> ${verified?.finished ? html`Last complete verification: <${Time} at=${verified.finished} />.` : 'The first round is not finished yet.'}</p>`
    }
    ${problem && html`<p class="finding bad"><strong>No head is published:</strong> ${problem}</p>`}
    ${witnesses
      .filter(({ isRefusing }) => isRefusing)
      .map(
        ({ names, problem }) =>
          html`<p class="finding bad"><strong>The witness ${names.join(', ')} says that the log contradicts what it has seen before.</strong> ${problem}</p>`,
      )}</div>
    <dl class="facts">
      <div><dt>Last verified position</dt><dd>${verified === null ? 'not started' : html`<code>${verified.cursor}</code> after ${plural(verified.count, 'event')} of this round`}</dd></div>
      <div><dt>In the chain</dt><dd>${plural(chain.count, 'event')}, up to <code>${chain.cursor}</code></dd></div>
      <div><dt>Newest signed head</dt><dd>${signed === null ? 'none yet' : html`over ${plural(signed.count, 'event')}, <${Time} at=${signed.at} />`}</dd></div>
      ${witnesses.length > 0 && html`<div><dt>Newest witnessed head</dt><dd>${witnessed === null ? 'none yet' : html`over ${plural(witnessed.count, 'event')}, <${Time} at=${witnessed.at} />`}</dd></div>`}
      ${stamped && html`<div><dt>Newest time stamp</dt><dd>over ${plural(stamped.count, 'event')}, <${Time} at=${stamped.at} /></dd></div>`}
      <div><dt>Not signed yet</dt><dd>${plural(unproven.events, 'event')}${unproven.since && html`, since <${Time} at=${unproven.since} />`}</dd></div>
    </dl>
    ${
      witnesses.length > 0 &&
      html`<h2>Witnesses</h2><${Table}
        caption="Witnesses"
        items=${witnesses}
        keyOf=${({ url }: Witness) => url}
        columns=${[
          { label: 'Witness', cell: ({ names }: Witness) => names.join(', ') },
          { label: 'Events', numeric: true, cell: ({ count }: Witness) => countText(count) },
          {
            label: 'Cosigned',
            cell: ({ at }: Witness) => (at === null ? 'never' : html`<${Time} at=${at} />`),
          },
          {
            label: 'Problem',
            cell: ({ problem, since }: Witness) =>
              problem === null ? '–' : html`${problem}${since && html` Since <${Time} at=${since} />.`}`,
          },
        ]}
      />`
    }
    ${
      differences.length > 0 &&
      html`<h2>Differences</h2><${Table}
        caption="Differences"
        items=${differences}
        keyOf=${(difference: Difference) => `${difference.kind} ${difference.cursor} ${difference.stream}`}
        columns=${[
          { label: 'Kind', cell: ({ kind }: Difference) => html`<code>${kind}</code>` },
          {
            label: 'Item',
            cell: ({ stream }: Difference) =>
              stream === null ? '–' : html`<${SubjectNumber} subject=${stream} />`,
          },
          { label: 'Fields', cell: ({ fields }: Difference) => fields.join(', ') || '–' },
          { label: 'Found', cell: ({ at }: Difference) => html`<${Time} at=${at} />` },
        ]}
      />`
    }`;
};

type Witness = NonNullable<AuditStatus['witnesses']>[number];
type Difference = NonNullable<AuditStatus['differences']>[number];
