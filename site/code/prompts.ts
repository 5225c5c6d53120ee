import type { Html } from '#shared/html.ts';
import { textIn } from '../page/text-in.ts';
import { trustedMarkup } from '../page/trusted-markup.ts';

/** Starts with a blank, a comment, or the end of a block: not the first line of a command. */
const CONTINUES = /^(?:\s|#|\}|\)|done\b|fi\b|$)/;
const GOES_ON = /(?:\\|\||&&)$/;
const HERE_DOCUMENT = /<<-?\s*['"]?(\w+)/;
const PROMPT = '<i class="prompt"></i>';

/**
 * Marks where each command begins in highlighted shell code. The style sheet shows the prompt, so that nobody
 * copies it.
 */
export const withPrompts = (highlighted: Html): Html => {
  let depth = 0;
  let before = '';
  let until: string | undefined;
  const lines = highlighted
    .toString()
    .split('\n')
    .map((line) => {
      const text = textIn(line);
      // A line that begins inside of a span is part of a string over several lines.
      const isStart = depth === 0 && until === undefined && !GOES_ON.test(before) && !CONTINUES.test(text);
      depth += line.split('<span').length - line.split('</span>').length;
      before = text;
      if (until === undefined) until = HERE_DOCUMENT.exec(text)?.[1];
      else if (text.trim() === until) until = undefined;
      return isStart ? `${PROMPT}${line}` : line;
    });
  return trustedMarkup(lines.join('\n'));
};
