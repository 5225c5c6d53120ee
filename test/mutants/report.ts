import { areaOf } from './choose.ts';
import type { Mutant } from './mutants.ts';
import type { Plan } from './order.ts';

export type Verdict =
  | { readonly kind: 'found'; readonly by: string }
  | { readonly kind: 'survived' }
  /** Of the process that runs the tests. */
  | { readonly kind: 'crash'; readonly why: string };

export type Result = { readonly mutant: Mutant; readonly verdict: Verdict; readonly plan: Plan };

/** A table by area, and all survivors. */
export const report = (results: readonly Result[], areas: readonly string[], stopped?: string): string => {
  const rows = [
    ...areas.map((area) => [area, results.filter(({ mutant }) => areaOf(mutant) === area)] as const),
    ['all', results] as const,
  ];
  const of = (kind: Verdict['kind']): Result[] => results.filter(({ verdict }) => verdict.kind === kind);
  const crashes = of('crash');
  return [
    '',
    ...(stopped === undefined
      ? []
      : [`Stopped: ${stopped}. Survivors may be found by tests not run yet.`, '']),
    '| Area | Mutants | Found | Survived | Crashes | Rate |',
    '|---|---|---|---|---|---|',
    ...rows.filter(([, those]) => those.length > 0).map(([name, those]) => row(name, those)),
    '',
    'Survivors:',
    ...of('survived').flatMap(({ mutant, plan }) => [named(mutant), `  ${mutant.id}, ${ran(plan)}`]),
    ...(crashes.length === 0 ? [] : ['', 'Without a result, because vitest crashed:']),
    ...crashes.flatMap(({ mutant, verdict }) => [
      named(mutant),
      `  ${mutant.id}, ${short(verdict.kind === 'crash' ? verdict.why : '')}`,
    ]),
  ].join('\n');
};

const row = (name: string, those: readonly Result[]): string => {
  const count = (kind: Verdict['kind']): number =>
    those.filter(({ verdict }) => verdict.kind === kind).length;
  const [found, survived, crashes] = [count('found'), count('survived'), count('crash')];
  const rate = found + survived === 0 ? '–' : `${Math.round((100 * found) / (found + survived))} %`;
  return `| ${name} | ${those.length} | ${found} | ${survived} | ${crashes} | ${rate} |`;
};

const named = ({ file, line, from, to }: Mutant): string => `${file}:${line}  ${short(from)} → ${short(to)}`;

const ran = ({ stages, leftOut }: Plan): string =>
  `${stages.flat().length} test files ran${leftOut > 0 ? `, ${leftOut} did not` : ''}`;

const short = (text: string): string => {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 90 ? `${line.slice(0, 90)}…` : line;
};
