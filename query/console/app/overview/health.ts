import type { OperationsStatus } from '#shared/rest/operator.ts';
import { plural, spanText } from '../format.ts';

export type Finding = { readonly tone: 'bad' | 'warn'; readonly text: string; readonly href?: string; readonly linkText?: string };

/** Further behind than this, somebody should look. */
const BEHIND_WARN_S = 10;

/** What an operator should know of, the worst first; nothing where all is well. */
export const findingsOf = ({ readModel, followers, consequences, webhooks }: OperationsStatus): readonly Finding[] => {
  const findings: Finding[] = [];
  if (readModel.parked > 0) {
    const text = `${plural(readModel.parked, 'item')} cannot be read, because of an event that cannot be taken in.`;
    findings.push({ tone: 'bad', text, href: '/console/parked', linkText: 'See what is parked' });
  }
  if (consequences.parked > 0) {
    const what = plural(consequences.parked, 'consequence of a deletion', 'consequences of deletions');
    const text = `${what} could not be carried out, for ${spanText(consequences.oldestSeconds ?? 0)} now.`;
    findings.push({ tone: 'bad', text, href: '/console/parked', linkText: 'See what is parked' });
  }
  if (!readModel.isOfThisRelease) {
    findings.push({
      tone: 'bad',
      text: 'The tables of the read model are those of another release: run npm run annals -- projection rebuild.',
    });
  }
  for (const { name, behindSeconds, isRunning } of followers) {
    if (!isRunning && isLate(behindSeconds)) {
      findings.push({ tone: 'bad', text: `${name} stands still: no process has it in hand. Start one.` });
    } else if (isLate(behindSeconds)) {
      findings.push({ tone: 'warn', text: `${name} is ${spanText(behindSeconds ?? 0)} behind.` });
    }
  }
  if (webhooks.dead > 0) {
    const text = `${plural(webhooks.dead, 'webhook delivery was', 'webhook deliveries were')} given up.`;
    findings.push({ tone: 'warn', text, href: '/console/webhooks', linkText: 'See the webhooks' });
  }
  if (readModel.rebuild !== null) findings.push({ tone: 'warn', text: 'A rebuild of the read model is under way.' });
  return findings.toSorted((one, other) => Number(other.tone === 'bad') - Number(one.tone === 'bad'));
};

const isLate = (behindSeconds: number | null): boolean => behindSeconds !== null && behindSeconds > BEHIND_WARN_S;
