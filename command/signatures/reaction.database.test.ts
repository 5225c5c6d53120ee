import { expect } from 'vitest';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line, ref, states } from '#kernel/declare/fields.ts';
import { callAt } from '../../test/engines/call-line.ts';
import { allEvents, by, system } from '../../test/engines/command-side.ts';
import { test as processes } from '../../test/engines/processes.ts';
import { until } from '../../testing/until.ts';

const base = domain({ name: 'lots', roles: ['maker'] });
const anyone = { read: { signedIn: true }, write: { signedIn: true } } as const;

const lot = base.aggregate('lot', {
  fields: { name: line(50), status: states('made', 'released') },
  events: { made: { creates: ['name'] }, released: { sets: { status: 'released' } } },
  commands: {
    make: { emits: 'made' },
    release: { emits: 'released', when: 'made', signed: { meaning: 'approval' } },
  },
  rights: anyone,
});
const check = base.aggregate('check', {
  fields: { lot: ref(lot), text: line(50) },
  events: { made: { creates: ['lot', 'text'] } },
  commands: { make: { emits: 'made' } },
  rights: anyone,
  reactions: { made: ({ state, run }) => [run(lot, 'release', { id: state.lot })] },
});
const lots = assemble(base, [lot, check]);

const test = processes.extend('sideOptions', { scope: 'file' }, { domain: lots });

test('a reaction by code that sends a signed command is parked, and nothing happens', async ({
  side,
  database,
}) => {
  const { id: lotId } = await side.send({ type: 'MakeLot', name: 'One' } as never, by(system));
  await side.send({ type: 'MakeCheck', lotId, text: 'Good' } as never, by(system));
  const { output } = await until(
    () => callAt({ environment: database.settings }, ['process-manager', 'parked']),
    ({ output: shown }) => shown.includes('signs'),
  );
  expect(output).toContain('lot: a person signs release, so a reaction cannot send it');
  const types = (await allEvents(side)).filter(({ stream }) => stream === `lot-${lotId}`);
  expect(types.map(({ type }) => type)).toEqual(['lot.made']);
});
