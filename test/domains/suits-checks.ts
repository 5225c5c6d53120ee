import type { AggregatePlan, DomainPlan } from './plan.ts';

/**
 * Whether the checks can make everything by arbitrary forms. Rights to create, invariants, and conditions of
 * commands that depend on the content of a form need forms that only an author can give.
 */
export const suitsChecks = ({ aggregates }: DomainPlan): boolean =>
  Object.values(aggregates).every(
    (aggregate) => hasFreeCreation(aggregate) && !('invariants' in aggregate.more),
  );

const hasFreeCreation = ({ rights, commands, events }: AggregatePlan): boolean =>
  Object.entries(commands).every(([name, { emits, when }]) => {
    const event = events[String(emits)];
    if (event?.creates === undefined) return true;
    const { scope: _, as, ...cells } = rights[name] ?? rights.write ?? {};
    const isFree = (cell: unknown): boolean => typeof cell === 'boolean' || cell === 'own';
    return when === undefined && as === undefined && Object.values(cells).every(isFree) && someMay(cells);
  });

const someMay = (cells: object): boolean => Object.values(cells).some((cell) => cell !== false);
