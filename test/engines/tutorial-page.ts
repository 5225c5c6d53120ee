/** A block of a page: the commands with their expected output, or a file to write or change. */
export type Step = {
  /** The heading above it. */
  readonly section: string;
  /** `server` for a process that runs on in a terminal of its own. */
  readonly where: 'server' | 'shell' | 'written file' | 'changed file';
  readonly path: string;
  /** The commands, the whole file, or the diff. */
  readonly text: string;
  readonly shown: string | undefined;
};

const PART = /^## (?<heading>[^\n]+)$|^```(?<language>\S+)(?: (?<after>\S+))?\n(?<text>.*?)^```$/gms;

/** The steps in order, by section. Nothing is skipped: a block in any other language is an error. */
export const sectionsOf = (page: string): readonly (readonly [section: string, steps: readonly Step[]])[] => {
  const steps: Step[] = [];
  let section = '';
  for (const { groups = {} } of page.matchAll(PART)) {
    const { heading, language, after = '', text = '' } = groups;
    const last = steps.at(-1);
    if (heading !== undefined) section = heading;
    else if (language === 'sh' && (after === '' || after === 'server'))
      steps.push({ section, where: after || 'shell', path: '', text, shown: undefined });
    else if (language === 'ts' && after !== '')
      steps.push({ section, where: 'written file', path: after, text, shown: undefined });
    else if (language === 'diff' && after !== '')
      steps.push({ section, where: 'changed file', path: after, text, shown: undefined });
    else if (language === 'text' && last !== undefined && last.path === '' && last.shown === undefined)
      steps[steps.length - 1] = { ...last, shown: text };
    else
      throw new Error(
        `nobody knows what to do with the block ${language} ${after} under “${section}”:\n${text}`,
      );
  }
  return [...Map.groupBy(steps, (step) => step.section)];
};

/** The expected output as a pattern: `…` matches anything. */
export const patternOf = (shown: string): RegExp =>
  new RegExp(`^\\s*${shown.trim().split('…').map(RegExp.escape).join('[^]*?')}\\s*$`);

/** A file after the diffs of a block, separated by `…`: each must match in one place. */
export const changed = (file: string, differences: string): string =>
  differences.split(/^…\n/m).reduce((before, difference) => {
    const side = (sign: string) =>
      difference
        .split(/(?<=\n)/)
        .flatMap((line) => (line.startsWith(' ') || line.startsWith(sign) ? [line.slice(1)] : []))
        .join('');
    const [start = '', end, ...others] = before.split(side('-'));
    if (end === undefined || others.length > 0)
      throw new Error(`this fits ${others.length} places besides the first, or none:\n${difference}`);
    return `${start}${side('+')}${end}`;
  }, file);
