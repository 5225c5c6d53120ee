import { besideFirst, printTable } from './table.ts';
import { besides, type Contender, type Taken } from './turns.ts';

/**
 * Prints the results of all turns; the first contender is ours. Ratios to contenders that are not ours go to
 * the guard, as `name, beside …`.
 */
export const printTurns = (title: string, name: string, taken: ReadonlyMap<Contender, Taken>): void => {
  const [ours] = taken.values();
  if (ours === undefined) throw new Error('nobody has had a turn');
  const rows = [...taken].map(([contender, of]) => {
    const figure = contender.title.startsWith('ours') ? undefined : `${name}, beside ${contender.title}`;
    return [
      contender.title,
      Math.round(of.rate).toLocaleString('en'),
      besides('rate', ours, of, figure),
      ...[of.p50Ms.toFixed(2), of.p99Ms.toFixed(2)],
      ...[of.cpuUs, of.databaseUs].map((us) => (Number.isNaN(us) ? '' : us.toFixed(0))),
      besides('CPU', ours, of, figure),
      of.loadUs.toFixed(0),
      besideFirst(`${contender.title} ${name}`, Number.isNaN(of.cpuUs) ? 1 / of.rate : of.cpuUs),
    ];
  });
  printTable(
    [
      title,
      'per second',
      'ours is … times',
      'p50 ms',
      'p99 ms',
      'server µs',
      'database µs',
      'ours is … times',
      'load µs',
      'cost',
    ],
    rows,
  );
};
