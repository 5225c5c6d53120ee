import { StartRefused } from '#kernel/base/start-refused.ts';
import type { OperationsStatus } from '#shared/rest/operator.ts';
import { sessionOf } from '../../client/session.ts';
import { type Command, type Given, numberOf } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';
import { paintOf } from '../output/paint.ts';
import { duration } from '../output/progress.ts';
import { REMOTE_OPTIONS, type Remote, readAccess, withRemote } from '../remote/remote.ts';
import type { Terminal } from '../terminal.ts';
import { runStep, type Step, type Target } from './load.ts';
import { MIX_OPTIONS, type Mix, readMix } from './mix.ts';
import { adviceOf, progressText, type Report, reportLines } from './report.ts';
import { type Limits, reasonToStop, type Saturation, saturationOf } from './saturation.ts';
import { openSubscribers } from './subscribers.ts';

const CONNECTIONS = 256;
const CONNECTIONS_MAX = 2_048;
const STEP_S = 5;
const STEP_MAX_S = 300;
const FOR_S = 120;
const FOR_MAX_S = 3_600;
const SUBSCRIBERS_MAX = 5_000;
const P99_MAX_MS = 60_000;
const GROWTH = 2;

export const bench: Command = {
  name: 'bench',
  summary:
    'Loads an installation with your own mix of requests, increasingly, until it is saturated, and recommends settings to change. Asks first.',
  positionals: [],
  options: {
    ...MIX_OPTIONS,
    subscribers: {
      type: 'string',
      placeholder: '<number>',
      description: 'The number of event streams that stay open during the test (0).',
    },
    connections: {
      type: 'string',
      placeholder: '<number>',
      description: `The maximum number of connections (${CONNECTIONS}).`,
    },
    step: { type: 'string', placeholder: '<seconds>', description: `The duration of each step (${STEP_S}).` },
    for: {
      type: 'string',
      placeholder: '<seconds>',
      description: `The maximum duration of all steps (${FOR_S}).`,
    },
    p99: {
      type: 'string',
      placeholder: '<ms>',
      description: 'Counts as saturated if the 99th percentile is above this.',
    },
    anonymous: { type: 'boolean', description: 'Sends the mix without a token.' },
    yes: { type: 'boolean', description: 'Without asking.' },
    ...REMOTE_OPTIONS,
  },
  examples: [
    'bench',
    "bench --read /{path}/42 --list '/{path}?limit=50' --graphql query.graphql --p99 200",
    'bench --commands writes.jsonl --weights read=20,command=1 --subscribers 50 --url https://staging.example --client bench --yes',
  ],
  async run(given, terminal) {
    const asked = readAsked(given);
    await withRemote(given, terminal, async (remote) => {
      const mix = await readMix(given, remote, terminal.domain);
      await demandConsent(mix, asked, { remote, given, terminal });
      const report = await measure(mix, asked, { remote, given, terminal });
      const lines = given.flags.has('json')
        ? [JSON.stringify(report)]
        : reportLines(report, paintOf(terminal));
      for (const line of lines) await terminal.write(line);
    });
  },
};

type Asked = Limits & {
  readonly connectionsMax: number;
  readonly stepMs: number;
  readonly forMs: number;
  readonly subscribers: number;
};

const readAsked = (given: Given): Asked => {
  const number = (option: string, maximum: number, minimum = 1) =>
    numberOf(given, option, { minimum, maximum });
  const [stepS, forS] = [number('step', STEP_MAX_S) ?? STEP_S, number('for', FOR_MAX_S) ?? FOR_S];
  if (stepS > forS) throw new UsageError(`--step is ${stepS} seconds, but --for is only ${forS}`);
  return {
    connectionsMax: number('connections', CONNECTIONS_MAX) ?? CONNECTIONS,
    ...{ stepMs: stepS * 1_000, forMs: forS * 1_000 },
    subscribers: number('subscribers', SUBSCRIBERS_MAX, 0) ?? 0,
    p99MaxMs: number('p99', P99_MAX_MS),
  };
};

type Around = { readonly remote: Remote; readonly given: Given; readonly terminal: Terminal };

/** A mistyped address must not put load on somebody else's production. */
const demandConsent = async (
  { requests }: Mix,
  { connectionsMax, forMs }: Asked,
  { remote, given, terminal }: Around,
): Promise<void> => {
  if (given.flags.has('yes')) return;
  const writes = requests.has('command') ? ' The mix includes writes, and their data stays.' : '';
  const question = `Load ${remote.url} with up to ${connectionsMax} connections for up to ${duration(Math.ceil(forMs / 1_000))}?${writes}`;
  if (await terminal.confirm?.(question)) return;
  throw new StartRefused(
    terminal.confirm === undefined ? `${question} Add --yes to confirm.` : 'Nothing was sent.',
  );
};

const measure = async (mix: Mix, asked: Asked, { remote, given, terminal }: Around): Promise<Report> => {
  const { token } = await readAccess(given, terminal);
  const target: Target = {
    url: remote.url,
    session: sessionOf(given.flags.has('anonymous') ? undefined : token),
    mix,
  };
  await using subscribers = await openSubscribers(target, asked.subscribers);
  const { steps, reason } = await stepUp(target, asked, terminal);
  const seen = {
    url: remote.url,
    steps,
    saturation: saturationOf(steps, asked, reason),
    subscribers: { open: subscribers.open, refused: subscribers.refused, messages: subscribers.messages() },
    lagSeconds: await readLag(remote),
  };
  return { ...seen, advice: adviceOf(seen) };
};

const stepUp = async (target: Target, asked: Asked, { signal, complain, rewrite }: Terminal) => {
  const { connectionsMax, stepMs, forMs } = asked;
  const steps: Step[] = [];
  const beganMs = performance.now();
  const leftMs = () => forMs - (performance.now() - beganMs);
  let reason: Saturation['reason'] = 'connections';
  for (let connections = 1; connections <= connectionsMax; connections *= GROWTH) {
    if (leftMs() < stepMs || signal.aborted) {
      reason = 'time';
      break;
    }
    rewrite?.(
      `${connections} connections for ${stepMs / 1_000} s, at most ${duration(Math.ceil(leftMs() / 1_000))} left`,
    );
    const step = await runStep(target, { connections, forMs: stepMs, signal });
    rewrite?.('');
    steps.push(step);
    complain(progressText(step));
    const stop = reasonToStop(steps, asked);
    if (stop === undefined) continue;
    reason = stop;
    break;
  }
  return { steps, reason };
};

/** Null if the client may not read it. */
const readLag = (remote: Remote): Promise<number | null> =>
  remote.get<OperationsStatus>('/operations').then(
    ({ readModel }) => readModel.behindSeconds,
    () => null,
  );
