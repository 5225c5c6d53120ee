import { clone, type DomainPlan } from './plan.ts';

type Path = readonly (string | number)[];

/** Longer paths come later, so that whole aggregates are removed before their parts. */
const pathsIn = (plan: DomainPlan): readonly Path[] => {
  const paths: Path[] = [];
  const walk = (value: unknown, path: Path): void => {
    if (path.length > 0) paths.push(path);
    if (typeof value !== 'object' || value === null) return;
    for (const key of Object.keys(value))
      walk((value as Record<string, unknown>)[key], [...path, Array.isArray(value) ? Number(key) : key]);
  };
  walk(plan, []);
  return paths.toSorted((one, other) => one.length - other.length);
};

const without = (plan: DomainPlan, path: Path): DomainPlan | undefined => {
  const draft = clone(plan);
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], draft);
  const last = path.at(-1) as string | number;
  if (typeof parent !== 'object' || parent === null || !(last in parent)) return undefined;
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete (parent as Record<string, unknown>)[last];
  return draft;
};

/** Some parts are only there because others name them, so an aggregate's event goes with its command. */
const ATTEMPTS_MAX = 2_000;

/** The smallest plan found that still fails: without any part whose removal keeps the fault. */
export const shrink = async (
  plan: DomainPlan,
  fails: (plan: DomainPlan) => Promise<boolean> | boolean,
  attemptsMax = ATTEMPTS_MAX,
): Promise<DomainPlan> => {
  let smallest = plan;
  let attempts = 0;
  for (let isSmaller = true; isSmaller && attempts < attemptsMax; ) {
    isSmaller = false;
    for (const path of pathsIn(smallest)) {
      const draft = without(smallest, path);
      if (draft === undefined || attempts >= attemptsMax) continue;
      attempts += 1;
      // A part without which the rest makes no sense.
      if (
        !(await Promise.resolve(draft)
          .then(fails)
          .catch(() => false))
      )
        continue;
      smallest = draft;
      isSmaller = true;
    }
  }
  return smallest;
};
