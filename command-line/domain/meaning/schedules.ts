import { conditionWords } from '#kernel/conditions/words.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';

export const describeSchedules = (domain: Domain, kind: Kind) =>
  Object.values(kind.schedules).map(({ name, cron, timeZone, run, when, form, caughtUpMax }) => ({
    ...{ name, cron, timeZone, runs: run },
    ...(when !== undefined && { while: conditionWords(domain, kind, when) }),
    ...(form !== undefined && { form: 'by code' }),
    missed: caughtUpMax === 0 ? 'skip' : `catch up ${caughtUpMax}`,
  }));

/** In the text for people. */
export const scheduleLine = ({
  name,
  cron,
  timeZone,
  runs,
  missed,
  ...only
}: ReturnType<typeof describeSchedules>[number]): string =>
  [
    `${name}: ${runs} at ${cron} in ${timeZone}`,
    ...('while' in only ? [`if ${only.while}`] : []),
    ...('form' in only ? [`with a form by code`] : []),
    `missed: ${missed}`,
  ].join(', ');
