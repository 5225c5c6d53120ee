import { type Later, later } from '../base/later.ts';
import { StartRefused } from '../base/start-refused.ts';
import type { AnyAggregate } from '../declare/aggregate.ts';
import type { Fields } from '../declare/fields.ts';
import type { AnyView } from '../declare/view.ts';
import type { Domain } from '../registry/registry.ts';

/** The words of declarations whose code is loaded only for a domain that has them. */
export const WORDS = {
  confirm: later('The word `confirm`', () => import('./agent-requests.ts')),
  hold: later('The word `hold`', () => import('./holds.ts')),
  retain: later('The word `retain`', () => import('./retention.ts')),
  consequences: later('The check of reactions and timers', () => import('./demand-reactions.ts')),
  schedules: later('The check of schedules', () => import('./demand-schedules.ts')),
  views: later('The assembly of views', () => import('./views.ts')),
} as const;
export type Word = keyof typeof WORDS;

type Parts = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;

/** The words that a domain has. Runs on the raw declaration, before any check of it. */
export const wordsIn = (
  aggregates: readonly AnyAggregate[],
  views: readonly AnyView[],
): ReadonlySet<Word> => {
  const declared = aggregates.map((each) => (each?.declaration ?? {}) as unknown as Parts);
  const have = (part: string) => declared.some((each) => Object.keys(each[part] ?? {}).length > 0);
  const words: Readonly<Record<Exclude<Word, 'consequences'>, boolean>> = {
    confirm: declared.some(({ commands }) =>
      Object.values(commands ?? {}).some(
        (each) => (each as { confirm?: unknown } | null)?.confirm !== undefined,
      ),
    ),
    hold: declared.some(({ hold }) => hold !== undefined),
    retain: declared.some(({ retain }) => retain !== undefined),
    schedules: have('schedules'),
    views: views.length > 0,
  };
  // The first three add timers and reactions, and `gone` of references adds reactions.
  const hasConsequences =
    words.confirm ||
    words.hold ||
    words.retain ||
    have('reactions') ||
    have('timers') ||
    aggregates.some((each) => emptiesIn(each?.fields ?? {}));
  return new Set(
    (Object.keys(WORDS) as Word[]).filter((word) =>
      word === 'consequences' ? hasConsequences : words[word],
    ),
  );
};

const emptiesIn = (fields: Fields): boolean =>
  Object.values(fields).some(({ def }) => def.gone !== undefined || emptiesIn(def.item ?? {}));

const unassembled = new WeakMap<Domain, { readonly words: ReadonlySet<Word>; assemble(): Domain }>();

/**
 * A domain that is assembled as soon as its words are loaded, because they are not yet: `assemble` returns at once. Until
 * then only its names are known.
 */
export const assembledLater = (
  names: Pick<Domain, 'name' | 'roles' | 'signUp' | 'auditors'>,
  words: ReadonlySet<Word>,
  make: () => Domain,
): Domain => {
  let made: Domain | undefined;
  const assemble = (): Domain => {
    if (made === undefined && !areLoaded(words))
      throw new StartRefused(
        `The domain ${names.name} is complete once \`start\` has loaded it: read it later, for example inside \`routes\`, or import annals/testing before.`,
      );
    made ??= make();
    return made;
  };
  const domain: Domain = {
    ...names,
    get kinds() {
      return assemble().kinds;
    },
    get views() {
      return assemble().views;
    },
    get senders() {
      return assemble().senders ?? [];
    },
  };
  unassembled.set(domain, { words, assemble });
  return domain;
};

/** Loads the words of a domain, and returns it whole. */
export const withWords = async (domain: Domain): Promise<Domain> => {
  const found = unassembled.get(domain);
  if (found === undefined) return domain;
  await Promise.all([...found.words].map((word) => WORDS[word].load()));
  return found.assemble();
};

export const areLoaded = (words: ReadonlySet<Word>): boolean =>
  [...words].every((word): boolean => (WORDS[word] as Later<unknown>).isLoaded);
