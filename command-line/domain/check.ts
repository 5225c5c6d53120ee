import { StartRefused } from '#kernel/base/start-refused.ts';
import { loadEngine } from '#shared/load-engine.ts';
import type { Command, Given } from '../arguments/command.ts';
import type { Terminal } from '../terminal.ts';
import { differencesOf } from './contract/differences.ts';
import type { Finding } from './contract/finding.ts';
import type { Recorded } from './contract/recorded.ts';

const FOLDER = 'domain/contract';

/** The contract has a schema of GraphQL, whose packages only these commands need. */
const loadContracts = () =>
  loadEngine('graphql()', async () => ({
    ...(await import('./contract/compare.ts')),
    ...(await import('./contract/contract.ts')),
    ...(await import('./contract/recorded.ts')),
  }));

export const CONTRACT_OPTION = {
  type: 'string',
  placeholder: '<folder>',
  description: `The folder of the recorded contract (${FOLDER} by default).`,
} as const;

export const domainCheck: Command = {
  name: 'domain check',
  summary: 'Compares the domain with the recorded contract. The exit code is 1 if it breaks the contract.',
  positionals: [],
  options: {
    contract: CONTRACT_OPTION,
    exact: { type: 'boolean', description: 'Also exits with 1 if anything is not recorded yet.' },
  },
  examples: ['domain check', 'domain check --exact', 'domain check --contract examples/expenses/contract'],
  async run(given, terminal) {
    const { compareContracts, filesOf, folder, recorded, now } = await readBoth(given, terminal);
    if (recorded === undefined)
      throw new StartRefused(
        `There is no contract in ${folder} yet: record it with npm run annals -- domain record.`,
      );
    const findings = compareContracts(recorded.contract, now);
    await printFindings(terminal, findings);
    const broken = findings.filter(({ weight }) => weight === 'breaks').length;
    if (broken > 0) throw new StartRefused(refusalOf(broken, folder));
    const others = findings.length > 0 ? [] : otherDifferences(recorded, filesOf(now));
    for (const line of others.slice(0, SHOWN_MAX)) await terminal.write(line);
    if (findings.length + others.length === 0)
      return terminal.write(`The domain matches the contract in ${folder}.`);
    const outcome = `Nothing breaks the contract in ${folder}, but some changes are not recorded yet: record them with npm run annals -- domain record.`;
    if (given.flags.has('exact')) throw new StartRefused(outcome);
    await terminal.write(outcome);
  },
};

const SHOWN_MAX = 40;

/** The recorded contract and the current one. */
export const readBoth = async ({ values }: Given, { domain }: Terminal) => {
  const contracts = await loadContracts();
  const [folder = FOLDER] = values.get('contract') ?? [];
  const recorded = contracts.readRecorded(folder);
  const name = recorded?.contract.rights.domain;
  if (name !== undefined && name !== domain.name)
    throw new StartRefused(
      `${folder} contains the contract of ${name}, but this domain is ${domain.name}: give another folder with --contract.`,
    );
  return { ...contracts, folder, recorded, now: contracts.contractOf(domain) };
};

export const refusalOf = (broken: number, folder: string): string =>
  `${broken === 1 ? 'A change breaks' : `${broken} changes break`} the contract in ${folder}. Make the change as proposed above, or accept it with a reason:\n` +
  `npm run annals -- domain record --accept '<what>' --reason '<why>'`;

/** Texts, examples and the order of things, on which no client depends. */
const otherDifferences = ({ files }: Recorded, now: Recorded['files']): readonly string[] =>
  Object.entries(now).flatMap(([file, text]) =>
    files[file] === text
      ? []
      : differencesOf(file, files[file] ?? '', text).map((line) => `${file}: ${line}`),
  );

const TITLES = { breaks: 'Breaks', warns: 'Warnings', adds: 'New' } as const;

/** Prints a change in several places only once. */
export const printFindings = async (terminal: Terminal, findings: readonly Finding[]): Promise<void> => {
  for (const [weight, title] of Object.entries(TITLES)) {
    const ofWeight = findings.filter((finding) => finding.weight === weight);
    if (ofWeight.length === 0) continue;
    await terminal.write(title);
    const groups = Map.groupBy(ofWeight, ({ says, instead = '' }) => `${says} ${instead}`);
    for (const same of groups.values()) {
      const [{ says, instead }] = same as [Finding, ...Finding[]];
      await terminal.write(`  ${says}`);
      for (const { what } of same) await terminal.write(`    ${what}`);
      if (instead !== undefined) await terminal.write(`    Instead: ${instead}`);
    }
  }
};
