import { RETAINED_SINCE, RETENTION } from '../base/keeping.ts';
import { oneOf, spaced } from '../base/names.ts';
import { StartRefused } from '../base/start-refused.ts';
import { isUser } from '../base/users.ts';
import type { AnyAggregate } from '../declare/aggregate.ts';
import { declarerOf, declareUntyped } from '../declare/declare.ts';
import { instant } from '../declare/fields.ts';
import type { Row } from '../registry/registry.ts';

type Parts = Readonly<Record<string, Row | undefined>>;
type Specs = Readonly<Record<string, Row>>;

const WORDS = ['for', 'after', 'run'];

/**
 * Retention is a field with the time of an event, and a timer at the end of the time after it: so it follows
 * from the log, also for events from before it was declared, and is proven like any other.
 */
export const withRetention = (aggregate: AnyAggregate): AnyAggregate => {
  const { kind, declaration } = aggregate;
  const { retain } = declaration as { readonly retain?: Row };
  if (retain === undefined) return aggregate;
  const parts = declaration as unknown as Parts;
  const [events, commands] = [parts.events as Specs, parts.commands as Specs];
  refuseStrange(kind, retain);
  const after = [retain.after].flat().map(String);
  for (const name of after)
    if (events[name] === undefined || events[name]?.ends !== undefined)
      throw new StartRefused(
        `${kind}: \`retain\` begins after ${name}, which is no event that leaves ${oneOf(kind)}: use one of ${Object.keys(events).join(', ')}.`,
      );
  const run = String(retain.run);
  const emitted = [commands[run]?.emits].flat().map((name) => events[String(name)]);
  if (emitted.length !== 1 || emitted[0]?.ends === undefined)
    throw new StartRefused(
      `${kind}: \`retain\` runs ${run}, which is no command that only ends ${oneOf(kind)}: name one that does.`,
    );
  demandFree(aggregate);
  return declareUntyped(
    kind,
    {
      ...parts,
      fields: {
        ...parts.fields,
        [RETAINED_SINCE]: instant()
          .optional()
          .says(
            `Since when the ${spaced(kind)} must be kept, for ${String(retain.for)}; it ends afterwards. Null if it need not be kept yet.`,
          ),
      },
      events: {
        ...events,
        ...Object.fromEntries(after.map((name) => [name, beginning(aggregate, events[name] ?? {})])),
      },
      timers: { ...parts.timers, [RETENTION]: { at: RETAINED_SINCE, keep: retain.for, run } },
    } as unknown as Parameters<typeof declareUntyped>[1],
    declarerOf(aggregate),
  );
};

const refuseStrange = (kind: string, retain: Row): void => {
  const strange = Object.keys(retain).find((word) => !WORDS.includes(word));
  if (strange !== undefined)
    throw new StartRefused(
      `${kind}: \`retain\` has \`${strange}\`, which has no meaning there: use ${WORDS.join(', ')}.`,
    );
  for (const word of WORDS)
    if (retain[word] === undefined)
      throw new StartRefused(
        `${kind}: \`retain\` has no \`${word}\`: write { for: '10 years', after: 'closed', run: 'delete' } with your event and your command.`,
      );
  if (isUser({ name: kind }))
    throw new StartRefused('user: users cannot have `retain`: declare it on what must be kept.');
};

const demandFree = ({ kind, fields, declaration }: AnyAggregate): void => {
  const { timers = {} } = declaration as unknown as Parts;
  if (Object.hasOwn(fields, RETAINED_SINCE) || Object.hasOwn(timers, RETENTION))
    throw new StartRefused(
      `${kind}: the field ${RETAINED_SINCE} and the timer ${RETENTION} are reserved for \`retain\`: give yours another name.`,
    );
};

/** An event of items sets fields of its aggregate by another word. */
const beginning = ({ fields }: AnyAggregate, spec: Row): Row => {
  const isOfItem =
    ['adds', 'updates', 'removes'].some((word) => spec[word] !== undefined) ||
    fields[String(spec.moves)]?.def.kind === 'list';
  const word = isOfItem ? 'also' : 'sets';
  return { ...spec, [word]: { ...(spec[word] as Row | undefined), [RETAINED_SINCE]: 'now' } };
};
