import { RETENTION } from '#kernel/base/keeping.ts';
import { targetOf } from '#kernel/base/names.ts';
import { Rejection } from '#kernel/base/rejection.ts';
import { type Expression, resolve } from '#kernel/conditions/expression.ts';
import { isHeld } from '#kernel/decide/holds.ts';
import { retainedCode } from '#kernel/decide/retention.ts';
import type { FieldDef } from '#kernel/declare/fields.ts';
import type { CommandInfo, Domain, Kind } from '#kernel/registry/registry.ts';
import { isOfSchedule, isOfTimer, type ReactionTask, timerTask } from './tasks.ts';

/** The event after the release of the last hold. */
const UNHELD = 'unheld';

/** By reference: the commands by which an aggregate ends with its target. */
const endsIn = ({ kinds }: Domain, kind: Kind) =>
  Object.entries(kind.reactions).flatMap(([path, reactions]) => {
    const def = kind.fields[path];
    const target = def?.kind === 'ref' ? kinds[targetOf(def)] : undefined;
    return def === undefined || target === undefined
      ? []
      : Object.entries(reactions).flatMap(([event, { run, when }]) =>
          target.events[event]?.effect === 'ends'
            ? [{ path, def, event: target.events[event], run, when }]
            : [],
        );
  });

type Refused = { readonly kind: Kind; readonly task: ReactionTask; readonly error: unknown };

/**
 * Whether an end that is refused now comes later by itself. An aggregate that must be kept ends when the time
 * is over. The end of a held aggregate with a target follows from the release of the hold; timers and schedules
 * drop what is refused. All other ends are parked until the release.
 */
export const isEndedLater = (domain: Domain, { kind, task, error }: Refused): boolean => {
  if (!(error instanceof Rejection)) return false;
  if (kind.retain !== undefined && task.name === timerTask(RETENTION)) return false;
  if (kind.retain !== undefined && error.code === retainedCode(kind)) return true;
  return (
    isHeld(error, kind) &&
    (isOfTimer(task) ||
      isOfSchedule(task) ||
      (task.task === 'run' &&
        endsIn(domain, kind).some(({ path, event }) => task.name === `${kind.name}.${path} ${event.type}`)))
  );
};

export const isAfterHold = (kind: Kind, { task, name }: ReactionTask): boolean =>
  kind.hold === true && task === 'react' && name === UNHELD;

type Ending = { readonly command: CommandInfo; readonly only: Expression | undefined };

/** The references with whose targets an aggregate would have ended by this command. */
export const referencesOfEnd = (
  domain: Domain,
  kind: Kind,
  { command, only }: Ending,
): readonly (readonly [path: string, def: FieldDef])[] =>
  endsIn(domain, kind).flatMap(({ path, def, run, when }) => {
    const asked = when === undefined ? undefined : resolve(domain, kind, when);
    return run === command.name && JSON.stringify(asked) === JSON.stringify(only)
      ? [[path, def] as const]
      : [];
  });
