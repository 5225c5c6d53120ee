/**
 * A block of a page: what is typed, with what the page says that one then sees, or a file that is written or
 * changed.
 */
export type Step = {
  /** The heading above it. */
  readonly section: string;
  /** `server` for what runs on in a terminal of its own. */
  readonly where: 'server' | 'shell' | 'written file' | 'changed file';
  /** Of a file: its path. */
  readonly path: string;
  /** The commands, the whole file, or the difference. */
  readonly text: string;
  readonly shown: string | undefined;
};

const PART = /^## (?<heading>[^\n]+)$|^```(?<language>\S+)(?: (?<after>\S+))?\n(?<text>.*?)^```$/gms;

/**
 * The steps in their order, by their sections. Nothing is left out: a block in any other language than these
 * is an error.
 */
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

/** What is shown, as a pattern of what must come: `…` stands for anything. */
export const patternOf = (shown: string): RegExp =>
  new RegExp(`^\\s*${shown.trim().split('…').map(RegExp.escape).join('[^]*?')}\\s*$`);

/** A file after the differences of a block, whose parts are told apart by `…`: each must fit one place. */
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
