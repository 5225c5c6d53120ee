import type { PlannedDemo } from '#kernel/demo/demo.ts';
import { inSecondTerminal } from '#process/banner.ts';
import type { DemoAccess } from '#process/first-minute-file.ts';

export type Shown = {
  readonly planned: PlannedDemo;
  readonly url: string;
  readonly dataDir: string;
  /** Undefined if it was printed before: it is stored nowhere. */
  readonly password: string | undefined;
  readonly lookAt: DemoAccess['lookAt'] | undefined;
};

export const summary = ({ days, people, clients, summary: lines }: PlannedDemo, seed: number): string =>
  [
    `Demo ${seed} is ready: ${people.length} people, and ${days / 7} weeks of their activity.`,
    ...lines.map((line) => `  ${line}`),
    `  ${clients.length} clients, and webhooks, one of them to an address that does not respond`,
  ].join('\n');

export const howToLook = ({ url, dataDir, planned, password, lookAt }: Shown): string => {
  const { email } = planned.people[0];
  const base = url.replace(/\/+$/, '');
  const secret =
    password === undefined
      ? `. The password was shown when the demo was created; to choose another: ${inSecondTerminal(dataDir, `npm run annals -- password-link ${email}`)}`
      : `, with the password ${password}`;
  return [
    `Sign in at ${base}/console as ${email}, an administrator${secret}`,
    ...(lookAt === undefined ? [] : [`Look first at ${base}${lookAt.path}: ${lookAt.says}.`]),
  ].join('\n');
};
