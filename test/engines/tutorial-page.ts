/** A block of a page: commands, and what the page says that one then sees. */
export type Step = {
  /** The heading above it. */
  readonly section: string;
  /** `server` for what runs on in a terminal of its own. */
  readonly where: 'server' | 'shell';
  readonly commands: string;
  readonly shown: string | undefined;
};

const PART = /^## (?<heading>[^\n]+)$|^```(?<language>\S+)(?: (?<where>\S+))?\n(?<text>.*?)^```$/gms;

/** The steps in their order. Nothing is left out: a block in any other language than these is an error. */
export const stepsOf = (page: string): readonly Step[] => {
  const steps: Step[] = [];
  let section = '';
  for (const { groups = {} } of page.matchAll(PART)) {
    const { heading, language, where = 'shell', text = '' } = groups;
    const last = steps.at(-1);
    if (heading !== undefined) section = heading;
    else if (language === 'sh' && (where === 'shell' || where === 'server'))
      steps.push({ section, where, commands: text, shown: undefined });
    else if (language === 'text' && last !== undefined && last.shown === undefined) steps[steps.length - 1] = { ...last, shown: text };
    else throw new Error(`nobody knows what to do with the block ${language} ${where} under “${section}”:\n${text}`);
  }
  return steps;
};

/** What is shown, as a pattern of what must come: `…` stands for anything. */
export const patternOf = (shown: string): RegExp => new RegExp(`^\\s*${shown.trim().split('…').map(RegExp.escape).join('[^]*?')}\\s*$`);
