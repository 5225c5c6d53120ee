import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { bytesText, countText, plural, rateText, spanText } from '#shared/format.ts';
import { checkNamesOf, findingsOf, type Seen } from '#shared/installation-health.ts';
import type { AuditStatus } from '#shared/rest/audit-status.ts';
import type { OperationsSamples, OperationsStatus } from '#shared/rest/operator.ts';
import { useApi, useAsked } from '../base/asking.ts';
import { html } from '../base/html.ts';
import { Badge, Heading, Problem, Table, Whole } from '../base/parts.ts';
import { factsOf, type ProblemFacts } from '../base/problem.ts';
import { put, type Route } from '../base/router.ts';
import { Time } from '../base/time.ts';
import { useFresh } from '../feed/fresh.ts';
import { Plot } from './plot.ts';
import { joined, lagOf, queuesOf, throughputOf } from './series.ts';

/** The intervals: normally, and while something needs an operator. */
const SLOW_MS = 30_000;
const FINDING_MS = 10_000;
/** The interval at which the server takes samples. */
const SAMPLES_EVERY_MS = 10_000;
const MS_PER_SECOND = 1_000;
const SPANS = [
  ['15 min', 900],
  ['1 h', 3_600],
  ['6 h', 21_600],
  ['24 h', 86_400],
] as const;
const FIRST_SPAN_S = 3_600;

const spanIn = (search: URLSearchParams): number =>
  SPANS.map(([, seconds]) => seconds).find((seconds) => String(seconds) === search.get('span')) ??
  FIRST_SPAN_S;

/** The state of the installation, now and over the last day. */
export const Overview = ({ route: { search } }: { readonly route: Route }) => {
  const spanSeconds = spanIn(search);
  const [isPaused, setPaused] = useState(false);
  const status = useAsked<OperationsStatus>('/operations');
  const audit = useAsked<AuditStatus>('/audit/status', isPaused ? undefined : SLOW_MS);
  const { samples, problem, ask } = useSamples(spanSeconds);
  const refresh = () => {
    status.reload();
    ask();
  };
  const isFinding =
    status.body && audit.body && findingsOf({ status: status.body, audit: audit.body }).length > 0;
  useFresh(refresh, {
    query: isPaused ? undefined : 'types=*',
    sign: status.body && signOf(status.body),
    slowMs: isFinding ? FINDING_MS : SLOW_MS,
  });
  return html`
    <${Heading} title="Overview">
      <button type="button" aria-pressed=${isPaused} onClick=${() => setPaused(!isPaused)}>${isPaused ? 'Resume' : 'Pause'}</button>
    <//>
    <div class="now">
      <${Whole} asked=${status} show=${(body: OperationsStatus) => html`
        ${status.problem === undefined && html`<${Whole} asked=${audit} show=${(proof: AuditStatus) => html`<${Health} status=${body} audit=${proof} />`} />`}
        <${Tiles} status=${body} />`} />
    </div>
    <div class="bar" role="group" aria-label="Span of the plots">
      ${SPANS.map(([label, seconds]) => html`<button type="button" aria-pressed=${seconds === spanSeconds} onClick=${() => put(seconds === FIRST_SPAN_S ? '/console' : `/console?span=${seconds}`)}>${label}</button>`)}
    </div>
    ${problem && html`<${Problem} problem=${problem} />`}
    <${Plots} samples=${samples} />
    ${status.body && html`<${Followers} followers=${status.body.followers} />`}
  `;
};

/** Without times, cursors and sizes, which differ in each response of a busy installation. */
const signOf = ({
  readModel: { parked, skipped, isOfThisRelease, rebuild },
  consequences,
  webhooks,
  followers,
}: OperationsStatus) => ({
  readModel: { parked, skipped, isOfThisRelease, isRebuilding: rebuild !== null },
  consequences: consequences.parked,
  webhooks,
  followers: followers.map(({ name, isRunning }) => ({ name, isRunning })),
});

const Health = (seen: Seen) => {
  const findings = findingsOf(seen);
  const checks = checkNamesOf(seen);
  return html`<div class="health" role="status">
    ${
      findings.length === 0 &&
      html`<details class="finding good">
        <summary><strong>All ${checks.length} checks pass.</strong></summary>
        <ul>${checks.map((name) => html`<li>${sentence(name)}</li>`)}</ul>
      </details>`
    }
    ${findings.map(({ tone, text, href, linkText }) => html`<p class=${`finding ${tone}`}>${text} ${href && html`<a href=${href}>${linkText}</a>`}</p>`)}
  </div>`;
};

