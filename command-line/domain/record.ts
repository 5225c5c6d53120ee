import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Command, Given } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';
import { CONTRACT_OPTION, printFindings, readBoth, refusalOf } from './check.ts';
import type { Finding } from './contract/finding.ts';
import type { Accepted } from './contract/recorded.ts';

export const domainRecord: Command = {
  name: 'domain record',
  summary:
    'Records the contract of the domain in files for version control. Breaking changes must be accepted by name.',
  positionals: [],
  options: {
    contract: CONTRACT_OPTION,
    accept: {
      type: 'string',
      multiple: true,
      placeholder: '<what>',
      description:
        'Accepts the breaking change that is printed with these words, or all that begin with them.',
    },
    reason: {
      type: 'string',
      placeholder: '<why>',
      description: 'Why the change is accepted; recorded with the contract.',
    },
  },
  examples: ['domain record', `domain record --accept 'event {change}' --reason 'Nobody but us reads it'`],
  async run(given, terminal) {
    const { compareContracts, writeRecorded, folder, recorded, now } = await readBoth(given, terminal);
    const findings = recorded ? compareContracts(recorded.contract, now) : [];
    const ofWeight = (wanted: Finding['weight']) => findings.filter(({ weight }) => weight === wanted);
    const { accepted, left } = acceptance(given, ofWeight('breaks'));
    await printFindings(terminal, left.length > 0 ? left : findings);
    if (left.length > 0) throw new StartRefused(`${refusalOf(left.length, folder)}\nNothing was recorded.`);
    await writeRecorded(folder, now, accepted);
    const counts = [
      `${Object.keys(now.events).length} event types`,
      `${Object.keys(now.operations.operations).length} operations`,
      `${Object.keys(now.rights.rights).length} rights`,
    ];
    await terminal.write(`${folder} records ${counts.join(', ')} and the GraphQL schema.`);
    await printFindings(terminal, ofWeight('warns'));
  },
};

type Acceptance = { readonly accepted: readonly Accepted[]; readonly left: readonly Finding[] };

const acceptance = ({ values }: Given, breaking: readonly Finding[]): Acceptance => {
  const wanted = values.get('accept') ?? [];
  const [reason] = values.get('reason') ?? [];
  if (wanted.length > 0 && !reason?.trim())
    throw new UsageError('--accept needs --reason: say why the change is accepted');
  const broad = wanted.find((each) => BROAD.test(each.trim()));
  if (broad !== undefined)
    throw new UsageError(
      `--accept “${broad}” accepts too much: name the event, operation, field or right too`,
    );
  const idle = wanted.find((each) => !breaking.some(({ what }) => isMeant(what, each)));
  if (idle !== undefined)
    throw new StartRefused(
      `No breaking change is called “${idle}”: npm run annals -- domain check lists them.`,
    );
  const isAccepted = ({ what }: Finding): boolean => wanted.some((each) => isMeant(what, each));
  return {
    accepted: breaking.filter(isAccepted).map(({ what, says }) => ({ what, says, reason: reason ?? '' })),
    left: breaking.filter((finding) => !isAccepted(finding)),
  };
};

/** One word, or a method without a path. */
const BROAD = /^\S+(?: (?:GET|PUT|POST|PATCH|DELETE))?$/;

/** Matches whole words: `event claim.paid` includes all of it, and nothing of `event claim.paidBack`. */
const isMeant = (what: string, accepted: string): boolean => {
  const given = accepted.trim();
  return what === given || [' ', '.', '('].some((end) => what.startsWith(given + end));
};
