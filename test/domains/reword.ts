import { StartRefused } from '#kernel/base/start-refused.ts';
import { evaluate } from './build.ts';
import { SHIPPED, type Shipped, sourceOf } from './shipped-source.ts';
import { printed, SURFACES } from './surfaces.ts';
import { rewordingsOf } from './words.ts';

/** The words that matter to no surface, and those that fail otherwise than by a refusal. */
type Reworded = { readonly ignored: readonly string[]; readonly failed: readonly string[] };

/** Changes each word of a shipped domain alone; `isTried` chooses some. */
export const reword = (name: string, isTried: (index: number) => boolean): Reworded => {
  const source = sourceOf(SHIPPED[name] as Shipped);
  const domain = evaluate(source);
  const whole = Object.keys(SURFACES).map((surface) => [surface, printed(domain, surface)] as const);
  const [ignored, failed]: [string[], string[]] = [[], []];
  for (const [index, { what, source: reworded }] of rewordingsOf(source).entries()) {
    if (!isTried(index)) continue;
    try {
      const other = evaluate(reworded);
      if (whole.every(([surface, text]) => printed(other, surface) === text)) ignored.push(what);
    } catch (error) {
      if (!(error instanceof StartRefused)) failed.push(`${what}: ${(error as Error).stack}`);
    }
  }
  return { ignored, failed };
};
