import type { Sources } from './imports.ts';

const LINES_MAX = 200;
/** A longer file gives its reason within these lines. */
const HEAD_LINES = 2;
const REASON = /^(?:\/\/|\/\*) Over 200 lines, because \S/m;

/** The files that are too long without a reason, and those that give one without need; one sentence each. */
export const findLengthFaults = (sources: Sources): string[] =>
  [...sources].flatMap(([path, source]) => {
    const lines = source.trimEnd().split('\n');
    const size = `${path} has ${lines.length} lines`;
    if (lines.length <= LINES_MAX)
      return REASON.test(source) ? [`${size}: remove its comment “Over ${LINES_MAX} lines”.`] : [];
    if (REASON.test(lines.slice(0, HEAD_LINES).join('\n'))) return [];
    return [
      `${size}: shorten it, split it by subject, or begin it with “// Over ${LINES_MAX} lines, because it is one …”.`,
    ];
  });
