import { Rejection } from '../base/rejection.ts';
import type { CommandInfo, EventInfo, Kind, Row } from '../registry/registry.ts';
import { rejection } from './guards.ts';

/**
 * Refuses every end of a held aggregate, also one that a command of another aggregate decides or that is imported.
 * The conditions of commands refuse the same before, so that no link offers it.
 */
export const demandUnheld = (kind: Kind, { effect }: EventInfo): ((fields: Row) => void) | undefined => {
  const { unheld, itemsUnheld } = kind.refusals;
  if (effect !== 'ends' || (unheld === undefined && itemsUnheld === undefined)) return undefined;
  return ({ held, heldItems }) => {
    if (unheld !== undefined && held === true) throw rejection(unheld);
    if (itemsUnheld !== undefined && Number(heldItems ?? 0) > 0) throw rejection(itemsUnheld);
  };
};

/** Whether a command was refused because of a hold. */
export const isHeld = (error: unknown, { refusals: { unheld, itemsUnheld } }: Kind): boolean =>
  error instanceof Rejection && [unheld?.code, itemsUnheld?.code].includes(error.code);

/** Whether a command releases a hold, which only another person may. */
export const isRelease = ({ hold }: Kind, { name }: CommandInfo): boolean =>
  hold === true && name === 'releaseHold';

/** Whether a command places or releases a hold. It also counts holds at users whom its caller may not read. */
export const isOfHold = (kind: Kind, command: CommandInfo): boolean =>
  isRelease(kind, command) || (kind.hold === true && command.name === 'placeHold');
