import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { type Figure, showSpread } from './figures.ts';
import { type Compared, compare, type Recorded, recordOf } from './guard.ts';
import { listOf } from './options.ts';
import { printTable } from './table.ts';

// Runs the benches one after the other. With --quick, which takes ten minutes, it compares their figures with
// those of figures.json, and reports changes beyond the noise. --record writes that file, and --widen adds
// the difference between runs to its noise.
const SCRIPTS =
  'appends,articles,reads,graphql,projection,long-streams,audit,streams,webhooks,tokens,pocketbase';
const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: SCRIPTS },
    record: { type: 'boolean', default: false },
    widen: { type: 'boolean', default: false },
  },
});
const FILE = new URL('./figures.json', import.meta.url);
const MINUTE_MS = 60_000;
/** Exit codes: a figure got worse, or a bench failed. */
const [WORSE, FAILED] = [1, 2];

let running: ChildProcess | undefined;
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    isInterrupted = true;
    // Ends the bench that it has started.
    running?.kill(signal);
  });
}

const run = async (
  script: string,
): Promise<{ readonly code: number; readonly figures: readonly Figure[] }> => {
  const figures: Figure[] = [];
  running = fork(new URL(`./${script}.ts`, import.meta.url), options.quick ? ['--quick'] : []);
  running.on('message', (figure: Figure) => figures.push(figure));
  const [[code]] = await Promise.all([once(running, 'exit'), once(running, 'disconnect')]);
  return { code: code ?? FAILED, figures };
};

const runAll = async () => {
  const figures: Figure[] = [];
  const failed: string[] = [];
  for (const script of listOf(options.only)) {
    const startedMs = performance.now();
    console.log(`# ${script}\n`);
    const done = await run(script);
    if (isInterrupted) process.exit(done.code);
    if (done.code !== 0) failed.push(script);
    figures.push(...done.figures);
    console.log(`${script} took ${((performance.now() - startedMs) / MINUTE_MS).toFixed(1)} minutes.\n`);
  }
  return { figures, failed };
};

const percent = (share: number): string => `${share > 0 ? '+' : ''}${Math.round(share * 100)} %`;

const EXPLAINED = `# Compared with figures.json

Each figure is a ratio: 2 means that ours is twice as good as the peer in the same run. \`rate\` compares operations per second, \`CPU\` CPU time per operation.
In brackets are the quartiles of the rounds. docs/performance.md explains the yardstick and the noise.
`;

const print = (compared: readonly Compared[], { at, on }: Recorded['recorded']): void => {
  console.log(EXPLAINED);
  const isKnown = ({ verdict }: Compared) =>
    verdict === 'worse' || verdict === 'better' || verdict === 'same';
  printTable(
    ['figure', 'today', 'recorded', 'change', 'noise', 'verdict'],
    compared.map((each) => [
      each.name,
      ...[each.today, each.recorded].map((spread) => (spread === undefined ? '' : showSpread(spread))),
      ...(isKnown(each) ? [percent(each.change), `± ${Math.round(each.noise * 100)} %`] : ['', '']),
      each.verdict === 'same' ? '' : each.verdict.toUpperCase(),
    ]),
  );
  console.log(`Recorded at ${at} on ${on}.\n`);
  for (const verdict of ['better', 'worse'] as const) {
    const moved = compared.filter((each) => each.verdict === verdict);
    for (const { name, change, noise } of moved)
      console.log(`${verdict}: ${name}, by ${percent(change)} (noise ± ${Math.round(noise * 100)} %)`);
  }
  const count = compared.filter(({ verdict }) => verdict === 'worse').length;
  console.log(
    count === 0
      ? 'Nothing got worse by more than the noise.'
      : `${count} of ${compared.length} figures got worse by more than the noise.`,
  );
};

const machine = (): string => {
  const [first] = cpus();
  return `${cpus().length} × ${first?.model}, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`;
};

const { figures, failed } = await runAll();
for (const script of failed) console.log(`${script} failed.`);
if (failed.length > 0) process.exitCode = FAILED;
if (options.quick) {
  const recorded: Recorded = JSON.parse(await readFile(FILE, 'utf8'));
  const isWhole = options.only === SCRIPTS;
  const compared = compare(recorded.figures, figures).filter(
    ({ verdict }) => isWhole || verdict !== 'not measured',
  );
  print(compared, recorded.recorded);
  if (failed.length === 0 && (options.record || options.widen)) {
    const next: Recorded = {
      recorded: { at: new Date().toISOString().slice(0, 10), on: machine() },
      figures: recordOf(figures, isWhole && !options.widen ? {} : recorded.figures, options.widen),
    };
    await writeFile(FILE, `${JSON.stringify(next, undefined, 2)}\n`);
  } else if (compared.some(({ verdict }) => verdict === 'worse')) process.exitCode ??= WORSE;
}
