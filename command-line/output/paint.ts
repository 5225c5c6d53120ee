import { styleText } from 'node:util';
import type { Terminal } from '../terminal.ts';

const STYLES = { good: 'green', warn: 'yellow', bad: 'red', strong: 'bold', soft: 'dim' } as const;

type Tone = keyof typeof STYLES;
export type Paint = (tone: Tone, text: string) => string;

/** Colours for terminals that support them; a pipe, a file, or NO_COLOR gets plain text. */
export const paintOf = ({ hasColours = false }: Pick<Terminal, 'hasColours'>): Paint =>
  hasColours
    ? (tone, text) => styleText(STYLES[tone], text, { validateStream: false })
    : (_tone, text) => text;