const sentence = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}.`;

const Tiles = ({ status: { readModel, webhooks, at } }: { readonly status: OperationsStatus }) => html`
  <dl class="tiles">
    <div><dt>Lag of reads</dt><dd>${readModel.behindSeconds === null ? 'unknown' : spanText(readModel.behindSeconds)}</dd></div>
    <div><dt>Parked</dt><dd><a href="/console/parked">${countText(readModel.parked)}</a></dd></div>
    ${
      webhooks &&
      html`<div><dt>Deliveries due</dt><dd>${countText(webhooks.due)}</dd></div>
    <div><dt>Dead letters</dt><dd>${countText(webhooks.dead)}</dd></div>
    <div><dt>Webhooks enabled</dt><dd><a href="/console/webhooks">${countText(webhooks.enabled)} of ${countText(webhooks.endpoints)}</a></dd></div>`
    }
    <div><dt>Read model</dt><dd>${bytesText(readModel.bytes)}</dd></div>
  </dl>
  <p class="soft">As of <${Time} at=${at} clock />. ${readModel.skipped > 0 ? `Operators have skipped ${plural(readModel.skipped, 'event')}.` : ''}</p>`;

type Samples = OperationsSamples['samples'];

type Sampled = {
  readonly samples: Samples | undefined;
  readonly problem: ProblemFacts | undefined;
  readonly ask: () => void;
};

/** The samples of a span, and on request those taken since. */
const useSamples = (spanSeconds: number): Sampled => {
  const api = useApi();
  const [known, setKnown] = useState<{ readonly spanSeconds: number; readonly samples: Samples }>();
  const [problem, setProblem] = useState<ProblemFacts>();
  const samples = known?.spanSeconds === spanSeconds ? known.samples : undefined;
  const askedMs = useRef(0);
  const ask = useCallback(() => {
    askedMs.current = Date.now();
    const since = samples?.at(-1)?.at ?? new Date(Date.now() - spanSeconds * MS_PER_SECOND).toISOString();
    api.get<OperationsSamples>(`/operations/samples?since=${encodeURIComponent(since)}`).then(
      ({ body }) => {
        setProblem(undefined);
        setKnown((before) => ({
          spanSeconds,
          samples: [
            ...joined(before?.spanSeconds === spanSeconds ? before.samples : [], body.samples, spanSeconds),
          ],
        }));
      },
      (error: unknown) => setProblem(factsOf(error)),
    );
  }, [api, spanSeconds, samples]);
  // Another span requests at once, other samples do not.
  useEffect(ask, [spanSeconds]);
  const askIfDue = () => {
    if (Date.now() - askedMs.current >= SAMPLES_EVERY_MS) ask();
  };
  return { samples, problem, ask: askIfDue };
};

const SAMPLES_MIN = 2;

const Plots = ({ samples }: { readonly samples: Samples | undefined }) => {
  const shown = useMemo(
    () => samples && [throughputOf(samples), lagOf(samples), queuesOf(samples)],
    [samples],
  );
  if (samples === undefined || shown === undefined) return html`<div class="plots waiting"></div>`;
  if (samples.length < SAMPLES_MIN) {
    return html`<div class="empty"><p>The charts start with the second sample. One is taken every ten seconds.</p></div>`;
  }
  const [throughput, lag, queues] = shown;
  return html`<div class="plots">
    <${Plot} title="Throughput" series=${throughput} text=${rateText} />
    <${Plot} title="Lag" series=${lag} text=${spanText} />
    <${Plot} title="Queues" series=${queues} text=${countText} isWhole />
  </div>`;
};

type Follower = OperationsStatus['followers'][number];

const Followers = ({ followers }: { readonly followers: readonly Follower[] }) => html`<section>
  <h2>Followers of the log</h2>
  <${Table}
    caption="Followers of the log"
    items=${followers}
    keyOf=${({ name }: Follower) => name}
    columns=${[
      { label: 'Follower', cell: ({ name }: Follower) => html`<strong>${name}</strong>` },
      {
        label: 'State',
        cell: ({ isRunning }: Follower) =>
          html`<${Badge} tone=${isRunning ? 'good' : 'plain'}>${isRunning ? 'running' : 'no process'}<//>`,
      },
      {
        label: 'Lag',
        numeric: true,
        cell: ({ behindSeconds }: Follower) => (behindSeconds === null ? 'unknown' : spanText(behindSeconds)),
      },
      { label: 'Cursor', cell: ({ cursor }: Follower) => html`<code>${cursor ?? '–'}</code>` },
    ]}
  />
</section>`;
