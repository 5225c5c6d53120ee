/** The output of a process that a test has started. */
type Output = { readonly started: string; readonly lines: readonly string[] };

const PROCESSES_MAX = 12;
const LINES = 12;
const LINE_MAX = 400;

/** Of those started last; a test that fails may have ended them before its failure is known. */
const latest: Output[] = [];

export const keepOutput = (output: Output): void => {
  latest.push(output);
  if (latest.length > PROCESSES_MAX) latest.shift();
};

export const lastLines = (): string =>
  latest
    .flatMap(({ started, lines }) => [
      `-- ${started}, ${lines.length} lines, the last of them:`,
      ...lines.slice(-LINES).map((line) => line.slice(0, LINE_MAX)),
    ])
    .join('\n');
