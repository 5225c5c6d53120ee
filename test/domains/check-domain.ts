import { countChecks } from '../../testing/describe-domain/checks.ts';
import { NoRoom, openStage } from '../../testing/describe-domain/stage.ts';
import { randomOf } from '../../testing/random.ts';
import { CHECKS } from './checks-of-domain.ts';
import { assembled, type Grown, grow } from './grow.ts';
import { someOf } from './names.ts';
import type { DomainPlan } from './plan.ts';
import { hostFor, servedOf, writeDomain } from './served.ts';
import { shrink } from './shrink.ts';
import { isSigned, unsigned } from './steps-regulated.ts';
import { suitsChecks } from './suits-checks.ts';

/** These are cheap, and every domain is checked by them. */
const ALWAYS = ['documents', 'answers'];

/** The checks of a seed: those of every domain, and `others` of the others. */
const checksOf = (seed: number, others: number): readonly string[] => {
  const rest = Object.keys(CHECKS).filter((name) => !ALWAYS.includes(name));
  return [...ALWAYS, ...someOf(randomOf(seed), rest, rest.length).slice(0, others)];
};

type Fault = { readonly check: string; readonly error: Error };
type Served = Pick<Grown, 'seed' | 'plan' | 'domain'>;

/** Starts a domain in this process, and returns the faults that the checks find. */
const faultsOf = async (served: Served, checks: readonly string[]): Promise<readonly Fault[]> => {
  const faults: Fault[] = [];
  let check = 'start';
  const attempt = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    check = name;
    await work().catch((error: Error) => {
      if (!(error instanceof NoRoom)) faults.push({ check, error });
    });
  };
  try {
    const { seed, domain } = served;
    await using stage = await openStage(servedOf(domain), {
      host: await hostFor(served),
      examples: {},
      seed,
    });
    for (const name of checks) await attempt(name, async () => CHECKS[name]?.(stage, countChecks(), served));
  } catch (error) {
    faults.push({ check, error: error as Error });
  }
  return faults;
};

/** Each starts an installation. */
const SHRINKINGS_MAX = 60;

type Effort = {
  /** How many checks are made beside those of every domain. */
  readonly others: number;
  /** Whether a declaration with a fault is made as small as possible. */
  readonly shrinks?: boolean;
};

/** Throws if the generated domain of a seed has faults, and names the file of its declaration. */
export const checkGenerated = async (seed: number, { others, shrinks = false }: Effort): Promise<void> => {
  const grown = withoutSignatures(grow(seed, { suits: suitsChecks }));
  const faults = await faultsOf(grown, checksOf(seed, others));
  const [first] = faults;
  if (first === undefined) return;
  const plan = shrinks
    ? await shrink(grown.plan, (smaller) => hasFault(smaller, seed, first), SHRINKINGS_MAX)
    : grown.plan;
  const file = await writeDomain({ seed, plan });
  const repeat = `npm run test:domains -- --count 1 --seed ${seed} --shrink`;
  const texts = faults.map(({ check, error }) => `${check}: ${error.stack}`);
  throw new Error([`${file} has faults; repeat them with ${repeat}`, ...texts].join('\n\n'));
};

/** Only persons could sign, with a passkey. */
const withoutSignatures = (grown: Grown): Grown => {
  if (!isSigned(grown.plan)) return grown;
  const plan = unsigned(grown.plan);
  const domain = assembled(plan);
  if (typeof domain === 'string') throw new Error(`without signatures: ${domain}`);
  return { ...grown, plan, domain };
};

const hasFault = async (plan: DomainPlan, seed: number, wanted: Fault): Promise<boolean> => {
  const domain = assembled(plan);
  if (typeof domain === 'string') return false;
  const faults = await faultsOf({ seed, plan, domain }, wanted.check === 'start' ? [] : [wanted.check]);
  return faults.some(({ error }) => inShort(error) === inShort(wanted.error));
};

/** The first line, without ids. */
const inShort = ({ message }: Error): string =>
  (message.split('\n')[0] ?? '').replaceAll(/\d+/g, '0').slice(0, 60);
